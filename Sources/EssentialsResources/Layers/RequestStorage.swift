import EssentialsHTTP
import EssentialsTools

/// The object behind all copies of a ``ResourceRequest``: its state, its hooks, and how it is started and repeated.
///
/// The mutex is never held while foreign code runs. The thread that ends the request delivers the last progress, and
/// then starts one task that calls the hooks in order.
final class RequestStorage<Content: Sendable>: Sendable {
    typealias Outcome = Result<ResourceResponse<Content>, RequestFailure>
    /// Starts the work, which passes its outcome to ``end(_:)``. Returns a closure that cancels it.
    typealias Begin = @Sendable (RequestStorage) -> @Sendable () -> Void
    /// The first request of a chain, and the closure that decides how the chain continues.
    typealias Link = (first: RequestStorage, next: @Sendable (Outcome) async -> ChainStep<Content>)

    private struct State {
        var phase = ResourceRequestPhase.notStarted
        var outcome: Outcome?
        var cancellation: (@Sendable () -> Void)?
        /// Takes the running request out of the chain, if this request is a chain.
        var takeInner: (@Sendable () -> RequestStorage?)?
        /// The load that the request follows. A task that waits for the request also waits for this load.
        var load: Load?
        /// The chains that begin with the request.
        var starters: [@Sendable () -> RequestStorage?] = []
        /// The hooks that were not called yet.
        var hooks: [@Sendable (Outcome) async -> Void] = []
        /// Whether a task calls the hooks.
        var callsHooks = false
        var progressObservers: [@Sendable (Double) -> Void] = []
        /// The progress that is to be delivered; `nil` if it was delivered.
        var progress: Double?
        var deliversProgress = false
        var lastProgress = 0.0
        /// Whether hooks and waiting tasks may receive the outcome.
        var isTold = false
    }

    private let state: Mutex<State>
    private let completion = OneShot<Outcome>()
    private let begin: Begin
    /// Creates the repeated request; `nil` for a chain.
    private let again: (@Sendable () -> RequestStorage)?
    /// The link of a chain; `nil` if the request is no chain, or if the chain was released.
    private let chainLink: Mutex<Link?>
    /// Whether ``cancel()`` ends the request.
    private let isCancellable: Bool
    #if DEBUG
        private let mark = LiveMark(.request)
    #endif

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - isCancellable: Whether cancelling ends it.
    ///   - again: Creates the repeated request.
    ///   - begin: Starts the work.
    init(
        isCancellable: Bool = true, again: @escaping @Sendable () -> RequestStorage, begin: @escaping Begin
    ) {
        (self.isCancellable, self.again, self.begin) = (isCancellable, again, begin)
        chainLink = Mutex(nil)
        state = Mutex(State())
    }

    /// Creates a chain.
    ///
    /// - Parameters:
    ///   - link: The beginning of the chain. `begin` must not hold it, but take it from the chain.
    ///   - begin: Starts the work.
    init(_ link: Link, begin: @escaping Begin) {
        (isCancellable, again, self.begin) = (true, nil, begin)
        chainLink = Mutex(link)
        state = Mutex(State())
    }

    deinit {
        // Chains can be longer than a stack allows to recurse.
        var next = chainLink.withLock { $0.take() }?.first
        while next != nil, isKnownUniquelyReferenced(&next) {
            next = next?.chainLink.withLock { $0.take() }?.first
        }
    }

    var phase: ResourceRequestPhase { state.withLock { $0.phase } }

    /// The first request and the continuation of a chain; `nil` if the request is no chain.
    var link: Link? { chainLink.withLock { $0 } }

    /// Returns the request once more. For a chain, the first request is repeated, and the rest is chained to it.
    func repeated() -> RequestStorage {
        var links: [Link] = []
        var first = self
        while let link = first.link {
            links.append(link)
            first = link.first
        }
        guard let again = first.again else { return first }
        var storage = again()
        while let link = links.popLast() { storage = .chain(of: (storage, link.next)) }
        return storage
    }

    // MARK: Start and end

    /// Starts the request, unless it was started or has ended, and then the chains that begin with it.
    func start() {
        // Chains can be longer than a stack allows to recurse.
        var pending = [self]
        while let storage = pending.popLast() { pending += storage.startAlone().reversed() }
    }

    /// Starts the request, and returns the chains that begin with it.
    private func startAlone() -> [RequestStorage] {
        let starters = state.withLock { state -> [@Sendable () -> RequestStorage?]? in
            guard state.phase == .notStarted else { return nil }
            state.phase = .running
            defer { state.starters = [] }
            return state.starters
        }
        guard let starters else { return [] }
        let cancellation = begin(self)
        let isOver = state.withLock { state in
            guard state.phase == .running else { return true }
            state.cancellation = cancellation
            return false
        }
        if isOver { cancellation() }
        return starters.compactMap { $0() }
    }

    /// Starts a chain when the request is started, or at once if it already was.
    func whenStarted(start chain: @escaping @Sendable () -> RequestStorage?) {
        let isStarted = state.withLock { state in
            if state.phase == .notStarted { state.starters.append(chain) }
            return state.phase != .notStarted
        }
        if isStarted { chain()?.start() }
    }

    /// Ends the request. Only the first outcome counts.
    ///
    /// - Returns: Whether the outcome counts.
    @discardableResult
    func end(_ outcome: Outcome) -> Bool {
        typealias Ended = (Bool, (@Sendable () -> Void)?, (@Sendable () -> RequestStorage?)?, Load?)
        let (isFirst, cancellation, takeInner, load) = state.withLock { state -> Ended in
            guard state.outcome == nil else { return (false, nil, nil, nil) }
            (state.outcome, state.phase, state.starters) = (outcome, .completed, [])
            return (true, state.cancellation.take(), state.takeInner.take(), state.load.take())
        }
        guard isFirst else { return false }
        // Objects that the request has held may be released here, outside the lock.
        _ = (consume cancellation, consume takeInner, consume load)
        deliver(progress: 1)
        return true
    }

    /// The closures that cancel a request's work, and that take the running request out of a chain.
    private typealias Work = (cancellation: (@Sendable () -> Void)?, takeInner: (@Sendable () -> RequestStorage?)?)

    /// Ends the request and its work as cancelled. In a chain, the running request ends first.
    func cancel() {
        // Chains can be longer than a stack allows to recurse.
        var cancelled: [(storage: RequestStorage, cancellation: (@Sendable () -> Void)?)] = []
        var next: RequestStorage? = self
        while let storage = next, storage.isCancellable {
            let work = storage.state.withLock { state -> Work in (state.cancellation.take(), state.takeInner.take()) }
            cancelled.append((storage, work.cancellation))
            next = work.takeInner?()
        }
        while let (storage, cancellation) = cancelled.popLast() {
            // The work ends first, so that the observers of a load are notified before the hooks.
            cancellation?()
            storage.end(.failure(LoadOutcome.cancelledFailure))
        }
    }

    /// Lets ``cancel()`` take and cancel the running request of a chain.
    func whenCancelled(take inner: @escaping @Sendable () -> RequestStorage?) {
        state.withLock { if $0.outcome == nil { $0.takeInner = inner } }
    }

    /// Makes a task that waits for the request count as waiting for a load.
    func follow(_ load: Load) {
        state.withLock { if $0.outcome == nil { $0.load = load } }
    }

    /// Waits for the outcome. The request is started if it was not.
    ///
    /// - Parameter keepsLoad: Whether the caller counts as a task that waits for the load of the request.
    nonisolated(nonsending) func outcome(keepsLoad: Bool = true) async -> Outcome {
        start()
        let load = keepsLoad ? state.withLock { $0.load } : nil
        if let load { load.core.join(load) }
        defer { if let load { load.core.leave(load) } }
        return await completion.valueUnlessCancelled() ?? .failure(LoadOutcome.cancelledFailure)
    }

    // MARK: Progress

    /// Whether the request has progress observers.
    var reportsProgress: Bool { state.withLock { !$0.progressObservers.isEmpty } }

    func observeProgress(_ observer: @escaping @Sendable (Double) -> Void) {
        state.withLock { if $0.outcome == nil { $0.progressObservers.append(observer) } }
    }

    /// Delivers progress. If another thread is delivering, that thread delivers the newest value too. After the end,
    /// the outcome is reported.
    func deliver(progress: Double) {
        let isMine = state.withLock { state in
            guard progress == 1 || (state.outcome == nil && progress > state.lastProgress) else { return false }
            (state.progress, state.lastProgress) = (progress, progress)
            guard !state.deliversProgress else { return false }
            state.deliversProgress = true
            return true
        }
        guard isMine else { return }
        while let (value, observers) = nextProgress() {
            for observer in observers { observer(value) }
        }
        tell()
    }

    private func nextProgress() -> (Double, [@Sendable (Double) -> Void])? {
        state.withLock { state in
            guard let value = state.progress else {
                state.deliversProgress = false
                return nil
            }
            state.progress = nil
            defer { if value == 1 { state.progressObservers = [] } }
            return (value, state.progressObservers)
        }
    }

    // MARK: Hooks

    /// Adds a hook, which is called after the request has ended, even if it already has.
    func addHook(_ hook: @escaping @Sendable (Outcome) async -> Void) {
        let isTold = state.withLock { state in
            state.hooks.append(hook)
            return state.isTold
        }
        if isTold { callHooks() }
    }

    private func tell() {
        let outcome = state.withLock { state -> Outcome? in
            guard let outcome = state.outcome, !state.isTold, !state.deliversProgress else { return nil }
            state.isTold = true
            return outcome
        }
        guard let outcome else { return }
        completion.provide(outcome)
        callHooks()
    }

    private func callHooks() {
        let outcome = state.withLock { state -> Outcome? in
            guard !state.callsHooks, !state.hooks.isEmpty else { return nil }
            state.callsHooks = true
            return state.outcome
        }
        guard let outcome else { return }
        Task { while let hook = nextHook() { await hook(outcome) } }
    }

    private func nextHook() -> (@Sendable (Outcome) async -> Void)? {
        state.withLock { state in
            guard !state.hooks.isEmpty else {
                state.callsHooks = false
                return nil
            }
            return state.hooks.removeFirst()
        }
    }
}

extension RequestStorage {
    /// Measures the progress of a request that begins now; `nil` if the request has no progress observers.
    func progressSource(isGet: Bool, hasBody: Bool, _ clock: RequestClock) -> ProgressSource? {
        guard reportsProgress else { return nil }
        let source = ProgressSource(isGet: isGet, hasBody: hasBody, clock)
        source.report { [weak self] progress in self?.deliver(progress: progress) }
        let ticker = Task.counted { [weak self] in
            await source.tick { [weak self] in self?.phase == .running }
        }
        addHook { _ in ticker.cancel() }
        return source
    }
}
