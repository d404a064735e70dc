import EssentialsHTTP
import EssentialsTools

/// The states of a resource: the present one, then the newest one after each change.
///
/// ```swift
/// for await state in cart.states(loading: .ifNeeded) {
///     draw(
///         state.content, isStale: !state.isFresh,
///         state.failure?.message)
/// }
/// ```
///
/// A reader that is slower than the changes finds only the newest state, so nothing piles up. There can be any number of
/// readers, each with its own position. The sequence ends when the calling task is cancelled or the service is closed, and
/// never throws. Its reader keeps the resource alive and counts as an observer.
public struct ResourceStates<Content: Sendable>: AsyncSequence, Sendable {
    /// A state.
    public typealias Element = ResourceState<Content>
    /// The sequence never fails.
    public typealias Failure = Never

    let resource: Resource<Content>
    let loading: ObserverLoading
    var refresh: ResourceRefresh?
    var reportsProgress = false

    /// Begins with the present state.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Reads the states.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let reader: StateReader<Content>

        fileprivate init(_ states: ResourceStates) {
            reader = StateReader(states)
            if states.loading == .ifNeeded { states.resource.loadForObserver() }
        }

        /// The newest state that was not read yet; `nil` at the end.
        public mutating func next() async -> ResourceState<Content>? { await next(isolation: #isolation) }

        /// The newest state that was not read yet; `nil` at the end. A `for` loop calls this method.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ResourceState<Content>? {
            await reader.next()
        }
    }
}

/// Whether observing a resource also loads it.
public enum ObserverLoading: Sendable, Hashable {
    /// Only the states are observed.
    case none
    /// The resource is loaded when the observation begins, unless it is fresh or being loaded.
    case ifNeeded
}

/// The place of one reader. It leaves the resource when the reader is gone.
final class StateReader<Content: Sendable>: Sendable {
    private let resource: Resource<Content>
    private let receiver: StateReceiver
    private let number: UInt64
    #if DEBUG
        private let mark = LiveMark(.reader)
    #endif

    init(_ states: ResourceStates<Content>) {
        resource = states.resource
        receiver = StateReceiver(ObjectIdentifier(Content.self), reportsProgress: states.reportsProgress)
        // The view exists before the first change, so that each change has a snapshot for it.
        _ = resource.state
        number = resource.core.add(receiver, refreshing: states.refresh, resource.service)
        // Closing the service ends the observers that it finds, so one that comes later ends itself.
        if resource.service.isClosed { receiver.finish() }
        resource.service.readCachesForObserver(of: resource.core)
    }

    deinit { resource.handle.remove(observer: number) }

    func next() async -> ResourceState<Content>? {
        while let object = await receiver.next() {
            let state = ResourceState<Content>(snapshot: .typed(object), time: resource.service.time)
            // The state of an account that was left while it waited is followed by the one without content.
            if resource.isPresent(state) { return state }
        }
        return nil
    }
}

/// Keeps the newest snapshot until it is read.
final class StateReceiver: ChangeReceiver {
    let reportsProgress: Bool
    private let contentType: ObjectIdentifier
    private let newest = Latest<any AnySnapshot>()

    init(_ contentType: ObjectIdentifier, reportsProgress: Bool) {
        self.contentType = contentType
        self.reportsProgress = reportsProgress
    }

    func receive(_ change: PendingChange) {
        guard let snapshot = change.views.first(where: { $0.contentType == contentType })?.snapshot else { return }
        newest.put(snapshot)
    }

    func finish() { newest.finish() }

    func next() async -> (any AnySnapshot)? { await newest.next() }
}
