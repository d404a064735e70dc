/// A registration that builds a new service at each resolve, from arguments that the resolve brings.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
final class ArgumentSlot<Service: Sendable, each Argument>: ServiceSlot<Service>, @unchecked Sendable {
    typealias Factory = @Sendable (ServiceLocator, repeat each Argument) throws -> Service

    private let origin: TransientOrigin
    private let factory: Factory
    // With arguments a service may well need another one of its kind, such as a node of a tree its children.
    private let run = TransientRun(maximumDepth: 256)

    init(name: String?, site: RegistrationSite, origin: TransientOrigin, factory: @escaping Factory) {
        self.origin = origin
        self.factory = factory
        super.init(name: name, site: site, kind: .transient, state: .dynamic)
    }

    override func provide(
        owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision<Service> {
        throw .argumentMismatch(self, in: owner, takes: takes, given: "none")
    }

    override func provide(
        owner: ServiceLocator, requester: ServiceLocator, arguments: Any, names: String
    ) throws(ServiceLocatorError) -> Provision<Service> {
        guard let typed = arguments as? (repeat each Argument) else {
            throw .argumentMismatch(self, in: owner, takes: takes, given: names)
        }
        let source = origin == .owner ? owner : requester
        return .service(try run.build(self, owner: owner) { try factory(source, repeat each typed) })
    }

    private var takes: String { argumentNames(repeat (each Argument).self) }
}

/// The types of a factory's arguments, as errors show them.
func argumentNames<each Argument>(_ types: repeat (each Argument).Type) -> String {
    var names: [String] = []
    for type in repeat each types { names.append(String(reflecting: type)) }
    return names.isEmpty ? "none" : names.joined(separator: ", ")
}
