internal import EssentialsLocator
internal import Figures
internal import Glibc
internal import ThreadCounters

#if LOCATOR_PEERS
    internal import Swinject
#endif

/// One of the services of a program's bootstrap.
///
/// What is done with it is required of each class, so that the compiler makes it for each class, as it does of a
/// program's own calls, which name theirs. In code that is generic over services, the runtime looks up what the compiler
/// knows here, which takes about as long as all the rest.
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

/// How long a program's bootstrap takes that registers 1,000 services, each as a type of its own, and resolves each once.
///
/// Counted is all that happens for the first time in the process: the runtime makes what the locator needs for each of
/// the types, the services are allocated, the table grows, pages are touched. Not counted is what comes before: loading
/// the program and its libraries.
struct ColdStart {
    /// What the services are registered as.
    enum Kind: String, CaseIterable {
        /// Each as its own class, whose metadata is in the program's file.
        case classes
        /// Nothing is registered: the runtime makes the types that the next kind cannot do without.
        case types
        /// Each as a protocol of its own, as programs do.
        case protocols

        /// What the report calls it.
        var name: String {
            switch self {
            case .classes: "as their classes"
            case .types: "floor: the protocols' types alone"
            case .protocols: "as their protocols"
            }
        }
    }

    /// Thread CPU time of registering and resolving, in milliseconds.
    let milliseconds: Double
    /// The same in wall-clock time.
    let wallMilliseconds: Double
    /// Thread CPU time of making as many services and keeping them, without a locator, before that.
    let objectsMilliseconds: Double

    /// Measures in this process, which must not have used the types before.
    static func measureHere(_ kind: Kind) throws -> ColdStart {
        // The list of the types stands for a program's own calls, so making it is not part of the bootstrap.
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
        // A program does not tear its locator down either.
        withExtendedLifetime(locator) {}
        return ColdStart(
            milliseconds: Double(spent) / 1e6, wallMilliseconds: Double(wallSpent) / 1e6,
            objectsMilliseconds: objects)
    }

    /// The median of what so many new processes measure.
    static func measure(_ kind: Kind, inNewProcesses count: Int) throws -> ColdStart {
        let runs = try (0..<count).map { _ in try measureInNewProcess(kind) }
        return ColdStart(
            milliseconds: median(runs.map(\.milliseconds)), wallMilliseconds: median(runs.map(\.wallMilliseconds)),
            objectsMilliseconds: median(runs.map(\.objectsMilliseconds)))
    }

    /// One line that `measureInNewProcess(_:)` reads.
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
        // Of one type, because those of the others are to be new to the process below.
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

    /// What a program of few words writes on its standard output.
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
