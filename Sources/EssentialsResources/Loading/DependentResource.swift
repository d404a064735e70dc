public import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

/// A resource whose address depends on the content of another one.
///
/// ```swift
/// let orders = shop.user("7").then { user in service.resource("orders", user.accountID, as: [Order].self) }
/// for await state in orders.states(loading: .ifNeeded) { draw(state.content, state.failure?.message) }
/// ```
///
/// When new content of the source leads to another target, that target is observed instead, and the old target's
/// content is no longer shown. The value itself neither loads nor observes anything: only a sequence of its states
/// does, while it is being read.
public struct DependentResource<Source: Sendable, Content: Sendable>: Sendable {
    /// The resource on which the target depends.
    public let source: Resource<Source>
    let derive: @Sendable (Source) -> Resource<Content>?

    /// The current target; `nil` if the source has no content, or if its content leads to no resource.
    public var target: Resource<Content>? { source.content.flatMap(derive) }

    /// The states: the current one, then the newest one after each change of the source or the target.
    ///
    /// ```swift
    /// for await state in orders.states(loading: .ifNeeded) { draw(state.content) }
    /// ```
    ///
    /// A reader that is slower than the changes finds only the newest state. The sequence ends when the calling task is
    /// cancelled or the service of the source is closed. Its reader counts as an observer of the source and of the
    /// current target.
    ///
    /// - Parameter loading: Whether the source is also loaded when the observation begins, and each target when the
    ///   source leads to it.
    public func states(
        loading: ObserverLoading = .none
    ) -> ValueSequence<DependentState<Source, Content>> {
        ValueSequence {
            let reader = DependentReader(self, loading)
            return .init { await reader.next() }
        }
    }

    /// The states without a load; see ``states(loading:)``.
    public var states: ValueSequence<DependentState<Source, Content>> { states() }

    /// Returns the content of the target. First the source and then the target is loaded, unless it is fresh.
    ///
    /// - Returns: The content; `nil` if the source leads to no target.
    /// - Throws: The failures of ``Resource/loadIfNeeded(priority:)`` for the source or the target. The target is only
    ///   loaded in the environment and with the credentials of the source's load. The failure is `authorization` if the
    ///   credentials were cleared or replaced in between, and `cancelled` if another environment or partition was
    ///   entered.
    @discardableResult
    public func loadIfNeeded() async throws(RequestFailure) -> Content? {
        let environment = source.service.adoptEnvironment()
        guard let target = derive(try await source.loadUnlessFresh(in: environment)) else { return nil }
        let next = targetEnvironment(target, after: environment)
        try source.service.checkAdopted(environment)
        return try await target.loadUnlessFresh(in: next)
    }

    /// The environment for loading the target. It is taken before the environment of the source's load is checked.
    fileprivate func targetEnvironment(
        _ target: Resource<Content>, after environment: AdoptedEnvironment
    ) -> AdoptedEnvironment {
        target.service === source.service ? environment : target.service.adoptEnvironment()
    }
}

extension Resource {
    /// The resource to which the content of this one leads; see ``DependentResource``.
    ///
    /// - Parameter target: Returns the resource for some content, or `nil` if there is none. It is called outside all
    ///   locks, once for each content that a reader finds.
    public func then<Other: Sendable>(
        _ target: @escaping @Sendable (Content) -> Resource<Other>?
    ) -> DependentResource<Content, Other> {
        DependentResource(source: self, derive: target)
    }
}

/// The state of a ``DependentResource``.
///
/// ```swift
/// show(state.content, isLoading: state.isLoading, state.failure?.message)
/// ```
public struct DependentState<Source: Sendable, Content: Sendable>: Sendable {
    /// The state of the source.
    public let source: ResourceState<Source>
    /// The state of the target; `nil` if there is no target.
    public let target: ResourceState<Content>?

    /// The content of the target. Content of an earlier target is never shown.
    public var content: Content? { target?.content }
    /// The failure of the target if it has one, otherwise the failure of the source.
    public var failure: RequestFailure? { target?.failure ?? source.failure }
    /// Whether the source or the target is being loaded.
    public var isLoading: Bool { source.isLoading || target?.isLoading == true }
}

/// One iteration over the states of a ``DependentResource``.
private final class DependentReader<Source: Sendable, Content: Sendable> {
    private let resource: DependentResource<Source, Content>
    private let loading: ObserverLoading
    private let signal = ChangeSignal()
    private let sourceObservation: JointObservation
    /// The current target and the reader's place among its observers.
    private var target: (resource: Resource<Content>, place: Place)?
    /// The version of the source's content that led to the target.
    private var contentVersion: UInt64?

    init(_ resource: DependentResource<Source, Content>, _ loading: ObserverLoading) {
        (self.resource, self.loading) = (resource, loading)
        _ = resource.source.state
        sourceObservation = JointObservation(of: [resource.source.any], signal)
        if loading == .ifNeeded { resource.source.loadForObserver() }
    }

    func next() async -> DependentState<Source, Content>? {
        guard await signal.next() else { return nil }
        while true {
            let environment = resource.source.service.adoptEnvironment()
            let source = resource.source.state
            if contentVersion != source.snapshot.facts.contentVersion {
                contentVersion = source.snapshot.facts.contentVersion
                guard follow(source.content.flatMap(resource.derive), environment) else {
                    contentVersion = nil
                    continue
                }
            }
            let state = DependentState(source: source, target: target?.resource.state)
            // Finding the target calls foreign code, during which the account can be left.
            if resource.source.isPresent(source) { return state }
        }
    }

    /// Observes a new target in place of the previous one.
    ///
    /// - Returns: `false` if the account or environment was left while the target was being found. The target is then
    ///   not loaded, because it may belong to the account that was left.
    private func follow(_ new: Resource<Content>?, _ environment: AdoptedEnvironment) -> Bool {
        guard new != target?.resource else { return true }
        guard let new else {
            target = nil
            return true
        }
        _ = new.state
        // The service of the target can end before that of the source.
        let number = new.core.add(ClosureReceiver { [signal] _ in signal.raise() }, new.service)
        target = (new, Place.counted { [handle = new.handle] in handle.remove(observer: number) })
        guard loading == .ifNeeded else { return true }
        let next = resource.targetEnvironment(new, after: environment)
        do throws(RequestFailure) {
            try resource.source.service.checkAdopted(environment)
        } catch {
            target = nil
            return false
        }
        new.loadForObserver(in: next)
        return true
    }
}
