internal import EssentialsResources
internal import Figures
internal import Synchronization

/// The cost of telling observers of a change, and of observing beside many others.
enum ObservingCost {
    static func measure(_ scale: Scale) async throws -> [Row] {
        let fixture = try Fixture()
        return try await closures(scale, fixture) + streams(scale, fixture) + beside(scale, fixture)
    }

    private static func closures(_ scale: Scale, _ fixture: Fixture) async throws -> [Row] {
        let resource: Resource<Int> = fixture.service.resource("closures")
        let received = Atomic(0)
        let observations = (0..<1_000).map { _ in
            resource.observeSynchronously { change in
                received.add(change.missed + 1, ordering: .relaxed)
            }
        }
        let plain = (0..<1_000).map { _ -> @Sendable (Int) -> Void in
            { value in received.add(value, ordering: .relaxed) }
        }
        let events = scale.isSmoke ? 5 : 200
        var (told, looped): ([Cost], [Cost]) = ([], [])
        for round in 0...scale.rounds {
            let event = cost(of: events) { for number in 0..<events { resource.override(with: number) } }
            let loop = cost(of: events) { for _ in 0..<events { for closure in plain { closure(1) } } }
            guard round > 0 else { continue }
            told.append(event)
            looped.append(loop)
        }
        for observation in observations { observation.cancel() }
        let (event, loop) = (Cost.medians(told), Cost.medians(looped))
        return [
            Row(
                what: "an event to 1,000 closures", value: event.nanoseconds / 1000, unit: "us", digits: 1,
                goal: .atMost(50)),
            Row(
                what: "    share of a loop over closures", value: event.nanoseconds / loop.nanoseconds, unit: "",
                digits: 2,
                goal: .atMost(3)),
        ]
    }

    private static func streams(_ scale: Scale, _ fixture: Fixture) async throws -> [Row] {
        let resource: Resource<Int> = fixture.service.resource("streams")
        resource.override(with: 0)
        let readers = (0..<1_000).map { _ in resource.states.makeAsyncIterator() }
        let events = scale.isSmoke ? 5 : 200
        var busy: [Cost] = []
        for round in 0...scale.rounds {
            let event = cost(of: events) { for number in 0..<events { resource.override(with: number) } }
            if round > 0 { busy.append(event) }
        }
        withExtendedLifetime(readers) {}
        return [
            Row(
                what: "an event to 1,000 sequences whose readers are busy",
                value: Cost.medians(busy).nanoseconds / 1000, unit: "us", digits: 1, goal: .atMost(100))
        ]
    }

    private static func beside(_ scale: Scale, _ fixture: Fixture) async throws -> [Row] {
        let resource: Resource<Int> = fixture.service.resource("beside")
        let others = (0..<10_000).map { _ in resource.observeSynchronously { _ in } }
        let count = scale.isSmoke ? 1_000 : 20_000
        var costs: [Cost] = []
        for round in 0...scale.rounds {
            let own = cost(of: count) {
                for _ in 0..<count { resource.observeSynchronously { _ in }.cancel() }
            }
            if round > 0 { costs.append(own) }
        }
        for other in others { other.cancel() }
        return [
            Row(
                what: "observing and leaving beside 10,000 others", value: Cost.medians(costs).nanoseconds / 1000,
                unit: "us", digits: 2, goal: .atMost(1))
        ]
    }
}
