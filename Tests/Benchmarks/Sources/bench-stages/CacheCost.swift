internal import EssentialsRequests
internal import Figures
internal import FoundationEssentials
internal import Synchronization
internal import ThreadCounters

/// The response cache: hits beside the same GET over a transport that responds at once, responses that are stored, a herd at
/// a stale response, and many URLs.
enum CacheCost {
    /// Responds at once, with a body of 1 KiB.
    private struct Origin: Transport {
        let lifetime: Int
        let sent = Counter()

        func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
            sent.number.add(1, ordering: .relaxed)
            let fields: HTTPFields = [
                .contentType: "application/json", .cacheControl: "max-age=\(lifetime)", .eTag: "\"1\"",
                .date: "Thu, 01 Jan 2026 00:00:00 GMT", .server: "bench",
            ]
            return TransportResponse(
                HTTPResponse(status: .ok, headerFields: fields),
                body: ResponseBody(Data(repeating: UInt8(ascii: "x"), count: 1_024)))
        }

        func send(
            _ request: TransportRequest, cancellation: Cancellation
        ) async throws(RequestFailure) -> TransportResponse { try await send(request) }

        func shutdown() async {}
    }

    private final class Counter: Sendable {
        let number = Atomic(0)
    }

    static func measure(requests: Int, urls: Int) async throws -> [Row] {
        let plain = try service(over: Origin(lifetime: 1 << 40), HTTPDataRequestService.Configuration())
        let (cached, _) = try cachedService(lifetime: 1 << 40)
        try await send(1_000, to: plain, path: "a")
        try await send(1_000, to: cached, path: "a")
        let (without, hit) = (try await time(requests, plain), try await time(requests, cached))
        let allocations = try await allocations(requests, cached)
        let (storing, origin) = try cachedService(lifetime: 0)
        let missed = try await time(requests, storing)
        guard origin.sent.number.load(ordering: .relaxed) >= requests else {
            throw BenchmarkError("served from memory")
        }
        let grown = try await memory(urls: urls)
        for service in [plain, cached, storing] { await service.shutdown() }
        return [
            Row(what: "GET over a transport that responds at once", value: without, unit: "us", digits: 2),
            Row(what: "    the same as a hit in memory, 1 KiB", value: hit, unit: "us", digits: 2, goal: .atMost(3)),
            Row(what: "    allocations of a hit", value: allocations, unit: "", digits: 1, goal: .atMost(8)),
            Row(
                what: "    a response that is stored", value: missed - without, unit: "us more", digits: 2,
                goal: .atMost(3)),
            Row(
                what: "\(urls) URLs in 16 MiB: memory", value: grown, unit: "x budget", digits: 2, goal: .atMost(1.1)),
        ]
    }

    private static func cachedService(lifetime: Int) throws -> (HTTPDataRequestService, Origin) {
        let origin = Origin(lifetime: lifetime)
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cache = ResponseCache()
        return (try service(over: origin, configuration), origin)
    }

    private static func send(_ count: Int, to service: HTTPDataRequestService, path: String) async throws {
        for _ in 0..<count { _ = try await service.send(DataRequest(.get, path)) }
    }

    /// Microseconds for a request.
    private static func time(_ count: Int, _ service: HTTPDataRequestService) async throws -> Double {
        var times: [Double] = []
        for _ in 0..<5 {
            let start = monotonic_nanoseconds()
            try await send(count / 5, to: service, path: "a")
            times.append(Double(monotonic_nanoseconds() - start) / Double(count / 5) / 1_000)
        }
        return median(times)
    }

    private static func allocations(_ count: Int, _ service: HTTPDataRequestService) async throws -> Double {
        let before = process_allocations()
        try await send(count, to: service, path: "a")
        return Double(process_allocations() - before) / Double(count)
    }

    /// The growth of the heap by responses of many URLs, as a multiple of the budget.
    private static func memory(urls: Int) async throws -> Double {
        let (service, _) = try cachedService(lifetime: 1 << 40)
        try await send(1_000, to: service, path: "a")
        let before = heap_bytes()
        for number in 0..<urls { _ = try await service.send(DataRequest(.get, "films/\(number)")) }
        let grown = Double(Int(heap_bytes()) - Int(before)) / Double(16 << 20)
        await service.shutdown()
        return grown
    }
}
