import EssentialsTools

/// A registration that builds a new service at each resolve, with or without arguments.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
final class TransientSlot: Slot, @unchecked Sendable {
    /// A factory that initializes the memory of its last argument with a new service.
    private enum Factory {
        case plain(@Sendable (ServiceLocator, UnsafeMutableRawPointer) throws -> Void)
        /// A factory that takes a tuple of arguments of this type.
        case withArguments(
            ObjectIdentifier, @Sendable (ServiceLocator, UnsafeRawPointer, UnsafeMutableRawPointer) throws -> Void)
    }

    private let factory: Factory
    /// The types of the arguments as errors show them.
    private let argumentNames: @Sendable () -> String
    private let origin: TransientOrigin
    /// From this number of factories on that one thread runs inside each other, the factory does not run inside itself.
    private let maximumDepth: Int
    /// Whether the resolves of a successful run were recorded for graphs. Relaxed ordering is enough: a thread that reads
    /// an old value records them once more, which changes nothing.
    private let isTraced = Atomic<Bool>(false)

    init<Service: Sendable>(
        _ type: Service.Type, name: String?, site: RegistrationSite, origin: TransientOrigin,
        factory: @escaping @Sendable (ServiceLocator) throws -> Service
    ) {
        self.factory = .plain { locator, memory in
            memory.initializeMemory(as: Service.self, to: try factory(locator))
        }
        argumentNames = { "none" }
        self.origin = origin
        // A factory without arguments that needs its own service would never end.
        maximumDepth = 1
        super.init(type: type, name: name, site: site, kind: .transient, state: .dynamic)
    }

    init<Service: Sendable, each Argument>(
        _ type: Service.Type, name: String?, site: RegistrationSite, origin: TransientOrigin,
        factoryWithArguments factory: @escaping @Sendable (ServiceLocator, repeat each Argument) throws -> Service
    ) {
        self.factory = .withArguments(ObjectIdentifier((repeat each Argument).self)) { locator, arguments, memory in
            let typed = arguments.assumingMemoryBound(to: (repeat each Argument).self).pointee
            memory.initializeMemory(as: Service.self, to: try factory(locator, repeat each typed))
        }
        argumentNames = { ArgumentTuple.names(repeat (each Argument).self) }
        self.origin = origin
        // With arguments a service may need others of its kind, such as a node of a tree its children. All factories on the
        // thread count, because each takes some kilobytes of its stack in debug builds.
        maximumDepth = 256
        super.init(type: type, name: name, site: site, kind: .transient, state: .dynamic)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        try build(into: memory, owner: owner, requester: requester, nil)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator,
        arguments: ArgumentTuple
    ) throws(ServiceLocatorError) -> Provision {
        try build(into: memory, owner: owner, requester: requester, arguments)
    }

    private func build(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator,
        _ arguments: ArgumentTuple?
    ) throws(ServiceLocatorError) -> Provision {
        guard state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        let receiver = origin == .owner ? owner : requester
        switch (factory, arguments) {
        case (.plain(let build), nil):
            try run(owner: owner) { try build(receiver, memory) }
        case (.withArguments(let type, let build), let arguments?) where ObjectIdentifier(arguments.type) == type:
            try run(owner: owner) { try build(receiver, arguments.memory, memory) }
        default:
            throw .argumentMismatch(self, in: owner, takes: argumentNames(), given: arguments?.names() ?? "none")
        }
        return .provided
    }

    private func run(owner: ServiceLocator, _ body: () throws -> Void) throws(ServiceLocatorError) {
        let outer = BuildFrame.current
        if outer != nil, let path = cycle(owner: owner, inside: outer) { throw .cycle(self, path: path) }
        let traces = !isTraced.load(ordering: .relaxed)
        if traces { tracedFactories.wrappingAdd(1, ordering: .relaxed) }
        defer { if traces { tracedFactories.wrappingSubtract(1, ordering: .relaxed) } }
        do {
            try BuildFrame.run(self, owner: owner, inside: outer, body)
        } catch {
            throw .construction(self, in: owner, failedWith: error)
        }
        if traces { isTraced.store(true, ordering: .relaxed) }
    }

    /// The path of a cycle, if this thread runs the factory already, and as many factories as are allowed then.
    private func cycle(owner: ServiceLocator, inside outer: UnsafePointer<BuildFrame>?) -> [String]? {
        var (depth, isRunning) = (0, false)
        var next = outer
        while let frame = next {
            depth += 1
            if frame.pointee.slot.toOpaque() == Unmanaged.passUnretained(self).toOpaque() { isRunning = true }
            next = frame.pointee.previous
        }
        guard isRunning, depth >= maximumDepth else { return nil }
        return (BuildFrame.labels(from: self, to: outer) ?? []) + [label(in: owner)]
    }

    override func check(owner: ServiceLocator) async -> ServiceLocatorError? {
        guard case .plain = factory else { return nil }
        return trial(owner: owner)
    }
}

/// The arguments of a resolve, valid for the duration of the call.
struct ArgumentTuple {
    /// The type of the tuple.
    let type: Any.Type
    let memory: UnsafeRawPointer
    /// The types of the arguments as errors show them.
    let names: () -> String

    static func names<each Argument>(_ types: repeat (each Argument).Type) -> String {
        var names: [String] = []
        for type in repeat each types { names.append(String(reflecting: type)) }
        return names.isEmpty ? "none" : names.joined(separator: ", ")
    }
}
