import EssentialsHTTP
import EssentialsTools
import EssentialsTransport
import FoundationEssentials

/// Keeps requests independent of a store outside the process: one that is slow, fails or hangs finds nothing.
///
/// What was removed is not found while the removal is still running, also if the store answers other calls meanwhile.
final class LimitedResponseStore: ResponseStore {
    /// How long a removal of many responses is waited for, unless a request waits longer. It goes on afterwards.
    static let removalLimit = Duration.seconds(2)
    /// How long each further piece of a body is waited for, which is being served already.
    static let pieceLimit = Duration.seconds(10)
    /// The maximum number of calls that run. A store that hangs keeps no more.
    static let maximumCalls = 4_096
    /// The maximum number of removals that run at the same time.
    static let maximumRemovals = 256
    /// The maximum number of further removals, which begin when others have ended. Beyond it everything is removed.
    static let maximumWaiting = 4_096

    fileprivate struct State {
        var rest = CacheRest()
        var lastFault: Duration?
        var problems = CacheProblems()
        var running = 0
        /// What was removed lately. An answer from before is not used.
        var removals = Clearings<RequestURL>()
        /// The URLs whose invalidations are running, each with their number.
        var urls: [RequestURL: Int] = [:]
        /// The scopes whose removals are running.
        var scopes: [UInt64: ResponseScope] = [:]
        var lastScope: UInt64 = 0
        var runningRemovals = 0
        /// The removals that begin when others have ended.
        var waiting = Fifo<Removal>()
        /// Whether a removal was not noted, so that everything has to be removed.
        var mustRemoveAll = false
        var isRemovingAll = false
        /// Provided when no removal runs any more; `nil` if nothing waits for that.
        var idle: OneShot<Void>?
    }

    fileprivate struct Removal: Sendable {
        let work: @Sendable () async -> Void
        /// Notes that the removal has ended, or that everything is going to be removed.
        let finish: @Sendable (inout State) -> Void
    }

    /// The ticket of the store, and when it was asked for.
    private struct Ticket: Sendable {
        let begun: Epoch
        let inner: ResponseTicket
    }

    let next: any ResponseStore
    /// The same store, if it can find responses without waiting. It then needs no limit.
    private let resident: (any ResidentResponseStore)?
    private let limit: Duration
    let removalLimit: Duration
    private let timeout: SharedTimeout
    let clock: RequestClock
    private let state = Mutex(State())

    /// Called with the key of a response that was stored or confirmed too late to be known.
    private let onLateChange: @Sendable (ResponseKey) -> Void

    /// - Parameters:
    ///   - limit: How long a request waits. `nil` means the time limit of the store.
    ///   - onLateChange: Called with the key of a response that was stored or confirmed too late to be known.
    init(
        _ next: any ResponseStore, limit: Duration? = nil,
        onLateChange: @escaping @Sendable (ResponseKey) -> Void = { _ in }
    ) {
        let limit = limit ?? next.timeLimit
        (self.next, self.limit, self.onLateChange) = (next, limit, onLateChange)
        resident = next as? any ResidentResponseStore
        clock = next.clock
        timeout = SharedTimeout(limit, clock)
        removalLimit = max(limit, Self.removalLimit)
    }

    var largest: Int { next.largest }
    var isShared: Bool { next.isShared }
    var leasesMisses: Bool { next.leasesMisses }
    var fingerprintKey: FingerprintKey { next.fingerprintKey }

    var problems: CacheProblems {
        let (own, isResting) = state.withLock { ($0.problems, $0.rest.isResting(at: clock.now)) }
        var sum = own.adding(next.problems)
        if isResting { sum.resting += 1 }
        return sum
    }

    // MARK: Finding

    func lookup(_ key: ResponseKey) async -> ResponseLookup {
        let begun = Epoch.now
        guard isUsable(key) else { return ResponseLookup() }
        var found = resident?.residentLookup(key)
        if found == nil { found = await limited { [next] in await next.lookup(key) } }
        guard let found, !isRemoved(key, since: begun) else { return ResponseLookup() }
        return ResponseLookup(
            found.responses.map(limited),
            ticket: found.ticket.map { ResponseTicket(context: Ticket(begun: begun, inner: $0)) })
    }

    func ticket(for key: ResponseKey) async -> ResponseTicket? {
        let begun = Epoch.now
        guard isUsable(key) else { return nil }
        var inner = resident?.residentTicket(for: key)
        if inner == nil { inner = await limited { [next] in await next.ticket(for: key) } ?? nil }
        guard let inner else { return nil }
        return ResponseTicket(context: Ticket(begun: begun, inner: inner))
    }

    func body(of response: StoredResponse, for key: ResponseKey) async -> StoredContent? {
        let begun = Epoch.now
        guard isUsable(key), let found = await limited({ [next] in await next.body(of: response, for: key) }),
            let content = found, !isRemoved(key, since: begun)
        else { return nil }
        return limited(content)
    }

    private func limited(_ response: StoredResponse) -> StoredResponse {
        var response = response
        response.body = response.body.map { limited($0) }
        return response
    }

    /// A body whose pieces do not come in time counts as gone. As long as nothing was delivered, the response can still be
    /// fetched, so a piece is waited for like any other call.
    private func limited(_ content: StoredContent) -> StoredContent {
        guard case .source(let read) = content.content else { return content }
        var bounded = StoredContent(count: content.count) { [self] range in
            guard let piece = await limited({ await read(range) }) else { return nil }
            return piece
        }
        bounded.file = content.file
        bounded.readResident = content.readResident
        bounded.readFurther = { [self] range in
            guard let piece = await limited(within: Self.pieceLimit, { await read(range) }) else { return nil }
            return piece
        }
        return bounded
    }

    // MARK: Storing

    /// The ticket of the store itself; `nil` if it is not one of this store.
    ///
    /// A response that is stored with it is not found while a removal is running, and the removal makes the ticket worthless.
    func inner(_ ticket: ResponseTicket) -> ResponseTicket? { (ticket.context as? Ticket)?.inner }

    func store(
        _ response: StoredResponse, _ body: Data, for key: ResponseKey, replacing replaced: UInt64?,
        since ticket: ResponseTicket
    ) async -> Bool {
        guard let ticket = ticket.context as? Ticket, isUsable(key), !isRemoved(key, since: ticket.begun) else {
            return false
        }
        let isStored = await limited(
            { [next] in await next.store(response, body, for: key, replacing: replaced, since: ticket.inner) },
            ifLate: { [onLateChange] _ in onLateChange(key) })
        return isStored == true && !isRemoved(key, since: ticket.begun)
    }

    func begin(
        _ response: StoredResponse, for key: ResponseKey, replacing replaced: UInt64?, since ticket: ResponseTicket
    ) async -> (any ResponseWriter)? {
        guard let ticket = ticket.context as? Ticket, isUsable(key), !isRemoved(key, since: ticket.begun) else {
            return nil
        }
        let found = await limited(
            { [next] in
                await next.begin(response, for: key, replacing: replaced, since: ticket.inner)
            }, ifLate: { $0?.abandon() })
        guard let found, let writer = found else { return nil }
        return Writer(store: self, next: writer, key: key, begun: ticket.begun)
    }

    func freshen(_ response: StoredResponse, for key: ResponseKey, since ticket: ResponseTicket) async -> Bool {
        guard let ticket = ticket.context as? Ticket, isUsable(key), !isRemoved(key, since: ticket.begun) else {
            return false
        }
        let isFresh = await limited(
            { [next] in await next.freshen(response, for: key, since: ticket.inner) },
            ifLate: { [onLateChange] _ in onLateChange(key) })
        return isFresh == true
    }

    func lease(_ key: ResponseKey, for duration: Duration) async -> ResponseLease? {
        // Without the store, every process asks the server.
        guard isUsable(key) else { return .free }
        let found = await limited(
            { [next] in await next.lease(key, for: duration) }, ifLate: { [self] lease in end(lease) })
        guard let found else { return .free }
        guard let lease = found, !lease.isFree else { return found }
        return ResponseLease { [self] in await limited { await lease.end() } }
    }

    private func end(_ lease: ResponseLease?) {
        guard let lease else { return }
        Task.detached { [self] in await limited { await lease.end() } }
    }

    private struct Writer: ResponseWriter {
        let store: LimitedResponseStore
        let next: any ResponseWriter
        let key: ResponseKey
        let begun: Epoch

        func append(_ bytes: BodyChunk) -> Bool { next.append(bytes) }

        func commit() async -> Bool {
            guard store.isUsable(key), !store.isRemoved(key, since: begun) else {
                next.abandon()
                return false
            }
            let isStored = await store.limited(
                { [next] in await next.commit() }, ifLate: { [store, key] _ in store.onLateChange(key) })
            return isStored == true
        }

        func abandon() { next.abandon() }
    }

    // MARK: Removing

    func invalidate(_ url: RequestURL) async {
        state.withLock { state in
            state.removals.clear(url)
            state.urls[url, default: 0] += 1
        }
        await removing { [next] in
            await next.invalidate(url)
        } finish: { state in
            let count = state.urls[url] ?? 1
            state.urls[url] = count > 1 ? count - 1 : nil
        }
    }

    func remove(in scope: ResponseScope) async {
        let number = state.withLock { state in
            state.removals.clearAll()
            state.lastScope += 1
            state.scopes[state.lastScope] = scope
            return state.lastScope
        }
        await removing(within: removalLimit) { [next] in
            await next.remove(in: scope)
        } finish: { state in
            state.scopes[number] = nil
        }
    }

    /// Removes something, and waits for it.
    private func removing(
        within time: Duration? = nil, _ work: @escaping @Sendable () async -> Void,
        finish: @escaping @Sendable (inout State) -> Void
    ) async {
        let removal = Removal(work: work, finish: finish)
        let (isBegun, isResting) = state.withLock { state -> (Bool, Bool) in
            if state.runningRemovals < Self.maximumRemovals {
                state.runningRemovals += 1
                return (true, state.rest.isResting(at: clock.now))
            }
            if state.waiting.count < Self.maximumWaiting {
                state.waiting.append(removal)
            } else {
                state.mustRemoveAll = true
                finish(&state)
            }
            return (false, true)
        }
        // Nothing is found meanwhile, so nobody has to wait for a store that does not respond.
        guard isBegun else { return }
        guard !isResting else { return _ = Task.detached { [self] in await run(removal) } }
        await limited(within: time, isRemoval: true) { [self] in await run(removal) }
    }

    /// Runs a removal, and then those that wait. After the last one, everything is removed if one was not noted.
    private func run(_ first: Removal) async {
        var next: Removal? = first
        while let removal = next {
            await removal.work()
            let idle: OneShot<Void>?
            (next, idle) = state.withLock { state -> (Removal?, OneShot<Void>?) in
                removal.finish(&state)
                if let waiting = state.waiting.popFirst() { return (waiting, nil) }
                guard state.runningRemovals == 1, state.mustRemoveAll else {
                    state.runningRemovals -= 1
                    return (nil, state.runningRemovals == 0 ? state.idle.take() : nil)
                }
                (state.mustRemoveAll, state.isRemovingAll) = (false, true)
                let removal = Removal {
                    await self.next.remove(in: .everything)
                } finish: { state in
                    state.isRemovingAll = false
                }
                return (removal, nil)
            }
            idle?.provide(())
        }
    }

    func usage() async -> ResponseCache.Usage {
        await limited(within: removalLimit, isFault: false) { [next] in await next.usage() }
            ?? ResponseCache.Usage()
    }

    func close() async {
        // What a program has removed last must not be found when it starts again.
        let idle = state.withLock { state -> OneShot<Void>? in
            guard state.runningRemovals > 0 else { return nil }
            let idle = state.idle ?? OneShot<Void>()
            state.idle = idle
            return idle
        }
        _ = await idle?.valueUnlessCancelled { [removalLimit] in try? await Task.sleep(for: removalLimit) }
        await limited(within: removalLimit, isRemoval: true, isFault: false) { [next] in await next.close() }
    }

    // MARK: Limits

    /// Whether the store is used for a key now.
    private func isUsable(_ key: ResponseKey) -> Bool {
        state.withLock { !$0.rest.isResting(at: clock.now) } && !isBeingRemoved(key)
    }

    private func isRemoved(_ key: ResponseKey, since begun: Epoch) -> Bool {
        state.withLock { $0.removals.forbid(key.url, since: begun) } || isBeingRemoved(key)
    }

    /// Whether a removal that concerns a key has not ended.
    private func isBeingRemoved(_ key: ResponseKey) -> Bool {
        let (isRemoved, scopes) = state.withLock { state -> (Bool, [ResponseScope]) in
            if state.mustRemoveAll || state.isRemovingAll || !state.urls.isEmpty && state.urls[key.url] != nil {
                return (true, [])
            }
            return (false, state.scopes.isEmpty ? [] : Array(state.scopes.values))
        }
        // A scope can contain code of the application, so it is asked without the lock.
        return isRemoved || scopes.contains { $0.contains(key) }
    }

    /// The result of a call; `nil` if it does not come in time. It goes on nevertheless, and its result is not used.
    ///
    /// - Parameters:
    ///   - isRemoval: Whether the call is made although too many are running.
    ///   - isFault: Whether a store that does not respond in time is left alone after several such calls.
    ///   - ifLate: Called with a result that comes too late.
    @discardableResult
    private func limited<Value: Sendable>(
        within time: Duration? = nil, isRemoval: Bool = false, isFault: Bool = true,
        _ work: @escaping @Sendable () async -> Value,
        ifLate: (@Sendable (Value) -> Void)? = nil
    ) async -> Value? {
        let isBegun = state.withLock { state in
            guard isRemoval || state.running < Self.maximumCalls else { return false }
            state.running += 1
            return true
        }
        guard isBegun else { return nil }
        let signal = OneShot<Void>()
        let outcome = LimitedResult<Value>(signal)
        let call = { @Sendable [self] in
            let value = await work()
            state.withLock { $0.running -= 1 }
            if !outcome.provide(value) { ifLate?(value) }
        }
        // A store of this module goes to its own thread at once, which saves the way over another one.
        if resident == nil { Task.detached(operation: call) } else { Task.immediateDetached(operation: call) }
        if let time {
            _ = await signal.valueUnlessCancelled { [clock] in try? await clock.sleep(for: time) }
        } else {
            timeout.add(signal)
            await signal.valueUnlessCancelled()
        }
        let value = outcome.take()
        if value != nil {
            state.withLock { $0.rest.succeeded() }
        } else if isFault, !Task.isCancelled {
            fail(after: time ?? limit)
        }
        return value
    }

    /// Counts a call that has not come in time. Those that were waited for together count once.
    private func fail(after limit: Duration) {
        state.withLock { state in
            state.problems.count += 1
            state.problems.last = "The store did not answer within \(limit)."
            guard resident?.limitsItself != true else { return }
            let now = clock.now
            if let last = state.lastFault, now - last < limit { return }
            state.lastFault = now
            _ = state.rest.failed(at: now)
        }
    }
}

/// The result of a call, which is taken once, or comes too late.
private final class LimitedResult<Value: Sendable>: Sendable {
    private enum State {
        case running
        case done(Value)
        case left
    }

    private let signal: OneShot<Void>
    private let state = Mutex(State.running)

    init(_ signal: OneShot<Void>) { self.signal = signal }

    /// - Returns: `false` if nobody waits any more.
    func provide(_ value: Value) -> Bool {
        let isWanted = state.withLock { state in
            guard case .running = state else { return false }
            state = .done(value)
            return true
        }
        if isWanted { signal.provide(()) }
        return isWanted
    }

    /// The result; `nil` if there is none yet, which then comes too late.
    func take() -> Value? {
        state.withLock { state in
            defer { state = .left }
            return if case .done(let value) = state { value } else { nil }
        }
    }
}
