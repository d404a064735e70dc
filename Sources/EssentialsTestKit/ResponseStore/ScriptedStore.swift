public import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools
public import FoundationEssentials

/// A store for responses that is slow, fails, hangs or lies when a test wants it, and otherwise keeps them in memory.
///
/// ```swift
/// let store = ScriptedStore()
/// let cache = ResponseCache(store: store)
/// store.behave(.hangs, in: .lookup)
/// ```
public final class ScriptedStore: ResponseStore {
    /// The functions of a store.
    public enum Call: Sendable, Hashable, CaseIterable {
        /// `lookup(_:)`.
        case lookup
        /// `ticket(for:)`.
        case ticket
        /// `body(of:for:)`.
        case body
        /// `store(_:_:for:replacing:since:)`.
        case store
        /// `begin(_:for:replacing:since:)`.
        case begin
        /// `freshen(_:for:since:)`.
        case freshen
        /// `lease(_:for:)`.
        case lease
        /// `invalidate(_:)`.
        case invalidate
        /// `remove(in:)`.
        case remove
        /// `usage()`.
        case usage
        /// `close()`.
        case close
    }

    /// What a function does.
    public enum Behavior: Sendable, Hashable {
        /// It works.
        case works
        /// It works after a while.
        case delays(Duration)
        /// It does nothing, and finds or stores nothing.
        case fails
        /// It does not return until another behavior is set.
        case hangs
        /// It claims success and does nothing. A body that it finds is damaged: its bytes never come.
        case lies
    }

    private struct State {
        var behaviors: [Call: Behavior] = [:]
        var counts: [Call: Int] = [:]
        var hanging: [OneShot<Void>] = []
    }

    private let next: any ResponseStore
    private let state = Mutex(State())
    /// Whether the store says that others use it too.
    public let isShared: Bool
    /// Whether the store says that processes agree on who asks the server for what none has stored.
    public let leasesMisses: Bool

    /// Creates an empty store, or one that keeps its responses in another one.
    public init(over next: (any ResponseStore)? = nil, isShared: Bool = false, leasesMisses: Bool = false) {
        self.next = next ?? ResponseCache().stageStore
        (self.isShared, self.leasesMisses) = (isShared, leasesMisses)
    }

    /// Sets what functions do from now on. Calls that hang in any function go on.
    ///
    /// - Parameters:
    ///   - behavior: What they do.
    ///   - calls: The functions. The default is all.
    public func behave(_ behavior: Behavior, in calls: Call...) {
        let hanging = state.withLock { state in
            for call in calls.isEmpty ? Call.allCases : calls { state.behaviors[call] = behavior }
            defer { state.hanging = [] }
            return state.hanging
        }
        for call in hanging { call.provide(()) }
    }

    /// How often a function was called.
    public func count(of call: Call) -> Int { state.withLock { $0.counts[call] ?? 0 } }

    /// Counts a call, and waits as long as it has to.
    ///
    /// - Returns: What the function does then.
    private func entered(_ call: Call) async -> Behavior {
        state.withLock { $0.counts[call, default: 0] += 1 }
        while true {
            let (behavior, wait) = state.withLock { state -> (Behavior, OneShot<Void>?) in
                let behavior = state.behaviors[call] ?? .works
                guard behavior == .hangs else { return (behavior, nil) }
                let wait = OneShot<Void>()
                state.hanging.append(wait)
                return (behavior, wait)
            }
            guard let wait else {
                if case .delays(let time) = behavior { try? await Task.sleep(for: time) }
                return behavior
            }
            await wait.value()
        }
    }

    /// The result of a function that works now, or works after a while.
    private func result<Value>(
        _ call: Call, else failed: Value, lie: Value, _ work: () async -> Value
    ) async -> Value {
        switch await entered(call) {
        case .works, .delays, .hangs: await work()
        case .fails: failed
        case .lies: lie
        }
    }

    // MARK: ResponseStore

    /// The largest body, as in the store below.
    public var largest: Int { next.largest }

    /// What is stored under a key.
    public func lookup(_ key: ResponseKey) async -> ResponseLookup {
        await result(.lookup, else: ResponseLookup(), lie: ResponseLookup()) {
            var found = await next.lookup(key)
            // A store that lies about bodies must be asked for them.
            for index in found.responses.indices { found.responses[index].body = nil }
            return found
        }
    }

    /// A ticket.
    public func ticket(for key: ResponseKey) async -> ResponseTicket? {
        await result(.ticket, else: nil, lie: ResponseTicket()) { await next.ticket(for: key) }
    }

    /// A body.
    public func body(of response: StoredResponse, for key: ResponseKey) async -> StoredContent? {
        let found = await next.body(of: response, for: key)
        let damaged = StoredContent(count: found?.count ?? 1) { _ in nil }
        return await result(.body, else: nil, lie: damaged) { found }
    }

    /// Stores a response.
    public func store(
        _ response: StoredResponse, _ body: Data, for key: ResponseKey, replacing replaced: UInt64?,
        since ticket: ResponseTicket
    ) async -> Bool {
        await result(.store, else: false, lie: true) {
            await next.store(response, body, for: key, replacing: replaced, since: ticket)
        }
    }

    /// Begins to store a response.
    public func begin(
        _ response: StoredResponse, for key: ResponseKey, replacing replaced: UInt64?, since ticket: ResponseTicket
    ) async -> (any ResponseWriter)? {
        await result(.begin, else: nil, lie: nil) {
            await next.begin(response, for: key, replacing: replaced, since: ticket)
        }
    }

    /// Replaces the head of a response.
    public func freshen(_ response: StoredResponse, for key: ResponseKey, since ticket: ResponseTicket) async -> Bool {
        await result(.freshen, else: false, lie: true) { await next.freshen(response, for: key, since: ticket) }
    }

    /// A lease.
    public func lease(_ key: ResponseKey, for duration: Duration) async -> ResponseLease? {
        await result(.lease, else: nil, lie: ResponseLease.free) { await next.lease(key, for: duration) }
    }

    /// Removes the responses of a URL.
    public func invalidate(_ url: RequestURL) async {
        await result(.invalidate, else: (), lie: ()) { await next.invalidate(url) }
    }

    /// Removes the responses of a scope.
    public func remove(in scope: ResponseScope) async {
        await result(.remove, else: (), lie: ()) { await next.remove(in: scope) }
    }

    /// What is stored.
    public func usage() async -> ResponseCache.Usage {
        await result(.usage, else: ResponseCache.Usage(), lie: ResponseCache.Usage()) { await next.usage() }
    }

    /// Closes the store below.
    public func close() async { await result(.close, else: (), lie: ()) { await next.close() } }
}
