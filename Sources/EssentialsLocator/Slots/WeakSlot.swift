import EssentialsTools

/// A registration that does not retain its object.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types and atomics.
final class WeakSlot: Slot, @unchecked Sendable {
    /// Initializes memory for a service with the object, which it consumes.
    typealias Conversion = @Sendable (consuming any AnyObject & Sendable, UnsafeMutableRawPointer) -> Void

    private weak let object: (any AnyObject & Sendable)?
    private let convert: Conversion
    private let fallback: WeakFallback
    /// Whether the service was resolved, so that no warning is due any more. Relaxed ordering is enough, because no
    /// other state depends on it.
    private let wasResolved = Atomic<Bool>(false)

    init<Service>(
        _ object: any AnyObject & Sendable, as type: Service.Type, name: String?, site: RegistrationSite,
        fallback: WeakFallback, _ convert: @escaping Conversion
    ) {
        self.object = object
        self.convert = convert
        self.fallback = fallback
        super.init(type: type, name: name, site: site, kind: .weak, state: .dynamic)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        guard state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        // Loaded once: the object that was found alive is the one that is returned.
        guard let object else {
            warnOfTemporary(owner: owner)
            return provisionWhenGone
        }
        if !wasResolved.load(ordering: .relaxed) { wasResolved.store(true, ordering: .relaxed) }
        convert(object, memory)
        return .provided
    }

    /// Warns once if the object was released before any resolve found it.
    private func warnOfTemporary(owner: ServiceLocator) {
        guard !wasResolved.exchange(true, ordering: .relaxed) else { return }
        owner.warn(.neverFound(label(in: owner), site: site))
    }

    override var provisionWhenGone: Provision { fallback == .parent ? .absent : .missing }

    override var isGone: Bool { object == nil }

    override func stored() -> Any? {
        guard let object else { return nil }
        func convert<Service>(_ type: Service.Type) -> Any {
            withUnsafeTemporaryAllocation(of: type, capacity: 1) { buffer in
                let memory = buffer.baseAddress!
                self.convert(object, memory)
                return memory.move()
            }
        }
        return _openExistential(type, do: convert)
    }
}
