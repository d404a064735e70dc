import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

extension Resource {
    /// The states: the current one, then the newest one after each change.
    ///
    /// ```swift
    /// for await state in cart.states(loading: .ifNeeded) {
    ///     draw(
    ///         state.content, isStale: !state.isFresh,
    ///         state.failure?.message)
    /// }
    /// ```
    ///
    /// A reader that is slower than the changes finds only the newest state, so nothing piles up. There can be any
    /// number of readers, each with its own position. The sequence ends when the calling task is cancelled or the
    /// service is closed. Its reader keeps the resource alive and counts as an observer.
    ///
    /// - Parameters:
    ///   - loading: Whether the resource is also loaded when the observation begins.
    ///   - refresh: How often the resource is loaded again while it is observed; `nil` means that only its
    ///     configuration decides.
    ///   - reportingProgress: Whether ``ResourceState/progress`` is measured, and each change of it is a new state.
    ///     Loads without such an observer are not measured. A load whose request was sent earlier has no progress,
    ///     unless another observer had requested it. A load that still waits for caches has progress.
    public func states(
        loading: ObserverLoading = .none, refreshing refresh: ResourceRefresh? = nil, reportingProgress: Bool = false
    ) -> ValueSequence<ResourceState<Content>> {
        readableStates(loading, refresh, reportingProgress)
    }

    /// The states without a load; see ``states(loading:refreshing:reportingProgress:)``.
    public var states: ValueSequence<ResourceState<Content>> { states() }

    private func readableStates(
        _ loading: ObserverLoading = .none, _ refresh: ResourceRefresh? = nil, _ reportsProgress: Bool = false
    ) -> ValueSequence<ResourceState<Content>> {
        ValueSequence {
            let (newest, type) = (Latest<any AnySnapshot>(), ObjectIdentifier(Content.self))
            let receiver = ClosureReceiver(reportsProgress: reportsProgress) { change in
                if let view = change.views.first(where: { $0.contentType == type }) { newest.put(view.snapshot) }
            } end: {
                newest.finish()
            }
            return .init(holding: place(of: receiver, loading, refresh)) {
                while let object = await newest.next() {
                    let state = ResourceState<Content>(snapshot: .typed(object), time: service.time)
                    // The waiting state of an account that was left is skipped. A state without content follows it.
                    if isPresent(state) { return state }
                }
                return nil
            }
        }
    }

    /// The changes: each event with the state after it, beginning with `attached`.
    ///
    /// ```swift
    /// for await change in cart.changes() {
    ///     print(change.event, change.state.version)
    /// }
    /// ```
    ///
    /// Changes that the reader has not taken yet are buffered up to a limit. Beyond it the oldest are dropped, and the
    /// next element contains the number of missed ones. The sequence ends when the calling task is cancelled or the
    /// service is closed. Its reader keeps the resource alive and counts as an observer.
    ///
    /// - Parameters:
    ///   - buffering: How many changes wait for a slow reader. Beyond it the oldest are dropped and counted.
    ///   - loading: Whether the resource is also loaded when the observation begins.
    ///   - refresh: How often the resource is loaded again while it is observed; `nil` means that only its
    ///     configuration decides.
    ///   - reportingProgress: Whether the observer also receives ``ResourceEvent/progress(_:)``.
    public func changes(
        buffering: ChangeBuffering = .all(upTo: 64), loading: ObserverLoading = .none,
        refreshing refresh: ResourceRefresh? = nil, reportingProgress: Bool = false
    ) -> ValueSequence<ResourceChange<Content>> {
        ValueSequence {
            let buffer = ChangeBuffer(limit: buffering.limit, reportsProgress: reportingProgress)
            return .init(holding: place(of: buffer, loading, refresh)) {
                while let change = await buffer.next() {
                    if let change = self.change(change) { return change }
                }
                return nil
            }
        }
    }

    /// The contents: the current one, if there is one, then each new one.
    ///
    /// ```swift
    /// for await cart in shop.cart.contents { show(cart) }
    /// ```
    ///
    /// A reader that is slower than the changes finds only the newest content. Equal contents in a row appear once, if
    /// they can be compared. The sequence ends when the calling task is cancelled or the service is closed.
    public var contents: ValueSequence<Content> { readableContents(areEqual: nil) }

    /// - Parameter areEqual: Compares two contents; `nil` if they cannot be compared.
    fileprivate func readableContents(
        areEqual: (@Sendable (Content, Content) -> Bool)?
    ) -> ValueSequence<Content> {
        ValueSequence {
            var states = readableStates().makeAsyncIterator()
            var last: (content: Content, version: UInt64)?
            return .init {
                while let state = await states.next() {
                    guard let content = state.content else {
                        last = nil
                        continue
                    }
                    let version = state.snapshot.facts.contentVersion
                    let known = last
                    last = (content, version)
                    guard let known else { return content }
                    if known.version == version || areEqual?(known.content, content) == true { continue }
                    return content
                }
                return nil
            }
        }
    }

    /// Adds the receiver of a reader. It is removed when its place is released.
    private func place(
        of receiver: any ChangeReceiver, _ loading: ObserverLoading, _ refresh: ResourceRefresh?
    ) -> Place {
        // The view exists before the first change, so that each change has a snapshot for it.
        _ = state
        let number = core.add(receiver, refreshing: refresh, service)
        // Closing the service ends the observers that exist then. An observer that is added later ends itself.
        if service.isClosed { receiver.finish() }
        service.readCachesForObserver(of: core)
        let place = Place.counted { [handle] in handle.remove(observer: number) }
        if loading == .ifNeeded { loadForObserver() }
        return place
    }

    /// Starts a load for an observer that has requested it. The load ends with the last observer.
    package func loadForObserver() { loadForObserver(in: service.adoptEnvironment()) }

    /// Starts a load for an observer, as part of an operation that has begun.
    func loadForObserver(in environment: AdoptedEnvironment) {
        let core = core
        let need = service.loadIfNeeded(core, ObjectIdentifier(Content.self), in: environment)
        if case .running(let load) = need { core.raise(load, to: nil) }
    }

    /// Whether a state of this resource belongs to the current account and environment. Others are not shown any more.
    package func isPresent(_ state: ResourceState<Content>) -> Bool { state.version >= core.flags.firstVersion }

    /// A change as this view sees it. It is `nil` if the view did not exist yet, or if the account or environment of
    /// the change was left while it waited.
    func change(_ change: PendingChange) -> ResourceChange<Content>? {
        guard let change = change.shown(since: core.flags.firstVersion),
            let snapshot = change.views.snapshot(of: Content.self)
        else { return nil }
        return ResourceChange(
            event: change.event, state: ResourceState(snapshot: snapshot, time: service.time), missed: change.missed)
    }
}

extension Resource where Content: Equatable {
    /// The contents: the current one, if there is one, then each that differs from the previous one.
    public var contents: ValueSequence<Content> { readableContents(areEqual: ==) }
}

/// Whether observing a resource also loads it.
public enum ObserverLoading: Sendable, Hashable {
    /// Only the states are observed.
    case none
    /// The resource is loaded when the observation begins, unless it is fresh or being loaded.
    case ifNeeded
}

/// How many changes wait for a slow reader of ``Resource/changes(buffering:loading:refreshing:reportingProgress:)``.
public enum ChangeBuffering: Sendable, Hashable {
    /// All changes, up to a number.
    case all(upTo: Int)
    /// Only the newest change.
    case newest

    var limit: Int {
        switch self {
        case .all(let limit): limit
        case .newest: 1
        }
    }
}
