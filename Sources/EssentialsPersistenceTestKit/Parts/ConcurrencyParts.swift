import Dispatch
import EssentialsPersistence
import EssentialsTools

extension PersistenceServiceConformance {
    static let concurrencyParts = [
        Self("Scopes that save at once lose no row", savesAtOnce),
        Self("A scope saves while a call of its parent runs", savesBesideParent),
        Self("Units that read and then change wait for each other", unitsAtOnce),
        Self("Pending rows belong to the scope, and not to the task that made them", otherTasks),
        Self("A read never mixes two states", pairs),
    ]

    private static func savesAtOnce(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let shared = try store.child("shared")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in Int64(0)..<30 {
                group.addTask {
                    let scope = try shared.child("scope \(number)")
                    let inner = try scope.child("inner")
                    try await inner.create(Studio(id: number, name: "\(number)"), save: .pending)
                    try await inner.save(.parent)
                    try await inner.create(Studio(id: number + 100, name: "\(number + 100)"), save: .pending)
                    // A save one level up must lose nothing either.
                    try await inner.save(number % 2 == 0 ? .store : .parent)
                    try await scope.save(.store)
                }
            }
            try await group.waitForAll()
        }
        run.expect(try await store.count(Studio.all), 60, "The number of rows")
        run.expect(try await shared.validate(), SaveReport(), "What is pending afterwards")
    }

    private static func savesBesideParent(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        let inner = try scope.child("inner")
        for level in [SaveLevel.parent, .store] {
            let (began, continuation) = AsyncStream<Void>.makeStream()
            let end = DispatchSemaphore(value: 0)
            let reading = Task {
                try await scope.read { work in
                    let count = try work.count(Studio.all)
                    continuation.yield()
                    end.wait()
                    return (count, try work.count(Studio.all))
                }
            }
            for await _ in began { break }
            let id: Int64 = level == .parent ? 1 : 2
            try await inner.create(Studio(id: id, name: "\(id)"), save: level)
            end.signal()
            let (first, second) = try await reading.value
            run.expect(first, Int(id) - 1, "What the call of the parent finds before a save to \(level)")
            run.expect(second, first, "What the same call finds after it")
        }
        run.expect(try await store.count(Studio.all), 2, "The number of rows")
    }

    private static func unitsAtOnce(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create(Film(title: "counter", year: 1900), save: .store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await store.perform(save: .store) { work in
                        let year = try work.one(Film.all).year
                        try work.update(Film.all) { $0.year = year + 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        run.expect(try await store.one(Film.all).year, 1940, "The number that forty units have counted up")
    }

    private static func otherTasks(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        try await Task.detached { try await scope.create(Shop.ufa, save: .pending) }.value
        let count = try await Task.detached { try await scope.count(Studio.all) }.value
        run.expect(count, 1, "What another task finds")
        let blocking = try await run.blocking { try scope.wait { try $0.fetch(Studio.all) } }
        run.expect(blocking, [Shop.ufa], "What another thread finds")
        _ = try await Task.detached { try await scope.save(.store) }.value
        run.expect(try await store.count(Studio.all), 1, "What another task has saved")
    }

    /// Years in pairs whose sum is always the same.
    private static func pairs(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let films = (0..<8).map { Film(title: "\($0)", year: 2000) }
        try await store.create(films, save: .store)
        let shared = try store.child("shared")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for saver in 0..<4 {
                group.addTask {
                    let scope = try shared.child("saver")
                    let (one, other) = (films[saver * 2].id, films[saver * 2 + 1].id)
                    for round in 1...12 {
                        try await scope.perform(save: .pending) { work in
                            try work.update(one) { $0.year += round }
                            try work.update(other) { $0.year -= round }
                        }
                        try await scope.save(round % 3 == 0 ? .store : .parent, resolving: .mine)
                    }
                }
            }
            for reader in 0..<4 {
                group.addTask {
                    let scope = reader % 2 == 0 ? store : shared
                    for _ in 0..<12 {
                        let (sum, count) = try await scope.read { work in
                            (try work.sum(Film.all.values { $0.year }), try work.count(Film.all))
                        }
                        run.expect(
                            sum == 16_000 && count == 8, "A read has mixed two states: \(count) rows, sum \(sum).")
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
