import EssentialsHTTP
import EssentialsTools
import EssentialsTransport

/// One of the connections to a server. It is opened with the first command, and again whenever it has ended.
final class RedisLane: Sendable {
    /// How a lane opens its connections.
    struct Settings: Sendable {
        let links: any LinkOpening
        let target: LinkTarget
        /// The user and the password; asked at each connect.
        let credentials: (@Sendable @concurrent () async throws -> RedisCredentials?)?
        /// The name that the server shows for the connection.
        let name: String
        /// What all keys begin with.
        let prefix: String
        /// Whether the server tells when keys change that were read on the connection.
        let isTracked: Bool
        let clock: RequestClock
    }

    fileprivate enum Phase {
        /// Nothing was sent yet.
        case idle
        /// A connection is being opened, or commands that have waited for it are being sent. Commands wait.
        case opening
        case ready(RedisConnection)
        /// Opening has failed, and is tried again after a while.
        case resting
        case closed
    }

    fileprivate struct Waiter: Sendable {
        let command: RedisCommand
        /// Whether it waits for the next connection if opening this one fails.
        let isPatient: Bool
        let receive: @Sendable (RedisConnection.Reply) -> Void
    }

    fileprivate struct State {
        var phase = Phase.idle
        var waiters = Fifo<Waiter>()
        var bytes = 0
        /// When commands began to wait for the connection that is being opened.
        var openingAt = Duration.zero
        var task: Task<Void, Never>?
        /// How often a connection was opened.
        var openings = 0
        /// What the server has said of itself.
        var server: String?
        /// Why there is no connection; `nil` if there is one, or none was tried yet.
        var failure: RequestFailure?
        /// Provided when a connection is open or opening one has failed.
        var attempt = OneShot<RequestFailure?>()
    }

    private let settings: Settings
    private let events: RedisConnection.Events
    private let state = Mutex(State())

    init(_ settings: Settings, _ events: RedisConnection.Events = RedisConnection.Events()) {
        (self.settings, self.events) = (settings, events)
    }

    /// How often a connection was opened.
    var openings: Int { state.withLock { $0.openings } }
    /// Why there is no connection; `nil` if there is one, or none was tried yet.
    var failure: RequestFailure? { state.withLock { $0.failure } }
    /// The name and the version of the server; `nil` before the first connection.
    var server: String? { state.withLock { $0.server } }
    var isReady: Bool { state.withLock { if case .ready = $0.phase { true } else { false } } }

    // MARK: Commands

    /// Sends a command, as soon as there is a connection. While opening one has failed and is not tried again, it fails.
    ///
    /// - Parameters:
    ///   - limit: If an earlier command has waited as long for its reply, nothing is sent. `nil` means no limit.
    ///   - isPatient: Whether it waits for the next connection if there is none, however long that takes.
    ///   - receive: Called once, on any thread. It must not block.
    func send(
        _ command: RedisCommand, within limit: Duration? = nil, isPatient: Bool = false,
        _ receive: @escaping @Sendable (RedisConnection.Reply) -> Void
    ) {
        enum Step { case send(RedisConnection), wait, fail(RedisFailure) }
        let now = settings.clock.now
        let step = state.withLock { state -> Step in
            switch state.phase {
            case .ready(let connection): return .send(connection)
            case .closed: return .fail(.closed)
            case .resting where !isPatient: return .fail(.unavailable)
            // A command that would wait longer than the limit does not begin to wait.
            case .opening where !isPatient && limit.map { now - state.openingAt >= $0 } ?? false:
                return .fail(.unavailable)
            case .idle, .opening, .resting: break
            }
            guard state.waiters.count < RedisConnection.maximumWaiters,
                state.bytes + command.bytes.count <= RedisConnection.maximumBytes
            else { return .fail(.full) }
            state.waiters.append(Waiter(command: command, isPatient: isPatient, receive: receive))
            state.bytes += command.bytes.count
            begin(&state, at: now)
            return .wait
        }
        switch step {
        case .send(let connection): connection.send(command, within: limit, receive)
        case .wait: break
        case .fail(let failure): receive(.failure(failure))
        }
    }

    /// Sends a command, and waits for its reply.
    func reply(
        to command: RedisCommand, within limit: Duration? = nil, isPatient: Bool = false
    ) async -> RedisConnection.Reply {
        await withCheckedContinuation { continuation in
            send(command, within: limit, isPatient: isPatient) { continuation.resume(returning: $0) }
        }
    }

    /// Waits until there is a connection, or opening one has failed.
    ///
    /// - Returns: The failure; `nil` if there is a connection.
    func opened() async -> RequestFailure? {
        let attempt = state.withLock { state in
            begin(&state, at: settings.clock.now)
            return state.attempt
        }
        // A task that is cancelled does not wait any longer.
        return await attempt.valueUnlessCancelled() ?? RedisFailures.cancelled(settings.target)
    }

    /// Ends the connection. Commands without a reply fail, and no others are sent.
    func close() {
        let closed = RedisFailures.closed(settings.target)
        let (phase, waiters, task, attempt) = state.withLock { state in
            defer {
                state.phase = .closed
                state.attempt = OneShot()
                state.attempt.provide(closed)
            }
            return (state.phase, state.takeWaiters { _ in true }, state.task.take(), state.attempt)
        }
        task?.cancel()
        if case .ready(let connection) = phase { connection.end(.closed) }
        for waiter in waiters { waiter.receive(.failure(.closed)) }
        attempt.provide(closed)
    }

    // MARK: Connections

    /// Begins to open connections, unless that was begun.
    private func begin(_ state: inout State, at now: Duration) {
        guard case .idle = state.phase else { return }
        state.phase = .opening
        state.openingAt = now
        state.task = Task.detached { [self] in await run() }
    }

    /// Opens connections until the lane is closed.
    private func run() async {
        var (failures, wait) = (0, Duration.zero)
        while !Task.isCancelled {
            do throws(RequestFailure) {
                let connection = try await open()
                let openedAt = settings.clock.now
                let reason = await serve(connection)
                // A server that closes each connection at once is not asked all the time.
                let isStable = settings.clock.now - openedAt >= max(Self.stableTime, wait * 2)
                failures = isStable ? 1 : failures + 1
                rest(RedisFailures.lost(settings.target, reason), isBrief: failures == 1)
            } catch {
                failures += 1
                rest(error)
            }
            wait = await sleep(failures)
        }
    }

    /// Sends what has waited, and returns after the end of the connection.
    private func serve(_ connection: RedisConnection) async -> RedisFailure {
        while true {
            let waiters = state.withLock { state -> [Waiter]? in
                if case .closed = state.phase { return nil }
                let waiters = state.takeWaiters { _ in true }
                guard waiters.isEmpty else { return waiters }
                state.phase = .ready(connection)
                state.openings += 1
                state.failure = nil
                return []
            }
            guard let waiters else {
                connection.end(.closed)
                return .closed
            }
            for waiter in waiters { connection.send(waiter.command, waiter.receive) }
            if waiters.isEmpty { break }
        }
        state.withLock { $0.attempt }.provide(nil)
        return await connection.ended.value()
    }

    /// Notes that there is no connection.
    ///
    /// - Parameter isBrief: Whether commands wait for the next connection, because it is opened after a moment.
    private func rest(_ failure: RequestFailure, isBrief: Bool = false) {
        let (waiters, attempt) = state.withLock { state -> ([Waiter], OneShot<RequestFailure?>) in
            if case .closed = state.phase { return ([], state.attempt) }
            state.phase = isBrief ? .opening : .resting
            state.openingAt = settings.clock.now
            state.failure = failure
            defer { state.attempt = OneShot() }
            return (state.takeWaiters { !isBrief && !$0.isPatient }, state.attempt)
        }
        for waiter in waiters { waiter.receive(.failure(.unavailable)) }
        attempt.provide(failure)
    }

    /// Waits before a further connection is opened.
    ///
    /// - Returns: How long it waits.
    private func sleep(_ failures: Int) async -> Duration {
        let clock = settings.clock
        let fraction = clock.random(in: .zero ... .seconds(1)) / .seconds(1)
        let wait = Self.backoff.wait(retry: failures, previous: .zero, fraction: fraction)
        try? await clock.sleep(for: wait)
        state.withLock { state in
            guard case .resting = state.phase else { return }
            state.phase = .opening
            state.openingAt = clock.now
        }
        return wait
    }

    /// The waits before connections are opened again.
    private static let backoff = Backoff.exponential(base: .milliseconds(50), cap: .seconds(5))
    /// How long a connection lives at least if nothing is wrong, and at least twice as long as the wait before it.
    private static let stableTime = Duration.milliseconds(100)

    // MARK: Opening

    private func open() async throws(RequestFailure) -> RedisConnection {
        let credentials = try await askedCredentials()
        let connection = RedisConnection(events, clock: settings.clock)
        connection.attach(try await settings.links.openLink(to: settings.target, receiver: connection))
        let watching = Task.detached { await connection.watch() }
        connection.ended.whenProvided { _ in watching.cancel() }
        let (clock, limit) = (settings.clock, settings.target.connectTimeout)
        let timer = Task.detached {
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            connection.end(.lost("The server has not accepted the client within \(limit)."))
        }
        defer { timer.cancel() }
        do throws(RequestFailure) {
            // The end of the connection ends all waits.
            let result = await withTaskCancellationHandler {
                do throws(RequestFailure) {
                    try await greet(connection, credentials)
                    return Result<Void, RequestFailure>.success(())
                } catch {
                    return .failure(error)
                }
            } onCancel: {
                connection.end(.closed)
            }
            try result.get()
        } catch {
            connection.end(.unavailable)
            throw error
        }
        return connection
    }

    private func askedCredentials() async throws(RequestFailure) -> RedisCredentials? {
        guard let ask = settings.credentials else { return nil }
        let asked = OneShot<Result<RedisCredentials?, any Error>>()
        let task = Task {
            do { asked.provide(.success(try await ask())) } catch { asked.provide(.failure(error)) }
        }
        let (clock, limit) = (settings.clock, settings.target.connectTimeout)
        let result = await asked.valueUnlessCancelled { try? await clock.sleep(for: limit) }
        task.cancel()
        switch result {
        case .success(let credentials): return credentials
        case .failure(let error): throw RedisFailures.credentials(settings.target, error)
        case nil: throw RedisFailures.credentials(settings.target, nil)
        }
    }

    /// Chooses the protocol, and says who the client is.
    private func greet(
        _ connection: RedisConnection, _ credentials: RedisCredentials?
    ) async throws(RequestFailure) {
        var hello: [RedisCommand.Argument] = ["HELLO", "3"]
        if let credentials { hello += ["AUTH", .text(credentials.user), .text(credentials.password)] }
        hello += ["SETNAME", .text(settings.name)]
        let (greeting, tracking) = (OneShot<RedisConnection.Reply>(), OneShot<RedisConnection.Reply>())
        connection.send(RedisCommand(hello)) { greeting.provide($0) }
        if settings.isTracked {
            connection.send(RedisCommand("CLIENT", "TRACKING", "ON")) { tracking.provide($0) }
        } else {
            tracking.provide(.success(.null))
        }
        for reply in [await greeting.value(), await tracking.value()] {
            if case .failure(let failure) = reply { throw RedisFailures.greeting(settings.target, failure) }
        }
        if case .success(let value) = await greeting.value() { try note(RedisGreeting(value)) }
        try await forgetLostState(connection)
    }

    /// Makes everything stored useless if the server is not the process that has stored it: one that has read its memory from
    /// a file, or was a replica, may have lost invalidations.
    private func forgetLostState(_ connection: RedisConnection) async throws(RequestFailure) {
        let name = RedisCommand.Argument.text(settings.prefix + "run")
        let run = RedisGreeting.run(in: try await reply(RedisCommand("INFO", "server"), on: connection))
        guard try await reply(RedisCommand("GET", name), on: connection) != .bytes(run) else { return }
        let everything = ResponseSpace.everything(prefix: settings.prefix)
        _ = try await reply(RedisCommand("SET", .text(everything), .bytes(RedisNumber.random())), on: connection)
        _ = try await reply(RedisCommand("SET", name, .bytes(run)), on: connection)
    }

    private func reply(
        _ command: RedisCommand, on connection: RedisConnection
    ) async throws(RequestFailure) -> RESPValue {
        switch await connection.reply(to: command) {
        case .success(let value): return value
        case .failure(let failure): throw RedisFailures.greeting(settings.target, failure)
        }
    }

    /// Refuses a server that would refuse most commands.
    private func note(_ greeting: RedisGreeting) throws(RequestFailure) {
        if let mode = greeting.mode, mode != "standalone" {
            throw RedisFailures.unusable(
                settings.target, "is part of a \(mode)", "Use a server that is not part of a cluster or a sentinel.")
        }
        guard !greeting.isReplica else {
            throw RedisFailures.unusable(
                settings.target, "is a replica, which takes no changes", "Use the address of the primary server.")
        }
        state.withLock { $0.server = greeting.software }
    }
}

extension RedisLane.State {
    /// Removes the waiters that fulfil a condition.
    fileprivate mutating func takeWaiters(where isTaken: (RedisLane.Waiter) -> Bool) -> [RedisLane.Waiter] {
        let taken = waiters.filter(isTaken)
        guard !taken.isEmpty else { return [] }
        waiters.removeAll(where: isTaken)
        bytes -= taken.reduce(0) { $0 + $1.command.bytes.count }
        return taken
    }
}
