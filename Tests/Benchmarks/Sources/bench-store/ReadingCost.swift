internal import EssentialsPersistence
internal import EssentialsSQLite
internal import Figures

/// All rows, and single rows by their ids.
enum ReadingCost {
    static func measure(_ scale: Scale) async throws -> [Row] {
        let folder = Folder()
        let (store, peer) = (try await folder.store(), try folder.peer())
        let films = Film.list(scale.stored)
        try await store.importRows(of: Film.self, from: films)
        try await peer.insert(films.map { PeerFilm($0) })
        let edits = try store.child("edit")
        try await edits.create(Film.list(1, from: 1_000_000), save: .pending)
        var (all, peerAll, one, peerOne): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        var pending: [Double] = []
        for _ in 0..<scale.rounds {
            peerAll.append(try await nanoseconds { try check(try await peer.all().count, films.count) })
            all.append(try await nanoseconds { try check(try await store.fetch(Film.all).count, films.count) })
            peerOne.append(
                try await nanoseconds {
                    for number in 0..<scale.lookups { _ = try await peer.one(id(number, films.count)) }
                })
            one.append(
                try await nanoseconds {
                    for number in 0..<scale.lookups {
                        _ = try await store.find(Film.self, id: id(number, films.count))
                    }
                })
            pending.append(
                try await nanoseconds {
                    for _ in 0..<scale.lookups { _ = try await edits.find(Film.self, id: 1_000_000) }
                })
        }
        await store.close()
        try peer.close()
        let lookups = Double(scale.lookups)
        return [
            Row(what: "\(films.count) rows, GRDB", value: median(peerAll) / 1e6, unit: "ms", digits: 1),
            Row(
                what: "    ours: times as fast", value: median(peerAll) / median(all), unit: "", digits: 2,
                goal: .atLeast(0.9)),
            Row(what: "a row by its id, GRDB", value: median(peerOne) / lookups / 1e3, unit: "us", digits: 1),
            Row(
                what: "    ours: times as long", value: median(one) / median(peerOne), unit: "", digits: 2,
                goal: .atMost(1.2)),
            Row(
                what: "a pending row by its id", value: median(pending) / lookups / 1e3, unit: "us", digits: 1,
                goal: .atMost(3)),
        ]
    }

    private static func id(_ number: Int, _ count: Int) -> Int64 { Int64(number * 7_919 % count + 1) }

    private static func check(_ count: Int, _ expected: Int) throws {
        guard count == expected else { throw BenchmarkError("\(count) rows instead of \(expected)") }
    }
}
