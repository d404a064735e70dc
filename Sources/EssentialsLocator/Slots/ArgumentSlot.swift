/// A registration that builds a new service at each resolve, from arguments that the resolve brings.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
final class ArgumentSlot<Service: Sendable, each Argument>: ServiceSlot<Service>, @unchecked Sendable {
    typealias Factory = @Sendable (ServiceLocator, repeat each Argument) throws -> Service

    private let origin: TransientOrigin
    private let factory: Factory
    private let argumentsType = ObjectIdentifier((repeat each Argument).self)
    // With arguments a service may well need another one of its kind, such as a node of a tree its children.
    private let run = TransientRun(maximumDepth: 256)

    init(name: String?, site: RegistrationSite, origin: TransientOrigin, factory: @escaping Factory) {
        self.origin = origin
        self.factory = factory
        super.init(name: name, site: site, kind: .transient, state: .dynamic)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        throw .argumentMismatch(self, in: owner, takes: takes, given: "none")
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator,
        arguments: ArgumentTuple
    ) throws(ServiceLocatorError) -> Provision {
        guard ObjectIdentifier(arguments.type) == argumentsType else {
            throw .argumentMismatch(self, in: owner, takes: takes, given: arguments.names())
        }
        let source = origin == .owner ? owner : requester
        try run.build(self, owner: owner) {
            // Metadata is unique, so memory of a type with the same identity is memory of this type.
            let typed = arguments.memory.assumingMemoryBound(to: (repeat each Argument).self).pointee
            memory.initializeMemory(as: Service.self, to: try factory(source, repeat each typed))
        }
        return .provided
    }

    private var takes: String { ArgumentTuple.names(repeat (each Argument).self) }
}
