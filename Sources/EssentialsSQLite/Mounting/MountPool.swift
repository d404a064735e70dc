#if Persistence
    import Dispatch
    import EssentialsPersistence
    import EssentialsTools
    import GRDB

    /// The connections for reads over pending rows. They are opened on demand.
    ///
    /// Each connection serves one read at a time. It keeps the rows of its last scope, so that the next read of this
    /// scope writes only the changes since then. Reads that wait for their callers use additional connections, so that
    /// no other read waits for them.
    ///
    /// A closure of a read must not read from the same pool or close it, because it could wait for itself.
    final class MountPool: Sendable {
        private struct Slot {
            let connection: MountedConnection
            /// The scope whose rows the connection may hold.
            var scope: UInt64?
        }

        /// A read that waits for a connection.
        private final class Waiter: Sendable {
            enum Outcome { case connection(MountedConnection), open, closed }

            let scope: UInt64
            let outcome = Mutex<Outcome?>(nil)
            private let semaphore = DispatchSemaphore(value: 0)

            init(scope: UInt64) { self.scope = scope }

            func resume(_ outcome: Outcome) {
                self.outcome.withLock { $0 = outcome }
                semaphore.signal()
            }

            /// Returns whether an outcome arrived in time.
            func wait(until deadline: DispatchTime) -> Bool { semaphore.wait(timeout: deadline) == .success }
        }

        private struct State {
            /// The least recently used connection is the first.
            var idle: [Slot] = []
            /// The scopes of the connections that are in use.
            var lent: [ObjectIdentifier: UInt64] = [:]
            /// The scopes that were forgotten while a connection was in use for them.
            var forgotten: Set<UInt64> = []
            /// The number of connections: idle, in use, or being opened, emptied or closed.
            var count = 0
            /// The number of connections that serve a single read and hold its state.
            var held = 0
            var waiters = Fifo<Waiter>()
            var closers: [DispatchSemaphore] = []
            var isClosed = false
        }

        private let path: String
        private let schema: FileSchema
        private let maximum: Int
        private let timeout: DispatchTimeInterval
        private let busyMode: Database.BusyMode
        private let file: OpenedFile?
        private let state = Mutex(State())

        /// Creates a pool without opening a connection.
        ///
        /// - Parameters:
        ///   - path: The path of the file.
        ///   - schema: Its tables.
        ///   - maximum: The maximum number of shared connections, at least 1. Connections for a single read are not
        ///     counted.
        ///   - timeout: How long a read waits for a connection before it fails as `busy`.
        ///   - busyMode: The behaviour of a connection while another process locks the file.
        ///   - file: Checks that a new connection opens the same file as the others; `nil` means no check.
        init(
            path: String, schema: FileSchema, maximum: Int, timeout: DispatchTimeInterval = .seconds(30),
            busyMode: Database.BusyMode = .immediateError, file: OpenedFile? = nil
        ) {
            self.path = path
            self.schema = schema
            self.maximum = max(maximum, 1)
            self.timeout = timeout
            self.busyMode = busyMode
            self.file = file
        }

        /// The number of open connections.
        var count: Int { state.withLock { $0.count } }
        /// The number of reads that wait for a connection.
        var waiting: Int { state.withLock { $0.waiters.count } }
        /// The scopes whose rows idle connections hold, the least recently used first.
        var idleScopes: [UInt64?] { state.withLock { $0.idle.map(\.scope) } }

        /// Runs a closure over one state of the file and the pending rows of a scope. It blocks.
        ///
        /// - Parameters:
        ///   - scope: The number of the scope. Its levels and their order never change during its life.
        ///   - isHeld: Whether the closure waits for another party. If so, it has its own connection. The caller limits
        ///     the number of such reads.
        ///   - pin: Receives a closure that pins the state of the file. It calls the closure, and returns the levels
        ///     that belong to this state.
        ///   - body: The queries. If it throws, its changes of the temporary tables are rolled back.
        /// - Throws: An error of a closure or of the database, or a failure with the reason `busy` or `closed`.
        func read<Result>(
            scope: UInt64, isHeld: Bool = false, pin: (() throws -> Void) throws -> OverlayMachine,
            _ body: (MountedReads) throws -> Result
        ) throws -> Result {
            let connection = try isHeld ? openHeld() : take(scope)
            defer { if isHeld { closeHeld(connection) } else { giveBack(connection) } }
            return try connection.read(scope: scope, pin: pin, body)
        }

        // MARK: Connections for one read

        private func openHeld() throws -> MountedConnection {
            try state.withLock { state throws(PersistenceFailure) in
                guard !state.isClosed else { throw closed }
                state.count += 1
                state.held += 1
            }
            do {
                return try connection()
            } catch {
                retire(isHeld: true)
                throw error
            }
        }

        private func closeHeld(_ connection: MountedConnection) {
            connection.close()
            retire(isHeld: true)
        }

        // MARK: Lending

        private enum Decision { case connection(MountedConnection), open, wait(Waiter) }

        private func take(_ scope: UInt64) throws -> MountedConnection {
            let decision = try state.withLock { state throws(PersistenceFailure) in
                try decide(scope, &state)
            }
            switch decision {
            case .connection(let connection): return connection
            case .open: return try open(scope)
            case .wait(let waiter): return try wait(waiter)
            }
        }

        private func decide(_ scope: UInt64, _ state: inout State) throws(PersistenceFailure) -> Decision {
            guard !state.isClosed else { throw closed }
            let own = state.idle.lastIndex { $0.scope == scope } ?? state.idle.lastIndex { $0.scope == nil }
            let isFull = state.count - state.held >= maximum
            if let index = own ?? (isFull ? state.idle.indices.first : nil) {
                let connection = state.idle.remove(at: index).connection
                state.lent[ObjectIdentifier(connection)] = scope
                return .connection(connection)
            }
            if !isFull {
                state.count += 1
                return .open
            }
            let waiter = Waiter(scope: scope)
            state.waiters.append(waiter)
            return .wait(waiter)
        }

        private func open(_ scope: UInt64) throws -> MountedConnection {
            do {
                let connection = try connection()
                state.withLock { $0.lent[ObjectIdentifier(connection)] = scope }
                return connection
            } catch {
                retire()
                throw error
            }
        }

        private func connection() throws -> MountedConnection {
            try file?.check()
            return try MountedConnection(path: path, schema: schema, busyMode: busyMode)
        }

        private func wait(_ waiter: Waiter) throws -> MountedConnection {
            if !waiter.wait(until: .now() + timeout) {
                state.withLock { $0.waiters.removeAll { $0 === waiter } }
            }
            // An outcome may have arrived just after the timeout.
            switch waiter.outcome.withLock({ $0 }) {
            case .connection(let connection): return connection
            case .open: return try open(waiter.scope)
            case .closed: throw closed
            case nil:
                throw PersistenceFailure(
                    .busy, "All \(maximum) connections for pending rows are in use.",
                    remedy: "Read in smaller steps, from fewer scopes at once, or raise `pendingReaders`.", store: path)
            }
        }

        private var closed: PersistenceFailure {
            PersistenceFailure(.closed, "The store is closed.", store: path)
        }

        // MARK: Giving back

        private func giveBack(_ connection: MountedConnection) {
            let (scope, isForgotten) = state.withLock { state in
                let scope = state.lent.removeValue(forKey: ObjectIdentifier(connection))
                let isForgotten = scope.map { state.forgotten.contains($0) } ?? false
                // Another read of the scope may still be running.
                if let scope, !state.lent.values.contains(scope) { state.forgotten.remove(scope) }
                return (scope, isForgotten)
            }
            if isForgotten { empty(connection) } else { keep(Slot(connection: connection, scope: scope)) }
        }

        /// Makes an idle connection available, or closes it.
        private func keep(_ slot: Slot) {
            let isKept =
                slot.connection.isUsable
                && state.withLock { state in
                    if state.isClosed { return false }
                    if let waiter = state.waiters.popFirst() {
                        state.lent[ObjectIdentifier(slot.connection)] = waiter.scope
                        waiter.resume(.connection(slot.connection))
                    } else {
                        state.idle.append(slot)
                    }
                    return true
                }
            if isKept { return }
            slot.connection.close()
            retire()
        }

        /// Removes the rows of an idle connection, or closes it.
        private func empty(_ connection: MountedConnection) {
            do {
                if !connection.isLarge {
                    try connection.clear()
                    return keep(Slot(connection: connection, scope: nil))
                }
            } catch {
                // A connection that cannot be emptied cannot be used again.
            }
            connection.close()
            retire()
        }

        /// Subtracts a closed connection from the counts.
        private func retire(isHeld: Bool = false) {
            let closers = state.withLock { state in
                state.count -= 1
                if isHeld { state.held -= 1 }
                if !state.isClosed, state.count - state.held < maximum, let waiter = state.waiters.popFirst() {
                    state.count += 1
                    waiter.resume(.open)
                }
                guard state.isClosed, state.count == 0 else { return [] as [DispatchSemaphore] }
                defer { state.closers = [] }
                return state.closers
            }
            for closer in closers { closer.signal() }
        }

        // MARK: Ending

        /// Frees the memory of a closed scope. Connections in use are emptied after their read.
        func forget(scope: UInt64) {
            let connections = state.withLock { state in
                if state.lent.values.contains(scope) { state.forgotten.insert(scope) }
                let connections = state.idle.filter { $0.scope == scope }.map(\.connection)
                state.idle.removeAll { $0.scope == scope }
                return connections
            }
            for connection in connections { empty(connection) }
        }

        /// Closes all connections. It waits for running reads; reads that wait for a connection fail as `closed`.
        func close() {
            let closer = DispatchSemaphore(value: 0)
            let (idle, isDone) = state.withLock { state in
                state.isClosed = true
                for waiter in state.waiters { waiter.resume(.closed) }
                state.waiters = Fifo()
                defer { state.idle = [] }
                if state.count > 0 { state.closers.append(closer) }
                return (state.idle.map(\.connection), state.count == 0)
            }
            for connection in idle {
                connection.close()
                retire()
            }
            if !isDone { closer.wait() }
        }
    }
#endif
