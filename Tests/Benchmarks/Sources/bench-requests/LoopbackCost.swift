internal import EssentialsCurl
internal import EssentialsHTTP
internal import EssentialsRequests
internal import Figures
internal import Glibc
internal import ThreadCounters

/// The cost that the service adds to a small GET over the loopback interface, one request at a time: to its duration,
/// and to the CPU time of all threads of the program.
///
/// The transport is libcurl's, which can cancel a request. With other transports the service needs
/// a task for each request.
enum LoopbackCost {
    /// The requests of one side in a round.
    private struct Side {
        var times: [Double] = []
        var nanoseconds: UInt64 = 0

        var p50: Double { median(times) }
        var nanosecondsEach: Double { Double(nanoseconds) / Double(times.count) }

        /// Sends the requests one after the other.
        @concurrent
        mutating func run(_ requests: Int, _ body: @Sendable () async throws -> Void) async throws {
            let before = LoopbackCost.processNanoseconds()
            for _ in 0..<requests {
                let start = monotonic_nanoseconds()
                try await body()
                times.append(Double(monotonic_nanoseconds() - start) / 1_000)
            }
            nanoseconds += LoopbackCost.processNanoseconds() - before
        }
    }

    static func measure(_ options: Options) async throws -> [Row] {
        let server = try ChildServer.start()
        defer { server.stop() }
        let base = "http://127.0.0.1:\(server.port)/v1/"
        let transport = try CurlTransport()
        let service = HTTPDataRequestService(environment: try ConstantEnvironment(base), transport: transport)
        let request = TransportRequest(
            .get, try RequestURL(base + "users/1"), headerFields: [.accept: "*/*", .userAgent: "bench-requests"])
        let (turns, requests) = options.isSmoke ? (2, 10) : (20, 50)
        var (alone, whole): ([Side], [Side]) = ([], [])
        for round in 0...options.rounds {
            var (a, b) = (Side(), Side())
            // Short turns, because the machine's speed changes within a second.
            for _ in 0..<turns {
                try await a.run(requests) { _ = try await transport.send(request) }
                try await b.run(requests) { try await service.get("users/1") }
            }
            guard round > 0 else { continue }
            alone.append(a)
            whole.append(b)
        }
        await transport.shutdown()
        func added(_ figure: (Side) -> Double) -> Double {
            median(zip(alone, whole).map { figure($1) - figure($0) })
        }
        return [
            Row(
                what: "GET over loopback, one at a time: p50 without the service", value: median(alone.map(\.p50)),
                unit: "µs", digits: 1),
            Row(what: "    added by the service", value: added(\.p50), unit: "µs", digits: 1, goal: .atMost(3)),
            Row(
                what: "    CPU time of the program without the service", value: median(alone.map(\.nanosecondsEach)),
                unit: "ns"),
            Row(what: "    added by the service", value: added(\.nanosecondsEach), unit: "ns", goal: .atMost(3_000)),
        ]
    }

    private static func processNanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
