internal import EssentialsLocator
internal import Glibc
internal import ThreadCounters

/// How long a program's bootstrap takes that registers 1,000 services of 1,000 types and resolves each once.
///
/// Counted is all that happens for the first time in the process: the runtime makes the metadata of the types and what
/// the locator needs for each of them, the services are allocated, the table grows, pages are touched. Not counted is
/// what comes before: loading the program and its libraries.
struct ColdStart {
    /// Thread CPU time of registering and resolving, in milliseconds.
    let milliseconds: Double
    /// The same in wall-clock time.
    let wallMilliseconds: Double
    /// Thread CPU time of making as many other types and services without a locator, afterwards in the same process.
    let typesMilliseconds: Double

    /// Measures in this process, which must not have used the types before.
    static func measureHere() throws -> ColdStart {
        let wall = monotonic_nanoseconds()
        let start = thread_cpu_nanoseconds()
        let locator = ServiceLocator(name: "cold")
        var types: [any DistinctType.Type] = []
        types.reserveCapacity(DistinctTypes.count)
        try DistinctTypes.forEachTagged { type in
            try type.register(PlainService(), in: locator)
            types.append(type)
        }
        for type in types { try type.resolve(from: locator) }
        let spent = thread_cpu_nanoseconds() - start
        let wallSpent = monotonic_nanoseconds() - wall
        // A program does not tear its locator down either.
        withExtendedLifetime(locator) {}
        return ColdStart(
            milliseconds: Double(spent) / 1e6, wallMilliseconds: Double(wallSpent) / 1e6,
            typesMilliseconds: typesAlone())
    }

    /// The median of what so many new processes measure.
    static func measureInNewProcesses(_ count: Int) throws -> ColdStart {
        let runs = try (0..<count).map { _ in try measureInNewProcess() }
        return ColdStart(
            milliseconds: median(runs.map(\.milliseconds)), wallMilliseconds: median(runs.map(\.wallMilliseconds)),
            typesMilliseconds: median(runs.map(\.typesMilliseconds)))
    }

    /// One line that `measureInNewProcess` reads.
    var line: String {
        "cold=\(fixed(milliseconds, 3)) ms, wall=\(fixed(wallMilliseconds, 3)) ms, "
            + "types=\(fixed(typesMilliseconds, 3)) ms"
    }

    private init(milliseconds: Double, wallMilliseconds: Double, typesMilliseconds: Double) {
        self.milliseconds = milliseconds
        self.wallMilliseconds = wallMilliseconds
        self.typesMilliseconds = typesMilliseconds
    }

    private init?(line: String) {
        let values = line.split(whereSeparator: { $0 == "=" || $0 == " " }).compactMap { Double($0) }
        guard line.hasPrefix("cold="), values.count == 3 else { return nil }
        self.init(milliseconds: values[0], wallMilliseconds: values[1], typesMilliseconds: values[2])
    }

    private static func typesAlone() -> Double {
        let start = thread_cpu_nanoseconds()
        var types: [any DistinctType.Type] = []
        types.reserveCapacity(DistinctTypes.count)
        DistinctTypes.forEachUntouched { types.append($0) }
        // Kept to the end, as a locator keeps them.
        var services: [any MeasuredService] = []
        services.reserveCapacity(DistinctTypes.count)
        for type in types { services.append(type.init(service: PlainService()).service) }
        for service in services { consume(service) }
        let spent = thread_cpu_nanoseconds() - start
        withExtendedLifetime(services) {}
        return Double(spent) / 1e6
    }

    private static func measureInNewProcess() throws -> ColdStart {
        let output = try output(of: "/proc/self/exe", ["bench-locator", "cold"])
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
