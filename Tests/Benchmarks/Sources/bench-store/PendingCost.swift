internal import EssentialsPersistence
internal import EssentialsSQLite
internal import Figures

/// Reads over pending rows, beside the same reads in a scope that has none.
enum PendingCost {
    private typealias Read = @Sendable (any PersistenceService) async throws -> Int

    private static let reads: [(name: String, repeats: Int, goal: Double, read: Read)] = [
        (
            "a range in the order of an index, 50 rows", 200, 1.5,
            { try await $0.fetch(Film.where { $0.year > 1_100 }.sorted { [$0.year.ascending] }.limit(50)).count }
        ),
        ("200 rows by an index", 100, 1.5, { try await $0.fetch(Film.where { $0.year == 1_050 }).count }),
        ("a filter without an index", 5, 1.5, { try await $0.fetch(Film.where { $0.notes.hasSuffix("77777") }).count }),
        ("the number of all rows", 20, 3, { try await $0.count(Film.all) }),
        ("the number of rows by an index", 100, 3, { try await $0.count(Film.where { $0.year == 1_050 }) }),
    ]

    static func measure(_ scale: Scale) async throws -> [Row] {
        let folder = Folder()
        let store = try await folder.store()
        try await store.importRows(of: Film.self, from: Film.list(scale.stored))
        let (plain, edits) = (try store.child("plain"), try store.child("edit"))
        try await edits.update(
            Film.where { $0.id.isIn((0..<Int64(scale.pending)).map { $0 * 97 % Int64(scale.stored) + 1 }) },
            save: .pending
        ) { $0.rating += 1 }
        var rows: [Row] = []
        for (name, repeats, goal, read) in reads {
            let count = scale.isSmoke ? 2 : repeats
            var (file, pending): ([Double], [Double]) = ([], [])
            // The first read mounts the scope.
            _ = try await read(edits)
            for _ in 0..<scale.rounds {
                file.append(try await nanoseconds { for _ in 0..<count { _ = try await read(plain) } })
                pending.append(try await nanoseconds { for _ in 0..<count { _ = try await read(edits) } })
            }
            rows.append(
                Row(what: name + ", over the file", value: median(file) / Double(count) / 1e3, unit: "us", digits: 1))
            rows.append(
                Row(
                    what: "    over \(scale.pending) pending rows: times as long",
                    value: median(pending) / median(file),
                    unit: "", digits: 2, goal: .atMost(goal)))
        }
        await store.close()
        return rows
    }
}
