internal import EssentialsResources
internal import Figures
internal import Synchronization

/// The cost of finding a resource and reading its state.
enum ReadingCost {
    private final class Object: Sendable {}

    static func measure(_ scale: Scale) async throws -> [Row] {
        let fixture = try Fixture()
        let service = fixture.service
        let paths = (0..<100).map { "users/\($0)/profile" }
        let kept = paths.map { service.resource($0, as: Int.self) }
        for resource in kept { try await resource.load() }
        let objects = Mutex(
            [String: Object](uniqueKeysWithValues: paths.map { ("https://api.example.com/v1/" + $0, Object()) }))
        let floor = Mutex(Object())
        let resource = kept[0]
        let count = scale.operations
        var sides: [[Cost]] = Array(repeating: [], count: 7)

        for round in 0...scale.rounds {
            var costs: [Cost] = []
            costs.append(
                cost(of: count) {
                    for index in 0..<count {
                        let url = "https://api.example.com/v1/" + paths[index % 100]
                        consume(objects.withLock { $0[url] })
                    }
                })
            costs.append(
                cost(of: count) {
                    for index in 0..<count { consume(service.resource(paths[index % 100], as: Int.self)) }
                })
            costs.append(cost(of: count) { for _ in 0..<count { consume(floor.withLock { $0 }) } })
            costs.append(cost(of: count) { for _ in 0..<count { consume(resource.isLoading) } })
            costs.append(cost(of: count) { for _ in 0..<count { consume(resource.isFresh) } })
            costs.append(cost(of: count) { for _ in 0..<count { consume(resource.state) } })
            costs.append(try await freshLoads(resource, count))
            guard round > 0 else { continue }
            for (index, cost) in costs.enumerated() { sides[index].append(cost) }
        }
        return rows(sides.map(Cost.medians))
    }

    private static func rows(_ medians: [Cost]) -> [Row] {
        let (reference, lookUp, lowest, loading, fresh, snapshot, load) = (
            medians[0], medians[1], medians[2], medians[3], medians[4], medians[5], medians[6]
        )
        return [
            Row(what: "reference: a dictionary by URL behind a mutex", value: reference.nanoseconds, unit: "ns"),
            Row(what: "look-up by path", value: lookUp.nanoseconds, unit: "ns", goal: .atMost(150)),
            Row(
                what: "    share of the reference", value: lookUp.nanoseconds / reference.nanoseconds, unit: "",
                digits: 2,
                goal: .atMost(1)),
            Row(
                what: "    allocations", value: lookUp.allocations, unit: "", digits: 2, goal: .atMost(0),
                isJudged: true),
            Row(what: "reference: a mutex and a reference", value: lowest.nanoseconds, unit: "ns", digits: 1),
            Row(what: "isLoading", value: loading.nanoseconds, unit: "ns", digits: 1, goal: .atMost(5)),
            Row(what: "isFresh, which reads the clock", value: fresh.nanoseconds, unit: "ns", digits: 1),
            Row(what: "state", value: snapshot.nanoseconds, unit: "ns", digits: 1),
            Row(
                what: "    share of the reference", value: snapshot.nanoseconds / lowest.nanoseconds, unit: "",
                digits: 2,
                goal: .atMost(1.3)),
            Row(
                what: "    allocations", value: snapshot.allocations, unit: "", digits: 2, goal: .atMost(0),
                isJudged: true),
            Row(what: "loadIfNeeded of fresh content", value: load.nanoseconds, unit: "ns", goal: .atMost(100)),
            Row(
                what: "    allocations", value: load.allocations, unit: "", digits: 2, goal: .atMost(0.01),
                isJudged: true),
        ]
    }

    private static func freshLoads(_ resource: Resource<Int>, _ count: Int) async throws -> Cost {
        try await elapsed(of: count) {
            for _ in 0..<count { consume(try await resource.loadIfNeeded()) }
        }
    }
}
