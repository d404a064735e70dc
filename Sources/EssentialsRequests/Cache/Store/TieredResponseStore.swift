import EssentialsHTTP
import EssentialsTools
import EssentialsTransport
import FoundationEssentials

/// Keeps responses in memory and in a second store, such as files. What the memory has is found without asking the second store.
///
/// Of the responses of a key the memory has all or none, so that a response that it does not have is not taken for one that
/// does not exist. The second store gets only responses whose partition has a name in every process.
final class TieredResponseStore: ResponseStore {
    /// The maximum number of responses that are on their way to the second store. More are waited for.
    static let maximumPending = 32
    /// The number of keys of which one use is remembered. The second use of a response takes it into the memory.
    private static let seenCount = 4_096

    /// The tickets of both stores.
    private struct Ticket: Sendable {
        let near: ResponseTicket
        /// `nil` if the second store keeps nothing.
        let far: ResponseTicket?
        /// The responses that only the second store had; `nil` if they are not known.
        let farOnly: [StoredResponse]?
    }

    private struct State {
        var seen = [Int](repeating: 0, count: seenCount)
        /// The number of writes on their way to the second store.
        var pending = 0
        /// Their keys.
        var pendingKeys: [ResponseKey: Int] = [:]
        /// Provided when none is on its way any more; `nil` if nothing waits for that.
        var idle: OneShot<Void>?
    }

    let near: MemoryResponseStore
    private let far: any ResponseStore
    /// How long writes that have begun are waited for.
    private let settlingLimit: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - near: A store that keeps all responses of a key or none.
    ///   - far: The second store.
    init(_ near: MemoryResponseStore, _ far: any ResponseStore) {
        (self.near, self.far) = (near, far)
        settlingLimit = (far as? LimitedResponseStore)?.removalLimit ?? LimitedResponseStore.removalLimit
    }

    var largest: Int { max(near.largest, far.largest) }
    var isShared: Bool { far.isShared }
    var leasesMisses: Bool { far.leasesMisses }
    var fingerprintKey: FingerprintKey { far.fingerprintKey }
    var problems: CacheProblems { far.problems }

    // MARK: Finding

    func lookup(_ key: ResponseKey) async -> ResponseLookup {
        var found = await near.lookup(key)
        guard let ticket = found.ticket, key.partition != nil else {
            if let ticket = found.ticket { found.ticket = both(ticket, nil, []) }
            return found
        }
        guard found.responses.isEmpty else {
            // Most responses are served without a ticket.
            found.ticket = nil
            return found
        }
        // What is on its way there is newer than what the second store has.
        if state.withLock({ $0.pendingKeys[key] != nil }) { await settle() }
        let second = await far.lookup(key)
        guard !second.responses.isEmpty, isSeenAgain(key) else {
            return ResponseLookup(second.responses, ticket: both(ticket, second.ticket, second.responses))
        }
        let responses = await withBody(second.responses, key)
        let isNear = near.fill(responses, for: key, since: ticket)
        return ResponseLookup(
            responses, ticket: both(ticket, second.ticket, isNear ? [] : second.responses))
    }

    /// What the second store has. It is not taken into the memory.
    func lookupFar(_ key: ResponseKey) async -> ResponseLookup {
        key.partition == nil ? await near.lookup(key) : await far.lookup(key)
    }

    /// The only response of a key with its body, which is going to be asked for. Of several responses most are not used.
    private func withBody(_ responses: [StoredResponse], _ key: ResponseKey) async -> [StoredResponse] {
        guard var response = responses.first, responses.count == 1, response.body == nil else { return responses }
        response.body = await far.body(of: response, for: key)
        return [response]
    }

    func ticket(for key: ResponseKey) async -> ResponseTicket? {
        let found = await near.lookup(key)
        guard let ticket = found.ticket else { return nil }
        return both(ticket, key.partition == nil ? nil : await far.ticket(for: key), nil)
    }

    private func both(
        _ near: ResponseTicket, _ far: ResponseTicket?, _ farOnly: [StoredResponse]?
    ) -> ResponseTicket {
        ResponseTicket(context: Ticket(near: near, far: far, farOnly: farOnly))
    }

    /// Whether the key was asked for lately.
    private func isSeenAgain(_ key: ResponseKey) -> Bool {
        let hash = key.hashValue
        return state.withLock { state in
            let index = Int(UInt(bitPattern: hash) % UInt(Self.seenCount))
            defer { state.seen[index] = hash }
            return state.seen[index] == hash
        }
    }

    func body(of response: StoredResponse, for key: ResponseKey) async -> StoredContent? {
        if let content = await near.body(of: response, for: key) { return content }
        return key.partition == nil ? nil : await far.body(of: response, for: key)
    }

    // MARK: Storing

    func store(
        _ response: StoredResponse, _ body: Data, for key: ResponseKey, replacing replaced: UInt64?,
        since ticket: ResponseTicket
    ) async -> Bool {
        guard let ticket = ticket.context as? Ticket else { return false }
        let isAll = ticket.farOnly?.allSatisfy { $0.bodyNumber == replaced || response.replaces($0) } ?? false
        let isForNear = near.fits(response, body) && (isAll || near.contains(key))
        if isForNear {
            let isNear = await near.store(response, body, for: key, replacing: replaced, since: ticket.near)
            // Something newer is stored, or the key was invalidated.
            guard isNear else { return false }
        }
        guard let second = ticket.far else { return isForNear }
        let write = { @Sendable [far] in
            await far.store(response, body, for: key, replacing: replaced, since: second)
        }
        if isForNear { return behind(key, write) ? true : await write() || true }
        return await farOnly(key, write)
    }

    /// Changes the second store alone. What the memory has, or is about to take, may be what is replaced.
    private func farOnly(_ key: ResponseKey, _ write: () async -> Bool) async -> Bool {
        near.forget(key)
        let isDone = await write()
        near.forget(key)
        return isDone
    }

    func begin(
        _ response: StoredResponse, for key: ResponseKey, replacing replaced: UInt64?, since ticket: ResponseTicket
    ) async -> (any ResponseWriter)? {
        guard let both = ticket.context as? Ticket else { return nil }
        guard let second = both.far else {
            return await near.begin(response, for: key, replacing: replaced, since: both.near)
        }
        return await far.begin(response, for: key, replacing: replaced, since: second).map { writer in
            Writer(next: writer, memory: near, key: key)
        }
    }

    func freshen(_ response: StoredResponse, for key: ResponseKey, since ticket: ResponseTicket) async -> Bool {
        guard let ticket = ticket.context as? Ticket else { return false }
        let isKnown = near.contains(key)
        let isNear = await near.freshen(response, for: key, since: ticket.near)
        guard let second = ticket.far, isNear || !isKnown else { return isNear }
        let write = { @Sendable [far] in await far.freshen(response, for: key, since: second) }
        if isNear { return behind(key, write) ? true : await write() || true }
        return await farOnly(key, write)
    }

    func lease(_ key: ResponseKey, for duration: Duration) async -> ResponseLease? {
        guard key.partition != nil else { return .free }
        return await far.lease(key, for: duration)
    }

    /// Lets the next lookup of a key ask the second store.
    func forget(_ key: ResponseKey) { near.forget(key) }

    /// A streamed response goes to the second store alone, and into the memory when it is used.
    private struct Writer: ResponseWriter {
        let next: any ResponseWriter
        let memory: MemoryResponseStore
        let key: ResponseKey

        func append(_ bytes: BodyChunk) -> Bool { next.append(bytes) }

        func commit() async -> Bool {
            // It may replace what the memory has, also if it comes too late to be known.
            memory.forget(key)
            let isStored = await next.commit()
            memory.forget(key)
            return isStored
        }

        func abandon() { next.abandon() }
    }

    // MARK: Writing behind

    /// Runs a write later; `false` if too many are waiting.
    private func behind(_ key: ResponseKey, _ write: @escaping @Sendable () async -> Bool) -> Bool {
        let isBegun = state.withLock { state in
            guard state.pending < Self.maximumPending else { return false }
            state.pending += 1
            state.pendingKeys[key, default: 0] += 1
            return true
        }
        guard isBegun else { return false }
        // The second store has a thread of its own, or is called on another one.
        Task.immediateDetached { [self] in
            _ = await write()
            let idle = state.withLock { state in
                state.pending -= 1
                let count = state.pendingKeys[key] ?? 1
                state.pendingKeys[key] = count > 1 ? count - 1 : nil
                return state.pending == 0 ? state.idle.take() : nil
            }
            idle?.provide(())
        }
        return true
    }

    /// Waits for the writes that have begun, up to a limit.
    func settle() async {
        let idle = state.withLock { state -> OneShot<Void>? in
            guard state.pending > 0 else { return nil }
            let idle = state.idle ?? OneShot<Void>()
            state.idle = idle
            return idle
        }
        _ = await idle?.valueUnlessCancelled { [settlingLimit] in try? await Task.sleep(for: settlingLimit) }
    }

    // MARK: Removing

    func invalidate(_ url: RequestURL) async {
        await near.invalidate(url)
        await far.invalidate(url)
        // What was found in the second store meanwhile is not taken into the memory.
        await near.invalidate(url)
    }

    func remove(in scope: ResponseScope) async {
        await near.remove(in: scope)
        await far.remove(in: scope)
        await near.remove(in: scope)
    }

    func usage() async -> ResponseCache.Usage {
        var usage = await near.usage()
        let second = await far.usage()
        (usage.externalResponses, usage.externalBytes) = (second.responses, second.bytes)
        return usage
    }

    func close() async {
        await settle()
        await far.close()
    }
}
