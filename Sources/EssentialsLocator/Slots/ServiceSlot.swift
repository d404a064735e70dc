import Synchronization

/// A registration that retains its service, from the beginning or from some moment on. By itself a strong one.
///
/// Not generic: a class of its own for each service type would cost a program microseconds for each of them when it
/// starts. What knows the type is made where the type is known: the memory, and the closures of subclasses. The rest
/// opens ``type`` where it needs to.
///
/// `@unchecked Sendable`: `storage` is the only unprotected state. It is written once, before `state` becomes `ready`
/// with release ordering, and read only after `ready` was seen with acquire ordering; from then on it is constant
/// until `deinit`. Exactly one thread writes it: for a strong registration the one that runs `init`, for others the
/// one whose attempt was admitted. What it holds is `Sendable`, so any thread may copy it out.
class ServiceSlot: Slot, @unchecked Sendable {
    /// The same as ``storage``, which this kind has.
    final let memory: UnsafeMutableRawPointer

    /// A strong registration.
    init<Service: Sendable>(_ service: Service, name: String?, site: RegistrationSite) {
        let storage = UnsafeMutablePointer<Service>.allocate(capacity: 1)
        storage.initialize(to: service)
        memory = UnsafeMutableRawPointer(storage)
        super.init(type: Service.self, name: name, site: site, kind: .strong, state: .ready, storage: storage)
        markStored()
    }

    /// For subclasses whose service comes later, or never.
    init<Service: Sendable>(
        _ type: Service.Type, name: String?, site: RegistrationSite, kind: ServiceGraph.Kind, state: State
    ) {
        memory = UnsafeMutableRawPointer(UnsafeMutablePointer<Service>.allocate(capacity: 1))
        super.init(type: type, name: name, site: site, kind: kind, state: state, storage: memory)
    }

    deinit {
        func destroy<Service>(_ type: Service.Type) {
            // Bound to the type by both initializers.
            let typed = memory.assumingMemoryBound(to: type)
            if isStored { typed.deinitialize(count: 1) }
            typed.deallocate()
        }
        _openExistential(type, do: destroy)
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
    final func copy(into target: UnsafeMutableRawPointer) {
        func copy<Service>(_ type: Service.Type) {
            target.initializeMemory(as: type, from: memory.assumingMemoryBound(to: type), count: 1)
        }
        _openExistential(type, do: copy)
    }

    /// The stored service of the registered type, nil while there is none.
    final func service<Service>(of type: Service.Type) -> Service? {
        isStored ? memory.assumingMemoryBound(to: type).pointee : nil
    }

    override func stored() -> Any? {
        func load<Service>(_ type: Service.Type) -> Any? { service(of: type) }
        return _openExistential(type, do: load)
    }

    override var closeable: (any Closeable)? {
        let service = stored()
        if let box = service as? any MainActorBoxing { return box.boxed as? any Closeable }
        return service as? any Closeable
    }
}
