internal import EssentialsPersistence
internal import EssentialsSQLite
internal import Figures

/// Rows that a unit of work creates one by one, and a row that is saved to a scope with many pending rows.
enum UnitCost {
    static func measure(_ scale: Scale) async throws -> [Row] {
        let folder = Folder()
        let store = try await folder.store()
        let films = Film.list(scale.unit)
        var (created, level): ([Double], [Double]) = ([], [])
        for _ in 0..<scale.rounds {
            let edits = try store.child("edit")
            created.append(
                try await nanoseconds {
                    try await edits.perform(save: .pending) { work in for film in films { try work.create(film) } }
                })
            await edits.close()
        }
        let upper = try store.child("upper")
        try await upper.create(Film.list(scale.pendingAbove), save: .pending)
        let lower = try upper.child("lower")
        // The first call brings the pending rows to a connection.
        try await lower.create(Film.list(1, from: 1_000_001), save: .parent)
        for round in 0..<scale.rounds {
            let film = Film.list(1, from: 2_000_000 + Int64(round))
            level.append(try await nanoseconds { try await lower.create(film, save: .parent) })
        }
        await store.close()
        return [
            Row(
                what: "\(films.count) rows created one by one in a unit of work: a row",
                value: median(created) / Double(films.count) / 1e3, unit: "us", digits: 1, goal: .atMost(10)),
            Row(
                what: "a row saved to a scope with \(scale.pendingAbove) pending rows", value: median(level) / 1e6,
                unit: "ms", digits: 2, goal: .atMost(0.5)),
        ]
    }
}
