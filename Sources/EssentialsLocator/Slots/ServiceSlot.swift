import Synchronization

/// A registration of a known type. By itself a strong one: the service is there from the beginning.
///
/// `@unchecked Sendable`: `storage` is the only unprotected state. It is written once, before `state` becomes `ready`
/// with release ordering, and read only after `ready` was seen with acquire ordering; from then on it is constant
/// until `deinit`. Exactly one thread writes it: for a strong registration the one that runs `init`, for others the
/// one whose attempt was admitted. `Service` is `Sendable`, so any thread may copy it out.
class ServiceSlot<Service: Sendable>: Slot, @unchecked Sendable {
    /// A strong registration.
    init(_ service: Service, name: String?, site: RegistrationSite) {
        let storage = UnsafeMutablePointer<Service>.allocate(capacity: 1)
        storage.initialize(to: service)
        super.init(
            key: ServiceKey(Service.self, name: name), site: site, kind: .strong, state: .ready, storage: storage)
        markStored()
    }

    /// For subclasses whose service comes later, or never.
    init(name: String?, site: RegistrationSite, kind: ServiceGraph.Kind, state: State) {
        super.init(
            key: ServiceKey(Service.self, name: name), site: site, kind: kind, state: state,
            storage: UnsafeMutablePointer<Service>.allocate(capacity: 1))
    }

    deinit {
        if isStored { typedStorage.deinitialize(count: 1) }
        typedStorage.deallocate()
    }

    /// Bound to `Service` by both initializers.
    final var typedStorage: UnsafeMutablePointer<Service> { storage.assumingMemoryBound(to: Service.self) }

    /// The service, nil while none is stored.
    final var service: Service? { isStored ? typedStorage.pointee : nil }

    /// Stores what was built. Called once, by who was admitted.
    final func store(_ service: Service) {
        typedStorage.initialize(to: service)
        markStored()
    }

    // MARK: What kinds differ in

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        guard isReady else { throw .closed(owner) }
        copy(into: memory)
        return .provided
    }

    /// Copies the stored service.
    final func copy(into memory: UnsafeMutableRawPointer) {
        memory.initializeMemory(as: Service.self, from: typedStorage, count: 1)
    }

    /// The service for a task that can wait; what `provide` says if it is not provided.
    func provideAsync(
        owner: ServiceLocator, requester: ServiceLocator
    ) async throws(ServiceLocatorError) -> (Service?, Provision) {
        var provision = Provision.absent
        let service = try ServiceMemory.fill(Service.self) { memory throws(ServiceLocatorError) in
            provision = try provide(into: memory, owner: owner, requester: requester)
            return provision == .provided
        }
        return (service, provision)
    }

    /// What a resolve fails with; the service is dropped.
    final func trial(owner: ServiceLocator) -> ServiceLocatorError? {
        do throws(ServiceLocatorError) {
            _ = try ServiceMemory.fill(Service.self) { memory throws(ServiceLocatorError) in
                try provide(into: memory, owner: owner, requester: owner) == .provided
            }
            return nil
        } catch {
            return error
        }
    }

    override var typeName: String { Self.serviceTypeName }

    static var serviceTypeName: String {
        if let box = Service.self as? any MainActorBoxing.Type { return "\(box.boxedTypeName) (main actor)" }
        return String(reflecting: Service.self)
    }

    override func holds<Other>(_ type: Other.Type) -> Bool {
        guard let service else { return false }
        return service is Other
    }

    override var closeable: (any Closeable)? {
        guard let service else { return nil }
        if let box = service as? any MainActorBoxing { return box.boxed as? any Closeable }
        return service as? any Closeable
    }
}
