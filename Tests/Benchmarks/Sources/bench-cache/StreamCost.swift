internal import EssentialsCurl
internal import EssentialsRequests
internal import EssentialsTestKit
internal import Figures
internal import ThreadCounters

/// A large body that is streamed from a real server, with and without a cache that stores it.
enum StreamCost {
    static func measure(rounds: Int, size: Int) async throws -> [Row] {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: size)
        let server = try LoopbackServer { _ in .response(headers: [("Cache-Control", longLifetime)], body: body) }
        let transport = try CurlTransport()
        let plain = try HTTPDataRequestService.measured(over: transport, nil, at: server.url)
        let cached = try HTTPDataRequestService.measured(
            over: transport, ResponseCache(memory: .bytes(64 * size)), at: server.url)
        var (without, with): ([Double], [Double]) = ([], [])
        for round in 0..<rounds {
            without.append(try await time(plain, "a"))
            with.append(try await time(cached, "\(round)"))
        }
        let hit = try await time(cached, "0")
        await plain.shutdown()
        server.stop()
        return [
            Row(
                what: "\(size >> 20) MiB streamed and stored: throughput", value: median(without) / median(with),
                unit: "x without", digits: 2, goal: .atLeast(0.9)),
            Row(what: "    the same as a hit", value: Double(size) / hit / 1e3, unit: "GB/s", digits: 2),
        ]
    }

    /// Microseconds for a body.
    private static func time(_ service: HTTPDataRequestService, _ path: String) async throws -> Double {
        var request = DataRequest(.get, path)
        request.options.delivery = .streamed
        request.options.trust = nil
        let start = monotonic_nanoseconds()
        for try await piece in try await service.send(request).body { _ = piece.count }
        return Double(monotonic_nanoseconds() - start) / 1_000
    }
}
