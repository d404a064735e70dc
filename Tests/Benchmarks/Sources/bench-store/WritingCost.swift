internal import EssentialsPersistence
internal import EssentialsSQLite
internal import Figures

/// Rows that are created and saved, and rows that are imported.
enum WritingCost {
    static func measure(_ scale: Scale) async throws -> [Row] {
        let folder = Folder()
        let (store, peer) = (try await folder.store(), try folder.peer())
        let films = Film.list(scale.created)
        let peers = films.map { PeerFilm($0) }
        var (saved, imported, inserted, level): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for _ in 0..<scale.rounds {
            inserted.append(try await nanoseconds { try await peer.insert(peers) })
            try await peer.deleteAll()
            let edits = try store.child("edit")
            saved.append(
                try await nanoseconds {
                    try await edits.create(films, save: .pending)
                    try await edits.save(.store)
                })
            await edits.close()
            try await store.delete(Film.all, save: .store)
            imported.append(try await nanoseconds { try await store.importRows(of: Film.self, from: films) })
            try await store.delete(Film.all, save: .store)
            let upper = try store.child("upper")
            let lower = try upper.child("lower")
            try await lower.create(Array(films.prefix(1_000)), save: .pending)
            level.append(try await nanoseconds { try await lower.save(.parent) })
            await lower.close()
            await upper.close()
        }
        await store.close()
        try peer.close()
        let insert = median(inserted)
        return [
            Row(what: "\(films.count) rows in one transaction, GRDB", value: insert / 1e6, unit: "ms", digits: 1),
            Row(
                what: "created in a scope and saved: times as fast", value: insert / median(saved), unit: "", digits: 2,
                goal: .atLeast(0.85)),
            Row(
                what: "imported: times as fast", value: insert / median(imported), unit: "", digits: 2,
                goal: .atLeast(1)),
            Row(
                what: "\(min(films.count, 1_000)) rows saved to the scope above", value: median(level) / 1e6,
                unit: "ms",
                digits: 2, goal: .atMost(1)),
        ]
    }
}
