public import EssentialsHTTP
import EssentialsTools

/// Several resources that are loaded and observed together, with contents of different types.
///
/// ```swift
/// let group = ResourceGroup(shop.cart, shop.user("7"))
/// let (cart, user) = try await group.loadIfNeeded()  // in parallel
/// for await (cart, user) in group.states(loading: .ifNeeded) { draw(cart.content, user.content) }
/// ```
///
/// A group holds its resources, but does not observe them: it counts as an observer only while ``states`` is read.
public struct ResourceGroup<each Content: Sendable>: Sendable {
    let resources: (repeat Resource<each Content>)

    /// Creates a group.
    public init(_ resources: repeat Resource<each Content>) { self.resources = (repeat each resources) }

    /// The states: the current ones, then the newest ones after each change of one of the resources.
    ///
    /// - Parameter loading: Whether resources are also loaded when the observation begins, in parallel.
    public func states(loading: ObserverLoading = .none) -> ResourceGroupStates<repeat each Content> {
        ResourceGroupStates(group: self, loading: loading)
    }

    /// The states without a load; see ``states(loading:)``.
    public var states: ResourceGroupStates<repeat each Content> { states() }

    /// The current states.
    public var current: (repeat ResourceState<each Content>) { (repeat (each resources).state) }

    /// Returns the contents. Resources that are not fresh are loaded in parallel.
    ///
    /// If the calling task is cancelled, the loads that nothing else needs are cancelled. If one load fails, the others
    /// continue.
    ///
    /// - Throws: The failure of the first failed resource, in the order of the group; `cancelled` if the calling task
    ///   was cancelled.
    public func loadIfNeeded() async throws(RequestFailure) -> (repeat each Content) {
        var interests: [Load] = []
        for resource in repeat each resources {
            if let interest = resource.beginInterest(priority: nil) { interests.append(interest) }
        }
        defer {
            for load in interests {
                // Without a cancellation the load runs to its end.
                if !Task.isCancelled { load.core.keep(load) }
                load.core.leave(load)
            }
        }
        return (repeat try await (each resources).loadIfNeeded())
    }

    var members: [AnyResource] {
        var members: [AnyResource] = []
        for resource in repeat each resources { members.append(resource.any) }
        return members
    }
}

/// The states of the resources of a group.
///
/// ```swift
/// for await (cart, user) in ResourceGroup(shop.cart, shop.user("7")).states { draw(cart.content, user.content) }
/// ```
///
/// A reader that is slower than the changes finds only the newest states, so the work for a group does not grow with
/// the changes between two reads. The sequence ends when the calling task is cancelled or the services are closed, and
/// never throws. Its reader counts as an observer of each resource, and keeps them in memory.
public struct ResourceGroupStates<each Content: Sendable>: AsyncSequence, Sendable {
    /// The states, in the order of the group.
    public typealias Element = (repeat ResourceState<each Content>)
    /// The sequence never fails.
    public typealias Failure = Never

    let group: ResourceGroup<repeat each Content>
    let loading: ObserverLoading

    /// Begins with the current states.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Reads the states.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let group: ResourceGroup<repeat each Content>
        private let signal = ChangeSignal()
        private let observation: JointObservation

        fileprivate init(_ states: ResourceGroupStates) {
            group = states.group
            // The views exist before the first change, so that each change has a snapshot for them.
            _ = group.current
            observation = JointObservation(of: group.members, signal)
            guard states.loading == .ifNeeded else { return }
            for resource in repeat each group.resources { resource.loadForObserver() }
        }

        /// The newest states; `nil` at the end.
        public mutating func next() async -> Element? { await next(isolation: #isolation) }

        /// The newest states; `nil` at the end. A `for` loop calls this method.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            guard await signal.next() else { return nil }
            let states: Element = group.current
            return .some(states)
        }
    }
}
