internal import EssentialsFetching
internal import Figures
internal import FoundationEssentials

/// The cost of fetches beside their requests, and of filtering cached models.
enum FetchingCost {
    private struct Service: FetchingService {
        let requests: any DataRequestService
        var fetchDefaults = FetchDefaults()
    }

    private struct CachingService: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache
    }

    private struct Model: Codable, Sendable {
        var text: String
    }

    static func measure(_ scale: Scale) async throws -> [Row] {
        try await memory(scale) + backend(scale) + filter(scale)
    }

    private static func memory(_ scale: Scale) async throws -> [Row] {
        let service = CachingService(requests: try Fixture().requests, cache: ModelCache())
        let key = service.modelKey(named: "users/1", as: Int.self)
        try await service.cache.save(CachedModel(7, date: RequestClock.system.date), for: key)
        let fetch = try await medians(scale) {
            guard try await service.get("users/1", from: .cache, as: Int.self).first()?.value == 7 else {
                throw BenchmarkError("the model was not found in the cache")
            }
        }
        return [
            Row(
                what: "a fetch from memory to its first value", value: fetch.nanoseconds / 1000, unit: "us", digits: 2,
                goal: .atMost(5)),
            Row(
                what: "    allocations", value: fetch.allocations, unit: "", digits: 1, goal: .atMost(15),
                isJudged: true),
        ]
    }

    private static func backend(_ scale: Scale) async throws -> [Row] {
        let requests = try Fixture().requests
        let plain = Service(requests: requests, fetchDefaults: FetchDefaults(joins: false))
        let sharing = Service(requests: requests)
        var (request, fetch, shared): ([Cost], [Cost], [Cost]) = ([], [], [])
        for round in 0...scale.rounds {
            let costs = (
                try await processorTime(of: scale.loads) {
                    for _ in 0..<scale.loads { consume(try await requests.model(of: .get("users/1"), as: Int.self)) }
                },
                try await processorTime(of: scale.loads) {
                    for _ in 0..<scale.loads {
                        consume(try await plain.get("users/1", from: .backend, as: Int.self).last())
                    }
                },
                try await processorTime(of: scale.loads) {
                    for _ in 0..<scale.loads {
                        consume(try await sharing.get("users/1", from: .backend, as: Int.self).last())
                    }
                }
            )
            guard round > 0 else { continue }
            request.append(costs.0)
            fetch.append(costs.1)
            shared.append(costs.2)
        }
        let (base, alone, joined) = (Cost.medians(request), Cost.medians(fetch), Cost.medians(shared))
        return [
            Row(
                what: "    added to a request by a fetch that does not share it",
                value: (alone.nanoseconds - base.nanoseconds) / 1000, unit: "us", digits: 2, goal: .atMost(3)),
            Row(
                what: "    allocations added", value: alone.allocations - base.allocations, unit: "", digits: 1,
                goal: .atMost(12), isJudged: true),
            Row(
                what: "    added by a fetch that shares it, as is the default",
                value: (joined.nanoseconds - base.nanoseconds) / 1000, unit: "us", digits: 2),
            Row(
                what: "    allocations added", value: joined.allocations - base.allocations, unit: "", digits: 1),
        ]
    }

    /// Every hundredth model contains the text, at its end.
    private static func filter(_ scale: Scale) async throws -> [Row] {
        let count = scale.isSmoke ? 500 : 10_000
        let filling = String(repeating: "The Quick Brown Fox ", count: 51)
        let models = (0..<count).map { Model(text: filling + ($0.isMultiple(of: 100) ? "bit" : "end")) }
        let cache = ModelCache()
        let service = CachingService(requests: try Fixture().requests, cache: cache)
        let key = service.modelKey(named: "models", as: [Model].self)
        try await cache.save(CachedModel(models, date: RequestClock.system.date), for: key)
        var (filtered, plain): ([Double], [Double]) = ([], [])
        for round in 0...scale.rounds {
            var matching: [Model] = []
            let filter = try await processorTime(of: 1) {
                matching = try await service.models(matching: ModelFilter("Bit", in: \Model.text), at: "models")
            }
            var found: [Model] = []
            let loop = await processorTime(of: 1) {
                for model in models where model.text.lowercased().contains("bit") { found.append(model) }
            }
            guard matching.count == found.count, found.count * 100 == count else {
                throw BenchmarkError("the filter has found \(matching.count) models")
            }
            guard round > 0 else { continue }
            filtered.append(filter.nanoseconds)
            plain.append(loop.nanoseconds)
        }
        return [
            Row(
                what: "\(count) cached models of 1 KiB, filtered by a text", value: median(filtered) / 1e6,
                unit: "ms", digits: 2),
            Row(
                what: "    share of a loop with lowercased and contains", value: median(filtered) / median(plain),
                unit: "", digits: 2, goal: .atMost(1.5)),
        ]
    }

    private static func medians(_ scale: Scale, _ operation: () async throws -> Void) async throws -> Cost {
        var costs: [Cost] = []
        for round in 0...scale.rounds {
            let cost = try await processorTime(of: scale.loads) { for _ in 0..<scale.loads { try await operation() } }
            if round > 0 { costs.append(cost) }
        }
        return .medians(costs)
    }
}
