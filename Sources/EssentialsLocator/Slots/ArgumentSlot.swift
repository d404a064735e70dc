import Synchronization

/// A registration that builds a new service at each resolve, from arguments that the resolve brings.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
final class ArgumentSlot: Slot, @unchecked Sendable {
    /// Puts what it builds from the arguments into the memory of the one who resolves.
    private typealias Build = @Sendable (ServiceLocator, UnsafeRawPointer, UnsafeMutableRawPointer) throws -> Void

    private let build: Build
    private let argumentsType: ObjectIdentifier
    private let takes: @Sendable () -> String
    private let origin: TransientOrigin
    // With arguments a service may well need another one of its kind, such as a node of a tree its children.
    private let run = TransientRun(maximumDepth: 256)

    init<Service: Sendable, each Argument>(
        _ type: Service.Type, name: String?, site: RegistrationSite, origin: TransientOrigin,
        factory: @escaping @Sendable (ServiceLocator, repeat each Argument) throws -> Service
    ) {
        build = { locator, arguments, memory in
            // Only called with arguments of `argumentsType`.
            let typed = arguments.assumingMemoryBound(to: (repeat each Argument).self).pointee
            memory.initializeMemory(as: Service.self, to: try factory(locator, repeat each typed))
        }
        argumentsType = ObjectIdentifier((repeat each Argument).self)
        takes = { ArgumentTuple.names(repeat (each Argument).self) }
        self.origin = origin
        super.init(type: type, name: name, site: site, kind: .transient, state: .dynamic)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        guard state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        throw .argumentMismatch(self, in: owner, takes: takes(), given: "none")
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator,
        arguments: ArgumentTuple
    ) throws(ServiceLocatorError) -> Provision {
        guard state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        // A type has one identity, so memory of a type with the same is memory of this type.
        guard ObjectIdentifier(arguments.type) == argumentsType else {
            throw .argumentMismatch(self, in: owner, takes: takes(), given: arguments.names())
        }
        try run.build(self, owner: owner) {
            try build(origin == .owner ? owner : requester, arguments.memory, memory)
        }
        return .provided
    }
}
