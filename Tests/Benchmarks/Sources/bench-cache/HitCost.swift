internal import EssentialsRequests
internal import Figures
internal import ThreadCounters

/// Hits beside the same GET over a transport that responds at once, and responses that are stored.
enum HitCost {
    /// What the requests of a service cause.
    enum Kind: String {
        case plain, hits, stores, misses
    }

    /// Microseconds for a request of one kind.
    static func time(_ kind: Kind, requests: Int) async throws -> Double {
        let origin = InstantOrigin(kind == .stores ? "max-age=0" : longLifetime, bytes: kind == .misses ? 4_096 : 1_024)
        let service = try HTTPDataRequestService.measured(over: origin, kind == .plain ? nil : ResponseCache())
        try await service.send(1_000, path: "a")
        let time = kind == .misses ? try await timeOfMisses(requests, service) : try await time(requests, service)
        await service.shutdown()
        return time
    }

    static func measure(requests: Int) async throws -> [Row] {
        let plain = try HTTPDataRequestService.measured(over: InstantOrigin(longLifetime), nil)
        let cached = try HTTPDataRequestService.measured(over: InstantOrigin(longLifetime))
        let origin = InstantOrigin("max-age=0")
        let storing = try HTTPDataRequestService.measured(over: origin)
        for service in [plain, cached, storing] { try await service.send(1_000, path: "a") }
        let large = try (0..<2).map { number in
            try HTTPDataRequestService.measured(
                over: InstantOrigin(longLifetime, bytes: 4_096), number == 0 ? nil : ResponseCache())
        }
        var times: [[Double]] = [[], [], [], [], [], []]
        for _ in 0..<5 {
            times[0].append(try await time(requests / 5, plain))
            times[1].append(try await time(requests / 5, cached))
            times[2].append(try await time(requests / 5, storing))
            times[3].append(try await timeOfTwo(requests / 5, cached))
            for number in 0..<2 { times[4 + number].append(try await timeOfMisses(requests / 5, large[number])) }
        }
        guard origin.count >= requests else { throw BenchmarkError("served from memory") }
        let before = process_allocations()
        try await cached.send(requests, path: "a")
        let allocations = Double(process_allocations() - before) / Double(requests)
        for service in [plain, cached, storing] + large { await service.shutdown() }
        let (without, hit, stored, two) = (median(times[0]), median(times[1]), median(times[2]), median(times[3]))
        return [
            Row(what: "GET over a transport that responds at once", value: without, unit: "us", digits: 2),
            Row(what: "    the same as a hit in memory, 1 KiB", value: hit, unit: "us", digits: 2, goal: .atMost(3)),
            Row(
                what: "    hits a second on two cores", value: hit / two, unit: "x one core", digits: 2,
                goal: .atLeast(1.6)),
            Row(
                what: "    allocations of a hit", value: allocations, unit: "", digits: 1, goal: .atMost(8),
                isJudged: false),
            Row(
                what: "    a response of 4 KiB to another URL, which is stored",
                value: median(times[5]) - median(times[4]), unit: "us more", digits: 2, goal: .atMost(3)),
            Row(what: "    a response that replaces a stale one", value: stored - without, unit: "us more", digits: 2),
        ]
    }

    /// Microseconds for a request.
    private static func time(_ count: Int, _ service: HTTPDataRequestService) async throws -> Double {
        let start = monotonic_nanoseconds()
        try await service.send(count, path: "a")
        return Double(monotonic_nanoseconds() - start) / Double(count) / 1_000
    }

    /// Microseconds for a request to a URL of its own.
    private static func timeOfMisses(_ count: Int, _ service: HTTPDataRequestService) async throws -> Double {
        let first = Int.random(in: 0..<1 << 40)
        let paths = (0..<count).map { "films/\(first + $0)" }
        let start = monotonic_nanoseconds()
        for path in paths { _ = try await service.send(DataRequest(.get, path)) }
        return Double(monotonic_nanoseconds() - start) / Double(count) / 1_000
    }

    /// Microseconds for a request, if two tasks send half of them each.
    private static func timeOfTwo(_ count: Int, _ service: HTTPDataRequestService) async throws -> Double {
        let start = monotonic_nanoseconds()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2 {
                group.addTask { try await service.send(count / 2, path: number == 0 ? "a" : "b") }
            }
            try await group.waitForAll()
        }
        return Double(monotonic_nanoseconds() - start) / Double(count) / 1_000
    }
}
