/// A registration that builds a new service at each resolve.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types, but for `factory`, which is a
/// ``TransientFactory`` and says so itself.
@usableFromInline
final class TransientSlot: Slot, @unchecked Sendable {
    /// A ``TransientFactory`` of the slot's type.
    @usableFromInline
    let factory: AnyObject
    private let origin: TransientOrigin
    private let run = TransientRun(maximumDepth: 1)

    init<Service>(
        _ factory: TransientFactory<Service>, name: String?, site: RegistrationSite, origin: TransientOrigin
    ) {
        self.factory = factory
        self.origin = origin
        super.init(type: Service.self, name: name, site: site, kind: .transient, state: .dynamic)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        func build<Service>(_ type: Service.Type) throws {
            memory.initializeMemory(as: type, to: try make(type, from: origin == .owner ? owner : requester))
        }
        try run.build(self, owner: owner) { try _openExistential(type, do: build) }
        return .provided
    }

    override var canAnswerAtOnce: Bool { run.isTraced }

    // MARK: At once

    /// Builds without a word to graphs, which know by now what the factory resolves. Inlined into the caller's module,
    /// which knows the type. Throws what ``failure(_:for:)`` makes an error of.
    @inlinable @inline(__always)
    func service<Service>(of type: Service.Type, for requester: ServiceLocator) throws -> Service {
        try withUnsafePointer(to: try frame(for: requester)) { frame in
            BuildFrame.enter(frame)
            defer { BuildFrame.leave(frame) }
            return try frame.pointee.receiver._withUnsafeGuaranteedRef { try make(type, from: $0) }
        }
    }

    /// The frame to build in, unless that would be a round without end.
    @usableFromInline @inline(never)
    func frame(for requester: ServiceLocator) throws(ServiceLocatorError) -> BuildFrame {
        // Whoever found this slot found its owner, which outlives it.
        let owner = owner ?? .passUnretained(requester)
        let outer = BuildFrame.current
        if outer != nil, let path = owner._withUnsafeGuaranteedRef({ run.path(self, owner: $0, inside: outer) }) {
            throw .cycle(self, path: path)
        }
        return BuildFrame(
            slot: .passUnretained(self), owner: owner, previous: outer,
            receiver: origin == .owner ? owner : .passUnretained(requester))
    }

    /// What a resolve fails with when building at once threw: cycles as they are.
    @usableFromInline @inline(never)
    func failure(_ error: any Error, for requester: ServiceLocator) -> ServiceLocatorError {
        .construction(self, in: owner?.takeUnretainedValue() ?? requester, failedWith: error)
    }

    @inlinable @inline(__always)
    func make<Service>(_ type: Service.Type, from locator: ServiceLocator) throws -> Service {
        // Who made the slot's key of the type made its factory of it. Not retained: the slot does.
        try Unmanaged.passUnretained(unsafeDowncast(factory, to: TransientFactory<Service>.self))
            ._withUnsafeGuaranteedRef { try $0.make(locator) }
    }

    override func check(owner: ServiceLocator) async -> ServiceLocatorError? { trial(owner: owner) }
}

/// What builds a service at each resolve.
///
/// Returned and not written through a pointer, so that a resolve passes it on to its caller without moving it.
@usableFromInline
final class TransientFactory<Service>: Sendable {
    @usableFromInline
    let make: @Sendable (ServiceLocator) throws -> Service

    @inlinable
    init(_ make: @escaping @Sendable (ServiceLocator) throws -> Service) { self.make = make }
}
