internal import EssentialsResources
internal import Figures
internal import ThreadCounters

/// The memory of many resources, the cost of creating and dropping them, and what remains of loads and observations.
enum MemoryCost {
    static func measure(_ scale: Scale) async throws -> [Row] {
        try await idle(scale) + growth(scale)
    }

    private static func idle(_ scale: Scale) async throws -> [Row] {
        var configuration = HTTPResourceService.Configuration()
        configuration.maximumUnused = scale.resources * 2
        let service = try Fixture(configuration).service
        let count = scale.resources
        let paths = (0..<count).map { "items/\($0)" }
        let before = heapBytes()
        let made = cost(of: count) { for path in paths { consume(service.resource(path, as: Int.self)) } }
        let bytes = Double(heapBytes() - before) / Double(count)
        let handles = paths.map { service.resource($0, as: Int.self) }
        let inUse = cost(of: 1_000) {
            for index in 0..<1_000 { consume(service.resource("more/\(index)", as: Int.self)) }
        }
        withExtendedLifetime(handles) {}
        let dropped = await elapsed(of: 1) { service.dropUnused() }
        return [
            Row(what: "a new resource", value: made.nanoseconds / 1000, unit: "us", digits: 2, goal: .atMost(1)),
            Row(what: "    allocations", value: made.allocations, unit: "", digits: 1),
            Row(
                what: "    the same while \(count) others are in use", value: inUse.nanoseconds / 1000, unit: "us",
                digits: 2),
            Row(
                what: "an idle resource, with its URL", value: bytes, unit: "bytes", goal: .atMost(640), isJudged: true),
            Row(
                what: "dropping \(count) of them", value: dropped.nanoseconds / 1e6, unit: "ms", digits: 1,
                goal: .atMost(100)),
        ]
    }

    private static func growth(_ scale: Scale) async throws -> [Row] {
        let fixture = try Fixture()
        let resource: Resource<Int> = fixture.service.resource("growth")
        let rounds = scale.growth
        // The first loads and observations create what is kept for later ones.
        for _ in 0..<1_000 { try await loadAndObserve(resource) }
        let before = heapBytes()
        for _ in 0..<rounds { try await loadAndObserve(resource) }
        let grown = Double(heapBytes() - before) / Double(rounds)
        return [
            Row(
                what: "growth for each of \(rounds) loads and observations", value: grown, unit: "bytes", digits: 2,
                goal: .atMost(1), isJudged: true)
        ]
    }

    private static func loadAndObserve(_ resource: Resource<Int>) async throws {
        let observation = resource.observeSynchronously { _ in }
        try await resource.load()
        observation.cancel()
    }

    /// The bytes that are allocated now.
    private static func heapBytes() -> Int { Int(heap_bytes()) }
}
