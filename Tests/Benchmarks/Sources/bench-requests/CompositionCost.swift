internal import EssentialsCurl
internal import EssentialsHTTP
internal import EssentialsRequests
internal import Figures
internal import ServiceEssentials
internal import ThreadCounters

/// The allocations of README's composition beside those of a bare `CurlTransport`: a service that makes its transports itself
/// and sends small GET requests over the loopback interface, one at a time and 64 at a time.
///
/// `run-benchmarks` compares the times: its client `bench-service` is the same composition in a process of its own.
enum CompositionCost {
    /// The allocations of one side's requests in a round.
    private struct Side {
        var count = 0
        var allocations: UInt64 = 0

        var allocationsEach: Double { Double(allocations) / Double(count) }

        /// Sends requests on several tasks at once, each task one request after the other.
        @concurrent
        mutating func run(
            _ tasks: Int, _ requests: Int, _ send: @escaping @Sendable () async throws -> Void
        ) async throws {
            let allocated = process_allocations()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<tasks {
                    group.addTask { for _ in 0..<requests { try await send() } }
                }
                try await group.waitForAll()
            }
            count += tasks * requests
            allocations += process_allocations() - allocated
        }
    }

    static func measure(_ options: Options) async throws -> [Row] {
        let server = try ChildServer.start()
        defer { server.stop() }
        let base = "http://127.0.0.1:\(server.port)/v1/"
        let request = TransportRequest(
            .get, try RequestURL(base + "users/1"), headerFields: [.accept: "*/*", .userAgent: "bench-requests"])
        let transport = try CurlTransport()
        let service = try HTTPDataRequestService(environment: ConstantEnvironment(base))
        var rows: [Row] = []
        for tasks in [1, 64] {
            let requests = options.isSmoke ? 8 : tasks == 1 ? 1_000 : 160
            var added: [Double] = []
            for round in 0...options.rounds {
                var (a, b) = (Side(), Side())
                try await a.run(tasks, requests) { _ = try await transport.send(request) }
                try await b.run(tasks, requests) { try await service.get("users/1") }
                // The first round includes the connections.
                if round > 0 { added.append(b.allocationsEach - a.allocationsEach) }
            }
            rows.append(
                Row(
                    what: "GET over loopback, \(tasks) at a time: allocations added by README's composition",
                    value: median(added), unit: "", digits: 1, goal: .atMost(12)))
        }
        await service.shutdown()
        await transport.shutdown()
        return rows
    }
}
