internal import EssentialsCurl
internal import EssentialsHTTP
internal import EssentialsRequests
internal import Figures
internal import ThreadCounters

/// What the service adds to a small GET over the loopback interface, one request at a time.
enum LoopbackCost {
    static func measure(_ options: Options) async throws -> [Row] {
        let server = try ChildServer.start()
        defer { server.stop() }
        let base = "http://127.0.0.1:\(server.port)/v1/"
        let transport = try CurlTransport()
        let service = HTTPDataRequestService(environment: try ConstantEnvironment(base), transport: transport)
        var sent = TransportRequest(
            .get, try RequestURL(base + "users/1"), headerFields: [.accept: "*/*", .userAgent: "bench-requests"])
        sent.options = TransportOptions()
        let request = sent
        let requests = options.isSmoke ? 20 : 1_000
        var (alone, whole): ([Double], [Double]) = ([], [])
        for round in 0...options.rounds {
            let a = try await p50(requests) { _ = try await transport.send(request) }
            let b = try await p50(requests) { try await service.get("users/1") }
            guard round > 0 else { continue }
            alone.append(a)
            whole.append(b)
        }
        await transport.shutdown()
        return [
            Row(
                what: "GET over loopback, one at a time: p50 without the service", value: median(alone), unit: "µs",
                digits: 1),
            Row(
                what: "    added by the service", value: median(zip(alone, whole).map { $1 - $0 }), unit: "µs",
                digits: 1, goal: .atMost(3)),
        ]
    }

    /// The median of the requests' times in microseconds.
    @concurrent
    private static func p50(_ requests: Int, _ body: @Sendable () async throws -> Void) async throws -> Double {
        var times: [Double] = []
        times.reserveCapacity(requests)
        for _ in 0..<requests {
            let start = monotonic_nanoseconds()
            try await body()
            times.append(Double(monotonic_nanoseconds() - start) / 1_000)
        }
        return median(times)
    }
}
