import EssentialsHTTP

/// The contents of a resource: the present one, if there is one, then each new one.
///
/// ```swift
/// for await cart in shop.cart.contents { show(cart) }
/// ```
///
/// A reader that is slower than the changes finds only the newest content. Equal contents in a row come once, if they can
/// be compared. The sequence ends when the calling task is cancelled or the service is closed, and never throws.
public struct ResourceContents<Content: Sendable>: AsyncSequence, Sendable {
    /// A content.
    public typealias Element = Content
    /// The sequence never fails.
    public typealias Failure = Never

    let resource: Resource<Content>
    /// Whether two contents are equal; `nil` if they cannot be compared.
    let areEqual: (@Sendable (Content, Content) -> Bool)?

    /// Begins with the present content.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            states: ResourceStates(resource: resource, loading: .none).makeAsyncIterator(), areEqual: areEqual)
    }

    /// Reads the contents.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var states: ResourceStates<Content>.AsyncIterator
        fileprivate let areEqual: (@Sendable (Content, Content) -> Bool)?
        private var last: (content: Content, version: UInt64)?

        fileprivate init(
            states: ResourceStates<Content>.AsyncIterator, areEqual: (@Sendable (Content, Content) -> Bool)?
        ) {
            self.states = states
            self.areEqual = areEqual
        }

        /// The next content; `nil` at the end.
        public mutating func next() async -> Content? { await next(isolation: #isolation) }

        /// The next content; `nil` at the end. A `for` loop calls this method.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Content? {
            while let state = await states.next(isolation: actor) {
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

extension Resource {
    /// The states: the present one, then the newest one after each change.
    ///
    /// - Parameters:
    ///   - loading: Whether the resource is also loaded when the observation begins.
    ///   - refresh: How often the resource is loaded again while it is observed; `nil` means its configuration alone.
    ///   - reportingProgress: Whether ``ResourceState/progress`` is measured, and each change of it is a new state. Loads
    ///     that nobody observes in this way are not measured. A load whose request was sent before has no progress, unless
    ///     somebody else has asked for it; one that waits for caches still has.
    public func states(
        loading: ObserverLoading = .none, refreshing refresh: ResourceRefresh? = nil, reportingProgress: Bool = false
    ) -> ResourceStates<Content> {
        ResourceStates(resource: self, loading: loading, refresh: refresh, reportsProgress: reportingProgress)
    }

    /// The states without a load; see ``states(loading:refreshing:reportingProgress:)``.
    public var states: ResourceStates<Content> { states() }

    /// The changes: each event with the state after it, beginning with `attached`.
    ///
    /// - Parameters:
    ///   - buffering: How many changes wait for a slow reader. Beyond it the oldest are dropped and counted.
    ///   - loading: Whether the resource is also loaded when the observation begins.
    ///   - refresh: How often the resource is loaded again while it is observed; `nil` means its configuration alone.
    ///   - reportingProgress: Whether the observer also receives ``ResourceEvent/progress(_:)``.
    public func changes(
        buffering: ChangeBuffering = .all(upTo: 64), loading: ObserverLoading = .none,
        refreshing refresh: ResourceRefresh? = nil, reportingProgress: Bool = false
    ) -> ResourceChanges<Content> {
        ResourceChanges(
            resource: self, limit: buffering.limit, loading: loading, refresh: refresh,
            reportsProgress: reportingProgress)
    }

    /// The contents: the present one, if there is one, then each new one.
    public var contents: ResourceContents<Content> { ResourceContents(resource: self, areEqual: nil) }

    /// Starts a load for an observer that asked for it. It ends with the last observer.
    package func loadForObserver() { loadForObserver(in: service.adoptEnvironment()) }

    /// Starts a load for an observer in an operation that has begun.
    func loadForObserver(in environment: AdoptedEnvironment) {
        let (core, now) = (core, service.time.now)
        let need = core.beginLoadIfNeeded(
            of: ObjectIdentifier(Content.self), isAwaited: false, isStarted: false, at: now, in: environment,
            usesCache: service.usesCaches(for: core))
        service.loadLog.note(need, core, at: now)
        switch need {
        case .new(let run, let wish): service.start(run, of: core, wish)
        case .running(let run): core.raise(run, to: nil)
        case .nothing: break
        }
    }

    /// Whether a state of this resource belongs to the present account and environment. Others are not shown any more.
    package func isPresent(_ state: ResourceState<Content>) -> Bool { state.version >= core.flags.firstVersion }

    /// A change as this view sees it; `nil` if the view did not exist yet, or if the change comes from an account or
    /// environment that was left while it waited.
    func change(_ change: PendingChange) -> ResourceChange<Content>? {
        guard let change = change.shown(since: core.flags.firstVersion),
            let snapshot = change.views.snapshot(of: Content.self)
        else { return nil }
        return ResourceChange(
            event: change.event, state: ResourceState(snapshot: snapshot, time: service.time), missed: change.missed)
    }
}

extension Resource where Content: Equatable {
    /// The contents: the present one, if there is one, then each that differs from the one before.
    public var contents: ResourceContents<Content> { ResourceContents(resource: self) { $0 == $1 } }
}

/// How many changes wait for a slow reader of ``ResourceChanges``.
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
