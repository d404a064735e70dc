/// A registration that builds a new service at each resolve.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
final class TransientSlot: Slot, @unchecked Sendable {
    /// Puts what it builds into the memory of the one who resolves.
    private let build: @Sendable (ServiceLocator, UnsafeMutableRawPointer) throws -> Void
    private let origin: TransientOrigin
    private let run = TransientRun(maximumDepth: 1)

    init<Service: Sendable>(
        _ type: Service.Type, name: String?, site: RegistrationSite, origin: TransientOrigin,
        factory: @escaping @Sendable (ServiceLocator) throws -> Service
    ) {
        build = { locator, memory in memory.initializeMemory(as: Service.self, to: try factory(locator)) }
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
