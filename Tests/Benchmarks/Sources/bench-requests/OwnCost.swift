internal import EssentialsHTTP
internal import EssentialsRequests
internal import Figures
internal import FoundationEssentials
internal import Glibc
internal import ThreadCounters

/// The service's own work for a small GET over a transport that responds at once, compared with that transport.
enum OwnCost {
    /// The figures for one request, from one round of one side.
    struct Sample {
        var nanoseconds: Double
        var allocations: Double
        /// `nil` if the machine does not count instructions.
        var instructions: Double?
    }

    static func measure(_ options: Options) async throws -> [Row] {
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "text/plain"])
        let null = NullTransport(TransportResponse(head, body: ResponseBody(Data("Hello, world!".utf8))))
        let control = try await sample(options.isSmoke ? 10_000 : 500_000) { () async throws in consume(Object()) }
        return try await rows(options, null, "GET, transport that responds at once")
            + rows(options, TaskTransport(transport: null), "the same, transport with a task for each request")
            + rows(options, null, "the same, with an interceptor that does nothing", [IdleInterceptor()])
            + [
                Row(
                    what: "    control: allocations of an object made and released", value: control.allocations,
                    unit: "", digits: 2),
                Row(what: "    control: CPU time of one", value: control.nanoseconds, unit: "ns", digits: 1),
            ]
    }

    private struct IdleInterceptor: RequestInterceptor {}

    private static func rows(
        _ options: Options, _ transport: any Transport, _ what: String, _ interceptors: [any RequestInterceptor] = []
    ) async throws -> [Row] {
        let base = "http://127.0.0.1:8080/v1/"
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = interceptors
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(base), transport: transport, configuration: configuration)
        let sent = TransportRequest(
            .get, try RequestURL(base + "users/1"), headerFields: [.accept: "*/*", .userAgent: "bench-requests"])
        let requests = options.isSmoke ? 100 : 5_000
        var (alone, whole): ([Sample], [Sample]) = ([], [])
        for round in 0...options.rounds {
            let a = try await sample(requests) { () async throws in _ = try await transport.send(sent) }
            let b = try await sample(requests) { () async throws in try await service.get("users/1") }
            // The first round includes the creation of metadata and page faults.
            guard round > 0 else { continue }
            alone.append(a)
            whole.append(b)
        }
        let added = zip(alone, whole).map { $1.nanoseconds - $0.nanoseconds }
        let counted = zip(alone, whole).map { $1.allocations - $0.allocations }
        let instructions = zip(alone, whole).compactMap { pair in
            pair.1.instructions.flatMap { whole in pair.0.instructions.map { whole - $0 } }
        }
        var rows = [
            Row(
                what: "\(what): CPU time without the service",
                value: median(alone.map(\.nanoseconds)), unit: "ns"),
            Row(
                what: "    added by the service", value: median(added), unit: "ns"),
            Row(
                what: "    allocations added by the service", value: median(counted), unit: "", digits: 2),
        ]
        if !instructions.isEmpty {
            rows.append(Row(what: "    instructions added by the service", value: median(instructions), unit: ""))
        }
        return rows
    }

    /// Runs on one thread from start to end, because no part of it waits for another thread.
    @concurrent
    static func sample(
        _ requests: Int, _ body: @Sendable () async throws -> Void
    ) async throws -> Sample {
        let thread = pthread_self()
        let counter = instruction_counter_open()
        defer { if counter >= 0 { close(counter) } }
        let (instructions, allocations) = (instruction_counter_read(counter), thread_allocations())
        let start = thread_cpu_nanoseconds()
        for _ in 0..<requests { try await body() }
        let spent = thread_cpu_nanoseconds() - start
        let (moreAllocations, moreInstructions) = (thread_allocations(), instruction_counter_read(counter))
        guard pthread_equal(thread, pthread_self()) != 0 else {
            throw BenchmarkError("a request went to another thread, so that its cost cannot be counted")
        }
        let hasInstructions = instructions >= 0 && moreInstructions > instructions
        return Sample(
            nanoseconds: Double(spent) / Double(requests),
            allocations: Double(moreAllocations - allocations) / Double(requests),
            instructions: hasInstructions ? Double(moreInstructions - instructions) / Double(requests) : nil)
    }

    private final class Object {}

    @inline(never)
    @_optimize(none)
    private static func consume(_ object: AnyObject) {}
}
