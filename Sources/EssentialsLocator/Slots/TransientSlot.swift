/// A registration that builds a new service at each resolve.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
final class TransientSlot: Slot, @unchecked Sendable {
    /// Puts what it builds into the memory of the one who resolves.
    private let build: @Sendable (ServiceLocator, UnsafeMutableRawPointer) throws -> Void
    private let origin: TransientOrigin
    private let run = TransientRun(maximumDepth: 1)

    init(
        _ type: Any.Type, name: String?, site: RegistrationSite, origin: TransientOrigin,
        build: @escaping @Sendable (ServiceLocator, UnsafeMutableRawPointer) throws -> Void
    ) {
        self.build = build
        self.origin = origin
        super.init(type: type, name: name, site: site, kind: .transient, state: .dynamic)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        if origin == .owner {
            try run.build(self, owner: owner) { try build(owner, memory) }
        } else {
            try run.build(self, owner: owner) { try build(requester, memory) }
        }
        return .provided
    }

    override func check(owner: ServiceLocator) async -> ServiceLocatorError? { trial(owner: owner) }
}
