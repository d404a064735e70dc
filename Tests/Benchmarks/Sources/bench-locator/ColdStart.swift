internal import EssentialsLocator
internal import Figures
internal import Glibc
internal import ThreadCounters

#if LOCATOR_PEERS
    internal import Swinject
#endif

/// One of the services of a program's bootstrap.
///
/// The methods are required of each class, so that the compiler specializes them for each class, as it does for the
/// calls of a program, which name their classes. In code that is generic over services, the runtime would look up what
/// the compiler knows here, which takes about as long as everything else.
protocol ColdService: AnyObject, Sendable {
    init()

    static func register(in locator: ServiceLocator) throws
    func register(in locator: ServiceLocator) throws
    static func registerLazy(in locator: ServiceLocator) throws
    static func resolve(from locator: ServiceLocator) throws

    #if LOCATOR_PEERS
        func register(in container: Container)
        static func registerLazy(in container: Container)
        static func resolve(from container: Container) throws
    #endif
}

extension ColdService {
    static func register(in locator: ServiceLocator) throws {
        try locator.register(Self(), as: Self.self)
    }

    func register(in locator: ServiceLocator) throws {
        try locator.register(self, as: Self.self)
    }

    static func registerLazy(in locator: ServiceLocator) throws {
        try locator.registerLazy(Self.self) { _ in Self() }
    }

    static func resolve(from locator: ServiceLocator) throws {
        consume(try locator.resolve(Self.self) as AnyObject)
    }
}

/// The time for a program's bootstrap that registers 1,000 services, each with its own type, and resolves each once.
///
/// It includes everything that happens for the first time in the process: the runtime creates the metadata that the
/// locator needs for each type, the services are allocated, the table grows, and pages are touched. It does not include
/// loading the program and its libraries.
struct ColdStart {
    /// The kind of type under which the services are registered.
    enum Kind: String, CaseIterable {
        /// Each service as its own class, whose metadata is in the program's file.
        case classes
        /// Nothing is registered: the runtime creates the types that the next kind needs.
        case types
        /// Each service as its own protocol, as in most programs.
        case protocols

        /// The name in the report.
        var name: String {
            switch self {
            case .classes: "as their classes"
            case .types: "floor: the protocols' types alone"
            case .protocols: "as their protocols"
            }
        }
    }

    /// Thread CPU time for registering and resolving, in milliseconds.
    let milliseconds: Double
    /// Wall-clock time for registering and resolving, in milliseconds.
    let wallMilliseconds: Double
    /// Thread CPU time for creating and keeping the same number of services without a locator, measured before.
    let objectsMilliseconds: Double

    /// Measures in this process, which must not have used the types before.
    static func measureHere(_ kind: Kind) throws -> ColdStart {
        // The list of types replaces a program's own calls, so creating it is not part of the bootstrap.
        let types = ColdServices.all
        let objects = objectsAlone(types.count)
        let wall = monotonic_nanoseconds()
        let start = thread_cpu_nanoseconds()
        let locator = ServiceLocator(name: "cold")
        switch kind {
        case .classes:
            for type in types { try type.register(in: locator) }
            for type in types { try type.resolve(from: locator) }
        case .types: ColdBootstrap.nameTypes()
        case .protocols:
            try ColdBootstrap.register(in: locator)
            try ColdBootstrap.resolve(from: locator)
        }
        let spent = thread_cpu_nanoseconds() - start
        let wallSpent = monotonic_nanoseconds() - wall
        // A program does not release its locator either.
        withExtendedLifetime(locator) {}
        return ColdStart(
            milliseconds: Double(spent) / 1e6, wallMilliseconds: Double(wallSpent) / 1e6,
            objectsMilliseconds: objects)
    }

    /// The median of the measurements of `count` new processes.
    static func measure(_ kind: Kind, inNewProcesses count: Int) throws -> ColdStart {
        let runs = try (0..<count).map { _ in try measureInNewProcess(kind) }
        return ColdStart(
            milliseconds: median(runs.map(\.milliseconds)), wallMilliseconds: median(runs.map(\.wallMilliseconds)),
            objectsMilliseconds: median(runs.map(\.objectsMilliseconds)))
    }

    /// One line, which `measureInNewProcess(_:)` parses.
    var line: String {
        "cold=\(fixed(milliseconds, 3)) ms, wall=\(fixed(wallMilliseconds, 3)) ms, "
            + "objects=\(fixed(objectsMilliseconds, 3)) ms"
    }

    private init(milliseconds: Double, wallMilliseconds: Double, objectsMilliseconds: Double) {
        self.milliseconds = milliseconds
        self.wallMilliseconds = wallMilliseconds
        self.objectsMilliseconds = objectsMilliseconds
    }

    private init?(line: String) {
        let values = line.split(whereSeparator: { $0 == "=" || $0 == " " }).compactMap { Double($0) }
        guard line.hasPrefix("cold="), values.count == 3 else { return nil }
        self.init(milliseconds: values[0], wallMilliseconds: values[1], objectsMilliseconds: values[2])
    }

    private static func objectsAlone(_ count: Int) -> Double {
        let start = thread_cpu_nanoseconds()
        // All are of one type, because the other types must still be new in the measured part.
        var services: [PlainService] = []
        for number in 0..<count { services.append(PlainService(number: number)) }
        for service in services { consume(service as AnyObject) }
        let spent = thread_cpu_nanoseconds() - start
        withExtendedLifetime(services) {}
        return Double(spent) / 1e6
    }

    private static func measureInNewProcess(_ kind: Kind) throws -> ColdStart {
        let output = try output(of: "/proc/self/exe", ["bench-locator", "cold", kind.rawValue])
        guard let result = ColdStart(line: output) else { throw BenchmarkError("the cold process said: \(output)") }
        return result
    }

    /// The short standard output of a program.
    private static func output(of program: String, _ arguments: [String]) throws -> String {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BenchmarkError("no pipe: \(errno)") }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let status = posix_spawn(&process, program, &actions, nil, &words, environ)
        close(ends[1])
        guard status == 0 else { throw BenchmarkError("cannot run \(program): \(status)") }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { read(ends[0], $0.baseAddress! + count, $0.count - count) }
            if got <= 0 { break }
            count += got
        }
        var ending: Int32 = 0
        waitpid(process, &ending, 0)
        guard ending == 0 else { throw BenchmarkError("\(program) failed") }
        return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
