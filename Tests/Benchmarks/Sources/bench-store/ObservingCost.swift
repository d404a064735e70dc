internal import EssentialsPersistence
internal import EssentialsSQLite
internal import Figures
internal import Synchronization

/// A commit with and without observers, and what readers wait for beside large saves.
enum ObservingCost {
    static func measure(_ scale: Scale) async throws -> [Row] {
        let folder = Folder()
        let (store, alone) = (try await folder.store(), try await folder.store("alone.sqlite"))
        for store in [store, alone] { try await store.importRows(of: Film.self, from: Film.list(1_000)) }
        let delivered = Deliveries()
        let observers = (0..<100).map { _ in
            Task {
                for try await films in store.observe(Film.where { $0.year == 1_000 }) {
                    _ = films.count
                    delivered.add()
                }
            }
        }
        while delivered.count < observers.count { try await Task.sleep(for: .milliseconds(1)) }
        var (times, observedTimes): ([Double], [Double]) = ([], [])
        for number in 0..<(scale.isSmoke ? 5 : 100) {
            // Each commit begins after a pause, when the observers have read what the one before has changed. So only its
            // own time counts, and both sides find the machine in the same state.
            try await Task.sleep(for: .milliseconds(1))
            times.append(try await commit(number, in: alone))
            try await Task.sleep(for: .milliseconds(1))
            let expected = delivered.count + observers.count
            observedTimes.append(try await commit(number, in: store))
            while delivered.count < expected { try await Task.sleep(for: .milliseconds(1)) }
        }
        for observer in observers { observer.cancel() }
        for observer in observers { _ = await observer.result }
        await alone.close()
        let waits = try await readerWaits(store, scale)
        await store.close()
        return [
            Row(what: "a commit of one row", value: median(times) / 1e3, unit: "us", digits: 0),
            Row(
                what: "    with a hundred observers: times as long", value: median(observedTimes) / median(times),
                unit: "",
                digits: 2,
                goal: .atMost(1.1)),
            Row(
                what: "a read by id beside saves of \(scale.saved) rows: 99 of 100 within", value: waits / 1e3,
                unit: "us"),
        ]
    }

    private static func commit(_ number: Int, in store: SQLitePersistenceService) async throws -> Double {
        try await nanoseconds {
            try await store.update(Film.self, id: 7, save: .store) { $0.rating = Double(number) }
        }
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
