import Synchronization

/// A registration that does not retain its object.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types, but for `conversion`, which is a
/// ``WeakConversion`` and says so itself.
@usableFromInline
final class WeakSlot: Slot, @unchecked Sendable {
    /// Untyped, as everything that a search touches; those who know the type know the conversion's.
    @usableFromInline
    weak let object: (any AnyObject & Sendable)?
    /// A ``WeakConversion`` to the slot's type.
    @usableFromInline
    let conversion: AnyObject
    private let fallback: WeakFallback
    /// Whether a resolve has found the object alive. Until then searches have this asked, which tells temporaries from
    /// objects that lived. Relaxed: only a word in a cell depends on it, which the thread that sets it renews afterwards.
    private let wasFound = Atomic<Bool>(false)
    /// Whether it was said that the object was gone from the beginning. Relaxed: of several threads one finds it false.
    private let hasWarned = Atomic<Bool>(false)

    init<Service>(
        _ object: any AnyObject & Sendable, _ conversion: WeakConversion<Service>, name: String?,
        site: RegistrationSite,
        fallback: WeakFallback
    ) {
        self.object = object
        self.conversion = conversion
        self.fallback = fallback
        super.init(type: Service.self, name: name, site: site, kind: .weak, state: .dynamic)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        guard state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        // Loaded once: what is handed out is what was found alive.
        guard let object else {
            warnOfTemporary(owner: owner)
            return provisionWhenGone
        }
        if !wasFound.load(ordering: .relaxed) {
            wasFound.store(true, ordering: .relaxed)
            owner.table.renew(self)
        }
        func fill<Service>(_ type: Service.Type) {
            memory.initializeMemory(as: type, to: service(of: type, from: object))
        }
        _openExistential(type, do: fill)
        return .provided
    }

    /// The object as the slot's type. Inlined into the caller's module, which knows the type.
    @inlinable @inline(__always)
    func service<Service>(of type: Service.Type, from object: any AnyObject & Sendable) -> Service {
        // Who made the slot's key of the type made its conversion of it. Not retained: the slot does.
        Unmanaged.passUnretained(unsafeDowncast(conversion, to: WeakConversion<Service>.self))
            ._withUnsafeGuaranteedRef { $0.convert(object) }
    }

    override var canAnswerAtOnce: Bool { wasFound.load(ordering: .relaxed) }

    /// Says once that the object was gone before anybody resolved it.
    private func warnOfTemporary(owner: ServiceLocator) {
        guard !wasFound.load(ordering: .relaxed), !hasWarned.exchange(true, ordering: .relaxed) else { return }
        ServiceLocatorError.neverFound(label(in: owner), site: site).warn()
    }

    override var provisionWhenGone: Provision { fallback == .parent ? .absent : .missing }

    override var isGone: Bool { object == nil }

    override func stored() -> Any? {
        guard let object else { return nil }
        func convert<Service>(_ type: Service.Type) -> Any { service(of: type, from: object) }
        return _openExistential(type, do: convert)
    }
}

/// What makes a service of a weakly registered object.
///
/// Returned and not written through a pointer, so that a resolve passes it on to its caller without moving it.
@usableFromInline
final class WeakConversion<Service>: Sendable {
    @usableFromInline
    let convert: @Sendable (consuming any AnyObject & Sendable) -> Service

    @inlinable
    init(_ convert: @escaping @Sendable (consuming any AnyObject & Sendable) -> Service) { self.convert = convert }
}
