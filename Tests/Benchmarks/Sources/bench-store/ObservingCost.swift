internal import EssentialsPersistence
internal import EssentialsSQLite
internal import Figures
internal import Synchronization

/// A commit with and without observers, and what readers wait for beside large saves.
enum ObservingCost {
    static func measure(_ scale: Scale) async throws -> [Row] {
        let folder = Folder()
        let store = try await folder.store()
        try await store.importRows(of: Film.self, from: Film.list(1_000))
        let commits = scale.isSmoke ? 5 : 100
        let delivered = Deliveries()
        // Each commit begins when the observers have read what the one before has changed, so that only its own time counts.
        func commit(observers: Int) async throws -> Double {
            var times: [Double] = []
            for number in 0..<commits {
                let expected = delivered.count + observers
                times.append(
                    try await nanoseconds {
                        try await store.update(Film.self, id: 7, save: .store) { $0.rating = Double(number) }
                    })
                while delivered.count < expected { try await Task.sleep(for: .milliseconds(1)) }
            }
            return median(times)
        }
        let alone = try await commit(observers: 0)
        let observers = (0..<100).map { _ in
            Task {
                for try await films in store.observe(Film.where { $0.year == 1_000 }) {
                    _ = films.count
                    delivered.add()
                }
            }
        }
        while delivered.count < observers.count { try await Task.sleep(for: .milliseconds(1)) }
        let observed = try await commit(observers: observers.count)
        for observer in observers { observer.cancel() }
        for observer in observers { _ = await observer.result }
        let waits = try await readerWaits(store, scale)
        await store.close()
        return [
            Row(what: "a commit of one row", value: alone / 1e3, unit: "us", digits: 0),
            Row(
                what: "    with a hundred observers: times as long", value: observed / alone, unit: "", digits: 2,
                goal: .atMost(1.1)),
            Row(
                what: "a read by id beside saves of \(scale.saved) rows: 99 of 100 within", value: waits / 1e3,
                unit: "us"),
        ]
    }

    /// The time within which 99 of 100 reads end while large scopes are saved.
    private static func readerWaits(_ store: SQLitePersistenceService, _ scale: Scale) async throws -> Double {
        let saving = Task {
            for round in 0..<scale.rounds {
                let edits = try store.child("save")
                try await edits.create(Film.list(scale.saved, from: Int64(10_000_000 * (round + 1))), save: .pending)
                try await edits.save(.store)
                await edits.close()
            }
        }
        var times: [Double] = []
        let end = Task {
            _ = await saving.result
            return true
        }
        let limit = ContinuousClock.now + .seconds(scale.isSmoke ? 1 : 5)
        while ContinuousClock.now < limit {
            times.append(try await nanoseconds { _ = try await store.find(Film.self, id: 7) })
        }
        _ = await end.value
        try await saving.value
        return times.sorted()[times.count * 99 / 100]
    }
}

/// How many values the observers have received.
private final class Deliveries: Sendable {
    private let received = Atomic<Int>(0)

    var count: Int { received.load(ordering: .relaxed) }

    func add() { received.add(1, ordering: .relaxed) }
}
