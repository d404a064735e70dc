internal import EssentialsCurl
internal import EssentialsRequests
internal import EssentialsTestKit
internal import Figures
internal import FoundationEssentials
internal import ThreadCounters

/// Hits in files, responses that are stored in files too, and the start with a full directory.
enum DiskCost {
    static func measure(requests: Int, urls: Int) async throws -> [Row] {
        let path = FileManager.default.temporaryDirectory.path + "/bench-cache-\(UInt64.random(in: 1 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bodies = [4 << 10, 1 << 20].map { [UInt8](repeating: UInt8(ascii: "x"), count: $0) }
        let server = try LoopbackServer { request in
            .response(
                headers: [("Cache-Control", request.path.contains("stale") ? "max-age=0" : longLifetime)],
                body: bodies[request.path.hasSuffix("large") ? 1 : 0])
        }
        var rows = try await hits(requests, path + "/hits", server)
        rows += try await stored(requests / 10, path + "/stored", server)
        rows += try await start(urls, path + "/start", server)
        server.stop()
        return rows
    }

    private static func hits(_ count: Int, _ path: String, _ server: LoopbackServer) async throws -> [Row] {
        let cache = try ResponseCache(memory: .bytes(0), disk: .directory(path))
        let service = try HTTPDataRequestService.measured(over: CurlTransport(), cache, at: server.url)
        for name in ["small", "large"] { try await service.send(2, path: name) }
        var times: [Double] = []
        for _ in 0..<count { times.append(try await time(service, "small")) }
        var large: [Double] = []
        for _ in 0..<max(count / 100, 10) { large.append(try await time(service, "large")) }
        guard server.requestCount == 2 else { throw BenchmarkError("\(server.requestCount) requests") }
        await service.shutdown()
        times.sort()
        return [
            Row(
                what: "hit in files, 4 KiB", value: times[times.count / 2], unit: "us", digits: 1, goal: .atMost(60)),
            Row(what: "    99 %", value: times[times.count * 99 / 100], unit: "us", digits: 1, goal: .atMost(200)),
            Row(
                what: "    1 MiB", value: Double(1 << 20) / median(large) / 1e3, unit: "GB/s", digits: 2,
                goal: .atLeast(1)),
        ]
    }

    /// What a caller pays for the files behind the memory.
    private static func stored(_ count: Int, _ path: String, _ server: LoopbackServer) async throws -> [Row] {
        let files = try ResponseCache(disk: .directory(path))
        let (memory, both) = (
            try HTTPDataRequestService.measured(over: CurlTransport(), ResponseCache(), at: server.url),
            try HTTPDataRequestService.measured(over: CurlTransport(), files, at: server.url)
        )
        var (without, with): ([Double], [Double]) = ([], [])
        for number in 0..<count {
            without.append(try await time(memory, "stale/\(number % 100)"))
            with.append(try await time(both, "stale/\(number % 100)"))
        }
        await files.flush()
        for service in [memory, both] { await service.shutdown() }
        return [
            Row(
                what: "    a response that is stored in memory and files", value: median(with) - median(without),
                unit: "us more", digits: 1, goal: .atMost(3))
        ]
    }

    private static func start(_ urls: Int, _ path: String, _ server: LoopbackServer) async throws -> [Row] {
        let budget = 64 << 20
        let first = try ResponseCache(memory: .bytes(0), disk: .directory(path, bytes: budget))
        let filling = try HTTPDataRequestService.measured(over: CurlTransport(), first, at: server.url)
        for number in 0..<urls { try await filling.send(1, path: "films/\(number)") }
        await first.flush()
        let usage = await first.usage
        await filling.shutdown()
        let start = monotonic_nanoseconds()
        let second = try ResponseCache(memory: .bytes(0), disk: .directory(path, bytes: budget))
        let service = try HTTPDataRequestService.measured(over: CurlTransport(), second, at: server.url)
        let found = try await service.send(DataRequest(.get, "films/\(urls - 1)"))
        let milliseconds = Double(monotonic_nanoseconds() - start) / 1e6
        guard found.cache?.outcome == .hit else { throw BenchmarkError("the last response is not found") }
        await service.shutdown()
        return [
            Row(
                what: "\(urls) URLs in files of 64 MiB: disk", value: Double(usage.externalBytes) / Double(budget),
                unit: "x budget", digits: 2, goal: .atMost(1.1), isJudged: true),
            Row(
                what: "    start with \(usage.externalResponses) responses: first hit after", value: milliseconds,
                unit: "ms", digits: 1, goal: .atMost(5)),
        ]
    }

    /// Microseconds for a request.
    private static func time(_ service: HTTPDataRequestService, _ path: String) async throws -> Double {
        let start = monotonic_nanoseconds()
        try await service.send(1, path: path)
        return Double(monotonic_nanoseconds() - start) / 1_000
    }
}
