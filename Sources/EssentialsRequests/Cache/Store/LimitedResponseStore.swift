import EssentialsHTTP
import EssentialsTools
import EssentialsTransport
import FoundationEssentials

/// Keeps requests independent of a store outside the process: one that is slow, fails or hangs finds nothing.
///
/// What was removed is not found while the removal is still running, also if the store answers other calls meanwhile.
final class LimitedResponseStore: ResponseStore {
    /// How long a request waits, unless another time is given.
    static let limit = Duration.milliseconds(100)
    /// How long a removal of many responses is waited for. It goes on afterwards.
    static let removalLimit = Duration.seconds(2)
    /// The maximum number of calls that run. A store that hangs keeps no more.
    static let maximumCalls = 4_096

    fileprivate struct State {
        var rest = CacheRest()
        var problems = CacheProblems()
        var running = 0
        /// What was removed lately. An answer from before is not used.
        var removals = Clearings<RequestURL>()
        /// The URLs whose invalidations are running, each with their number.
        var urls: [RequestURL: Int] = [:]
        /// The scopes whose removals are running.
        var scopes: [UInt64: ResponseScope] = [:]
        var lastScope: UInt64 = 0
    }

    /// The ticket of the store, and when it was asked for.
    private struct Ticket: Sendable {
        let begun: Epoch
        let inner: ResponseTicket
    }

    let next: any ResponseStore
    private let limit: Duration
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    /// - Parameter limit: How long a request waits.
    init(_ next: any ResponseStore, limit: Duration = LimitedResponseStore.limit) {
        (self.next, self.limit) = (next, limit)
    }

    var largest: Int { next.largest }
    var isShared: Bool { next.isShared }
    var fingerprintKey: FingerprintKey { next.fingerprintKey }

    var problems: CacheProblems {
        let (own, isResting) = state.withLock { ($0.problems, $0.rest.isResting(at: ContinuousClock.now - start)) }
        var sum = own.adding(next.problems)
        if isResting { sum.resting += 1 }
        return sum
    }

    // MARK: Finding

    func lookup(_ key: ResponseKey) async -> ResponseLookup {
        let begun = Epoch.now
        guard isUsable(key), let found = await limited({ [next] in await next.lookup(key) }),
            !isRemoved(key, since: begun)
        else { return ResponseLookup() }
        return ResponseLookup(
            found.responses, ticket: found.ticket.map { ResponseTicket(context: Ticket(begun: begun, inner: $0)) })
    }

    func ticket(for key: ResponseKey) async -> ResponseTicket? {
        let begun = Epoch.now
        guard isUsable(key), let found = await limited({ [next] in await next.ticket(for: key) }), let inner = found
        else { return nil }
        return ResponseTicket(context: Ticket(begun: begun, inner: inner))
    }

    func body(of response: StoredResponse, for key: ResponseKey) async -> StoredContent? {
        let begun = Epoch.now
        guard isUsable(key), let found = await limited({ [next] in await next.body(of: response, for: key) }),
            let content = found, !isRemoved(key, since: begun)
        else { return nil }
        return limited(content)
    }

    /// A body whose pieces do not come in time counts as gone.
    private func limited(_ content: StoredContent) -> StoredContent {
        guard case .source(let read) = content.content else { return content }
        return StoredContent(count: content.count) { [self] range in
            guard let piece = await limited({ await read(range) }) else { return nil }
            return piece
        }
    }

    // MARK: Storing

    func store(
        _ response: StoredResponse, _ body: Data, for key: ResponseKey, replacing replaced: UInt64?,
        since ticket: ResponseTicket
    ) async -> Bool {
        guard let ticket = ticket.context as? Ticket, isUsable(key), !isRemoved(key, since: ticket.begun) else {
            return false
        }
        let isStored = await limited { [next] in
            await next.store(response, body, for: key, replacing: replaced, since: ticket.inner)
        }
        return isStored == true && !isRemoved(key, since: ticket.begun)
    }

    func begin(
        _ response: StoredResponse, for key: ResponseKey, replacing replaced: UInt64?, since ticket: ResponseTicket
    ) async -> (any ResponseWriter)? {
        guard let ticket = ticket.context as? Ticket, isUsable(key), !isRemoved(key, since: ticket.begun) else {
            return nil
        }
        let writer = await limited { [next] in
            await next.begin(response, for: key, replacing: replaced, since: ticket.inner)
        }
        guard let writer, let writer else { return nil }
        return Writer(store: self, next: writer, key: key, begun: ticket.begun)
    }

    func freshen(_ response: StoredResponse, for key: ResponseKey, since ticket: ResponseTicket) async -> Bool {
        guard let ticket = ticket.context as? Ticket, isUsable(key), !isRemoved(key, since: ticket.begun) else {
            return false
        }
        return await limited { [next] in await next.freshen(response, for: key, since: ticket.inner) } == true
    }

    func lease(_ key: ResponseKey, for duration: Duration) async -> ResponseLease? {
        // Without the store, every process asks the server.
        guard isUsable(key) else { return .free }
        guard let lease = await limited({ [next] in await next.lease(key, for: duration) }) else { return .free }
        return lease
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
            return await store.limited { [next] in await next.commit() } == true
        }

        func abandon() { next.abandon() }
    }

    // MARK: Removing

    func invalidate(_ url: RequestURL) async {
        state.withLock { state in
            state.removals.clear(url)
            state.urls[url, default: 0] += 1
        }
        await limited(isRemoval: true) { [self] in
            await next.invalidate(url)
            state.withLock { state in
                let count = state.urls[url] ?? 1
                state.urls[url] = count > 1 ? count - 1 : nil
            }
        }
    }

    func remove(in scope: ResponseScope) async {
        let number = state.withLock { state in
            state.removals.clearAll()
            state.lastScope += 1
            state.scopes[state.lastScope] = scope
            return state.lastScope
        }
        await limited(within: Self.removalLimit, isRemoval: true) { [self] in
            await next.remove(in: scope)
            state.withLock { _ = $0.scopes.removeValue(forKey: number) }
        }
    }

    func usage() async -> ResponseCache.Usage {
        await limited { [next] in await next.usage() } ?? ResponseCache.Usage()
    }

    func close() async { await limited(within: Self.removalLimit, isRemoval: true) { [next] in await next.close() } }

    // MARK: Limits

    /// Whether the store is used for a key now.
    private func isUsable(_ key: ResponseKey) -> Bool {
        state.withLock { state in
            !state.rest.isResting(at: ContinuousClock.now - start) && !state.isBeingRemoved(key)
        }
    }

    private func isRemoved(_ key: ResponseKey, since begun: Epoch) -> Bool {
        state.withLock { $0.removals.forbid(key.url, since: begun) || $0.isBeingRemoved(key) }
    }

    /// The result of a call; `nil` if it does not come in time. It goes on nevertheless, and its result is not used.
    ///
    /// - Parameter isRemoval: Whether the call is made although too many are running.
    @discardableResult
    private func limited<Value: Sendable>(
        within time: Duration? = nil, isRemoval: Bool = false,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let isBegun = state.withLock { state in
            guard isRemoval || state.running < Self.maximumCalls else { return false }
            state.running += 1
            return true
        }
        guard isBegun else { return nil }
        let result = OneShot<Value>()
        Task.detached { [self] in
            let value = await work()
            state.withLock { $0.running -= 1 }
            result.provide(value)
        }
        let limit = time ?? limit
        let value = await result.valueUnlessCancelled { try? await Task.sleep(for: limit) }
        if value != nil {
            state.withLock { $0.rest.succeeded() }
        } else if !Task.isCancelled {
            state.withLock { state in
                state.problems.count += 1
                state.problems.last = "The store did not answer within \(limit)."
                _ = state.rest.failed(at: ContinuousClock.now - start)
            }
        }
        return value
    }
}

extension LimitedResponseStore.State {
    /// Whether a removal that concerns a key has not ended.
    fileprivate func isBeingRemoved(_ key: ResponseKey) -> Bool {
        (!urls.isEmpty && urls[key.url] != nil)
            || (!scopes.isEmpty && scopes.values.contains { $0.contains(key) })
    }
}
