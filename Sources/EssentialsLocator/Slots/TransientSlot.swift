/// A registration that builds a new service at each resolve.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
final class TransientSlot<Service: Sendable>: ServiceSlot<Service>, @unchecked Sendable {
    typealias Factory = @Sendable (ServiceLocator) throws -> Service

    private let origin: TransientOrigin
    private let factory: Factory
    private let run = TransientRun(maximumDepth: 1)

    init(name: String?, site: RegistrationSite, origin: TransientOrigin, factory: @escaping Factory) {
        self.origin = origin
        self.factory = factory
        super.init(name: name, site: site, kind: .transient, state: .dynamic)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        let source = origin == .owner ? owner : requester
        try run.build(self, owner: owner) { memory.initializeMemory(as: Service.self, to: try factory(source)) }
        return .provided
    }

    override func check(owner: ServiceLocator) async -> ServiceLocatorError? { trial(owner: owner) }
}
