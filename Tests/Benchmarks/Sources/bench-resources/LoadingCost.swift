internal import EssentialsResources
internal import Figures

/// The cost of loads, and of many tasks that wait for one.
enum LoadingCost {
    static func measure(_ scale: Scale) async throws -> [Row] {
        let fixture = try Fixture()
        let count = scale.loads
        let resource: Resource<Int> = fixture.service.resource("users/1")
        var (plain, whole): ([Cost], [Cost]) = ([], [])
        for round in 0...scale.rounds {
            let request = try await elapsed(of: count) {
                for _ in 0..<count { consume(try await fixture.requests.get("users/1", as: Int.self)) }
            }
            let load = try await elapsed(of: count) {
                for _ in 0..<count { consume(try await resource.load()) }
            }
            guard round > 0 else { continue }
            plain.append(request)
            whole.append(load)
        }
        let (request, load) = (Cost.medians(plain), Cost.medians(whole))
        let shared = try await singleFlight(scale)
        return [
            Row(
                what: "a GET of the data-request service, decoded", value: request.nanoseconds / 1000, unit: "us",
                digits: 2),
            Row(
                what: "    added by a load of a resource", value: (load.nanoseconds - request.nanoseconds) / 1000,
                unit: "us", digits: 2, goal: .atMost(5)),
            Row(
                what: "    allocations added", value: load.allocations - request.allocations, unit: "", digits: 1,
                goal: .atMost(25)),
        ] + shared
    }

    private static func singleFlight(_ scale: Scale) async throws -> [Row] {
        let fixture = try Fixture()
        var (tasks, waits): ([Double], [Double]) = ([], [])
        for round in 0...scale.rounds {
            let resource: Resource<Int> = fixture.service.resource("shared", "\(round)")
            let needed = try await elapsed(of: 1) {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<1_000 { group.addTask { try await resource.loadIfNeeded() } }
                    for try await value in group { consume(value) }
                }
            }
            let bare = await elapsed(of: 1) {
                await withTaskGroup(of: Int.self) { group in
                    for _ in 0..<1_000 {
                        group.addTask { await withUnsafeContinuation { $0.resume(returning: 7) } }
                    }
                    for await value in group { consume(value) }
                }
            }
            guard round > 0 else { continue }
            tasks.append(needed.nanoseconds)
            waits.append(bare.nanoseconds)
        }
        return [
            Row(
                what: "1,000 tasks, one loadIfNeeded", value: median(tasks) / 1e6, unit: "ms", digits: 2,
                goal: .atMost(1)),
            Row(
                what: "    share of 1,000 tasks with a continuation", value: median(tasks) / median(waits), unit: "",
                digits: 2, goal: .atMost(2)),
        ]
    }
}
