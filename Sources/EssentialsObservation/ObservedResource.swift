public import EssentialsResources
import EssentialsTools
public import Observation

/// The state of a resource for code that uses the `Observation` module.
///
/// ```swift
/// @MainActor final class CartView {
///     let cart = ObservedResource(shop.cart, loading: .ifNeeded)
///
///     func draw() {
///         withObservationTracking {
///             title.show(cart.content?.name, isBusy: cart.isLoading)
///         } onChange: {
///             Task { @MainActor in self.draw() }
///         }
///     }
/// }
/// ```
///
/// Each property is tracked for itself: code that has read only ``content`` is not called when a load begins. A change is
/// applied at once to all properties, and tracking code is called before it, as `Observation` does.
///
/// The properties can be read anywhere. They change on the actor that was given to
/// ``init(_:loading:reportingProgress:isolation:)``, so code on that actor sees no change between two of its suspensions. Without an actor
/// they change on the thread that changes the resource, and tracking code is called there. The state of an account or
/// environment that was left is not shown any more, also before its change has reached the actor.
///
/// The object counts as an observer of the resource and keeps it in memory. The observation ends with the object.
public final class ObservedResource<Content: Sendable>: Observable, Sendable {
    /// The observed resource.
    public let resource: Resource<Content>
    private let registrar = ObservationRegistrar()
    private let current: Mutex<ResourceState<Content>>
    private let observation = Mutex<ResourceObservation?>(nil)

    /// Observes a resource.
    ///
    /// - Parameters:
    ///   - resource: The resource. Its present state is there at once.
    ///   - loading: Whether the resource is also loaded.
    ///   - reportingProgress: Whether ``progress`` is measured.
    ///   - isolation: The actor on which the properties change; by default that of the caller. Up to 1,024 changes wait for
    ///     it; beyond that only the newest is applied.
    public init(
        _ resource: Resource<Content>, loading: ObserverLoading = .none, reportingProgress: Bool = false,
        isolation: (any Actor)? = #isolation
    ) {
        self.resource = resource
        current = Mutex(resource.state)
        let observation =
            if let isolation {
                resource.observe(reportingProgress: reportingProgress) { [weak self] change in
                    await self?.apply(change, on: isolation)
                }
            } else {
                resource.observeSynchronously(reportingProgress: reportingProgress) { [weak self] change in
                    self?.apply(change)
                }
            }
        self.observation.withLock { $0 = observation }
        if loading == .ifNeeded { resource.loadForObserver() }
    }

    // MARK: State

    /// The whole state. It changes with each event.
    public var state: ResourceState<Content> {
        registrar.access(self, keyPath: \.state)
        return shown
    }

    /// The content; `nil` if nothing was loaded, or if it could not be read as this type.
    public var content: Content? {
        registrar.access(self, keyPath: \.content)
        return shown.content
    }

    /// Why the last load failed, or why its content could not be read as this type; `nil` after a success.
    public var failure: RequestFailure? {
        registrar.access(self, keyPath: \.failure)
        return shown.failure
    }

    /// Whether a load is running.
    public var isLoading: Bool {
        registrar.access(self, keyPath: \.isLoading)
        return shown.isLoading
    }

    /// The progress of the newest load that runs, from 0 to 1; see `ResourceState.progress`.
    public var progress: Double? {
        registrar.access(self, keyPath: \.progress)
        return shown.progress
    }

    /// Whether the content was marked as outdated and not been loaded since.
    public var isInvalid: Bool {
        registrar.access(self, keyPath: \.isInvalid)
        return shown.isInvalid
    }

    /// The state that the properties show.
    private var shown: ResourceState<Content> {
        let state = current.withLock { $0 }
        return resource.isPresent(state) ? state : resource.state
    }

    // MARK: Changes

    private func apply(_ change: ResourceChange<Content>, on actor: isolated any Actor) { apply(change) }

    private func apply(_ change: ResourceChange<Content>) {
        let (old, new) = (current.withLock { $0 }, change.state)
        // The state was read before the observation began, so the first change may be no news. One that has waited for the
        // actor may belong to an account that was left.
        guard new.version > old.version, resource.isPresent(new) else { return }
        let changed = Self.parts(of: change, since: old)
        registrar.willSet(self, keyPath: \.state)
        if changed.contains(.content) { registrar.willSet(self, keyPath: \.content) }
        if changed.contains(.failure) { registrar.willSet(self, keyPath: \.failure) }
        if changed.contains(.isLoading) { registrar.willSet(self, keyPath: \.isLoading) }
        if changed.contains(.isInvalid) { registrar.willSet(self, keyPath: \.isInvalid) }
        if changed.contains(.progress) { registrar.willSet(self, keyPath: \.progress) }
        // The old content may end here, outside the lock.
        let replaced = current.withLock { current in
            defer { current = new }
            return current
        }
        _ = consume replaced
        if changed.contains(.progress) { registrar.didSet(self, keyPath: \.progress) }
        if changed.contains(.isInvalid) { registrar.didSet(self, keyPath: \.isInvalid) }
        if changed.contains(.isLoading) { registrar.didSet(self, keyPath: \.isLoading) }
        if changed.contains(.failure) { registrar.didSet(self, keyPath: \.failure) }
        if changed.contains(.content) { registrar.didSet(self, keyPath: \.content) }
        registrar.didSet(self, keyPath: \.state)
    }

    private struct Parts: OptionSet {
        let rawValue: UInt8
        static var content: Parts { Parts(rawValue: 1) }
        static var failure: Parts { Parts(rawValue: 2) }
        static var isLoading: Parts { Parts(rawValue: 4) }
        static var isInvalid: Parts { Parts(rawValue: 8) }
        static var progress: Parts { Parts(rawValue: 16) }
    }

    /// The parts of the state that a change has changed. After missed changes, content and failure count as changed.
    private static func parts(of change: ResourceChange<Content>, since old: ResourceState<Content>) -> Parts {
        var parts: Parts = change.missed > 0 ? [.content, .failure] : []
        switch change.event {
        case .attached: parts.formUnion([.content, .failure])
        case .newContent, .wiped: parts.insert(.content)
        case .failed: parts.insert(.failure)
        default: break
        }
        let new = change.state
        if (old.failure == nil) != (new.failure == nil) { parts.insert(.failure) }
        if old.isLoading != new.isLoading { parts.insert(.isLoading) }
        if old.isInvalid != new.isInvalid { parts.insert(.isInvalid) }
        if old.progress != new.progress { parts.insert(.progress) }
        return parts
    }
}
