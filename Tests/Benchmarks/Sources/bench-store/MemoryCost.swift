internal import EssentialsPersistence
internal import EssentialsSQLite
internal import Figures
internal import Glibc
internal import ThreadCounters

/// The memory of stores, scopes and pending rows, and the times within which a small store answers.
enum MemoryCost {
    static func measure(_ scale: Scale) async throws -> [Row] {
        try await opening(scale) + pendingRows(scale) + scopes(scale)
    }

    private static func opening(_ scale: Scale) async throws -> [Row] {
        var (times, sizes, edits): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0...scale.rounds {
            let folder = Folder()
            let before = heap_bytes()
            var opened: SQLitePersistenceService?
            let time = try await nanoseconds { opened = try await folder.store() }
            guard let store = opened else { continue }
            try await store.create(Film.list(1), save: .store)
            _ = try await store.find(Film.self, id: 1)
            let size = Double(heap_bytes()) - Double(before)
            let edit = try await nanoseconds {
                try await store.update(Film.self, id: 1, save: .store) { $0.rating += 1 }
                _ = try await store.find(Film.self, id: 1)
            }
            await store.close()
            (times, sizes, edits) = (times + [time], sizes + [size], edits + [edit])
        }
        // The first store pays for what all share.
        return [
            Row(
                what: "a new store with its migration opens", value: median(times) / 1e6, unit: "ms", digits: 1,
                goal: .atMost(1_000)),
            Row(
                what: "an update of its store, and a read", value: median(edits) / 1e6, unit: "ms", digits: 2,
                goal: .atMost(50)),
            Row(
                what: "an open store", value: median(Array(sizes.dropFirst())) / 1e6, unit: "MB", digits: 2,
                goal: .atMost(3), isJudged: true),
        ]
    }

    /// The bytes of the values of a row, without their types.
    private static func bytes(_ film: Film) -> Int { 8 * 3 + film.title.utf8.count + film.notes.utf8.count }

    private static func pendingRows(_ scale: Scale) async throws -> [Row] {
        let folder = Folder()
        let store = try await folder.store()
        // One scope pays for what all share.
        for count in [10, 0] {
            let edits = try store.child("first")
            try await edits.create(Film.list(max(count, 1)), save: .pending)
            _ = try await edits.fetch(Film.all).count
            await edits.close()
        }
        let films = Film.list(scale.held)
        let own = films.reduce(0) { $0 + bytes($1) }
        let edits = try store.child("edit")
        let before = heap_bytes()
        try await edits.create(films, save: .pending)
        let pending = Double(heap_bytes()) - Double(before)
        let unmounted = heap_bytes()
        _ = try await edits.fetch(Film.where { $0.year == 1_000 }).count
        let mounted = Double(heap_bytes()) - Double(unmounted)
        await edits.close()
        await store.close()
        let row = Double(own) / Double(films.count)
        return [
            Row(
                what: "a pending row of \(Int(row)) bytes", value: pending / Double(films.count), unit: "bytes",
                digits: 0, goal: .atMost(2.5 * row + 200), isJudged: true),
            Row(
                what: "mounting them, beside their \(own / 1_000) KB", value: (mounted - Double(own)) / 1e6, unit: "MB",
                digits: 2, goal: .atMost(1)),
        ]
    }

    private static func scopes(_ scale: Scale) async throws -> [Row] {
        let folder = Folder()
        let store = try await folder.store()
        try await store.importRows(of: Film.self, from: Film.list(200))
        func use(_ count: Int) async throws {
            for number in 0..<count {
                let scope = try store.child("scope")
                try await scope.update(Film.self, id: Int64(number % 200 + 1), save: .pending) { $0.rating += 1 }
                if number.isMultiple(of: 10) { _ = try await scope.count(Film.where { $0.year == 1_000 }) }
                await scope.close()
            }
        }
        try await use(1_000)
        let (before, files) = (heap_bytes(), descriptors())
        let count = scale.scopes
        try await use(count)
        let grown = (Double(heap_bytes()) - Double(before)) / Double(count)
        let opened = descriptors() - files
        await store.close()
        return [
            Row(
                what: "growth for each of \(count) scopes", value: grown, unit: "bytes", digits: 2, goal: .atMost(4),
                isJudged: true),
            Row(
                what: "    descriptors more than before", value: Double(opened), unit: "", digits: 0, goal: .atMost(0),
                isJudged: true),
        ]
    }

    private static func descriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }
}
