import Synchronization

/// One registration of a service type: the service, or the factory that will build it.
///
/// `@unchecked Sendable`: `storage` is the only unprotected state. It is written once, before `state` becomes `ready`
/// with release ordering, and read only after `ready` was seen with acquire ordering; from then on it is constant
/// until `deinit`. Exactly one thread writes it: for a strong registration the one that runs `init`, for a lazy one
/// the thread whose attempt the ledger admitted. `Service` is `Sendable`, so any thread may copy it out.
final class ServiceSlot<Service: Sendable>: Slot, @unchecked Sendable {
    typealias Factory = @Sendable (ServiceLocator) throws -> Service

    /// Kept until it succeeds or the registration is removed.
    private let factory: Mutex<Factory?>

    /// A strong registration.
    init(_ service: Service, name: String?, site: RegistrationSite) {
        let storage = UnsafeMutablePointer<Service>.allocate(capacity: 1)
        storage.initialize(to: service)
        factory = Mutex(nil)
        super.init(key: ServiceKey(Service.self, name: name), site: site, state: .ready, storage: storage)
    }

    /// A lazy registration.
    init(name: String?, site: RegistrationSite, factory: @escaping Factory) {
        let storage = UnsafeMutablePointer<Service>.allocate(capacity: 1)
        self.factory = Mutex(factory)
        super.init(key: ServiceKey(Service.self, name: name), site: site, state: .pending, storage: storage)
    }

    deinit {
        if isReady {
            typedStorage.deinitialize(count: 1)
        }
        typedStorage.deallocate()
    }

    /// Bound to `Service` by both initializers.
    private var typedStorage: UnsafeMutablePointer<Service> { storage.assumingMemoryBound(to: Service.self) }

    /// The service, nil while it is not built.
    var service: Service? { isReady ? typedStorage.pointee : nil }

    /// The factory to run, nil when it has succeeded or was withdrawn.
    var pendingFactory: Factory? { factory.withLock { $0 } }

    /// Stores what the factory built. Called once, by the admitted thread.
    func publish(_ service: Service) {
        typedStorage.initialize(to: service)
        // Releases the write above to everybody who reads `ready` with acquire ordering.
        state.store(.ready, ordering: .releasing)
        withdraw()
    }

    override var typeName: String { String(reflecting: Service.self) }

    override func holds<Other>(_ type: Other.Type) -> Bool {
        guard let service else { return false }
        return service is Other
    }

    override func withdraw() {
        // Taken out under the lock and released after it: captured values run their own code when they go.
        _ = factory.withLock { current in
            let taken = current
            current = nil
            return taken
        }
    }
}
