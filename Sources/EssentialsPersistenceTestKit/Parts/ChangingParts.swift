import EssentialsPersistence

extension PersistenceServiceConformance {
    static let changingParts = [
        Self("Rows are created all together or not at all", creating),
        Self("A failed creation leaves nothing behind", failedCreation),
        Self("Rows are created from sources", creatingFromSources),
        Self("Rows are put, whether they are there or not", putting),
        Self("Rows are updated by their ids and by queries", updating),
        Self("A failed update changes nothing", failedUpdates),
        Self("An edit is judged by what was shown", editing),
        Self("Rows are deleted by queries, by ids and as models", deleting),
        Self("A unit of work is made whole or not at all", units),
        Self("An import writes past all scopes", importing),
    ]

    private static func creating(_ run: ConformanceRun) async throws {
        for level in SaveLevel.allCases {
            let store = try await run.store()
            let scope = try store.child("scope")
            try await scope.create(Shop.ufa, save: level)
            run.expect(try await scope.fetch(Studio.all), [Shop.ufa], "The rows of the scope (\(level))")
            run.expect(
                try await store.fetch(Studio.all), level == .pending ? [] : [Shop.ufa], "The rows above (\(level))")
            let failure = try await run.expect(.constraint, "A row with an id that there is (\(level))") {
                try await scope.create([Shop.nero, Studio(id: 1, name: "Decla")], save: level)
            }
            run.expect(failure.ids, [1], "The ids in the failure (\(level))")
            try await run.expect(.invalidModel, "Two new rows with one id (\(level))") {
                try await scope.create([Shop.nero, Shop.nero], save: level)
            }
            run.expect(try await scope.fetch(Studio.all), [Shop.ufa], "The rows after failures (\(level))")
            try await scope.create([Studio](), save: level)
            try await scope.create([Shop.nero, Studio(id: 3, name: "Decla")], save: level)
            run.expect(try await scope.ids(Studio.all), [1, 2, 3], "The ids of all rows (\(level))")
        }
    }

    private static func failedCreation(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        try await store.create(Shop.ufa, save: .store)
        for service in [store, scope] {
            try await run.expect(.constraint, "A creation whose save violates a constraint") {
                try await service.create(Studio(id: 2, name: "Ufa"), save: .store)
            }
            run.expect(try await service.ids(Studio.all), [1], "The rows after a failed creation")
            // Whatever failed before, a save without that row works.
            run.expect(try await service.save(.store), SaveReport(), "The report of the next save")
        }
        try await scope.create(Studio(id: 2, name: "Nero"), save: .store)
        run.expect(try await store.fetch(Studio.all), [Shop.ufa, Shop.nero], "The rows after a creation that succeeds")
    }

    private static func creatingFromSources(_ run: ConformanceRun) async throws {
        struct Refusal: Error {}
        let store = try await run.store()
        run.expect(
            try await store.create(from: [Int64](), save: .store) { Studio(id: $0, name: "") }, 0,
            "The number of no rows")
        run.expect(
            try await store.create(from: [1, 2], save: .store) { Studio(id: $0, name: "\($0)") }, 2,
            "The number of rows")
        let failure = try await run.expect(.work, "A creation whose closure throws") {
            try await store.create(from: [3, 4], save: .store) { (id: Int64) throws -> Studio in
                if id == 4 { throw Refusal() }
                return Studio(id: id, name: "\(id)")
            }
        }
        run.expect(failure.underlying is Refusal, "The failure must have the error of the closure as underlying error.")
        run.expect(try await store.ids(Studio.all), [1, 2], "The rows")
    }

    private static func putting(_ run: ConformanceRun) async throws {
        try await Shop.forEach(run) { shop in
            let scope = shop.scope
            var m = Shop.m
            m.year = 1932
            let new = Film(title: "Spione", year: 1928)
            try await scope.put([m, new], save: .pending)
            run.expect(try await scope.find(Film.self, id: m.id), m, "A row that was replaced (\(shop.place))")
            run.expect(try await scope.find(Film.self, id: new.id), new, "A row that was created (\(shop.place))")
            try await run.expect(.invalidModel, "Two rows with one id (\(shop.place))") {
                try await scope.put([new, new], save: .pending)
            }
            try await scope.save(.store)
            run.expect(
                try await shop.store.fetch(Film.self, ids: [m.id, new.id]), [m, new], "The rows (\(shop.place))")
        }
    }

    private static func updating(_ run: ConformanceRun) async throws {
        try await Shop.forEach(run) { shop in
            let scope = shop.scope
            try await scope.update(Shop.m.id, save: .pending) { $0.year += 1 }
            try await scope.update(Film.self, id: Shop.m.id, save: .pending) { $0.year += 1 }
            run.expect(try await scope.find(Shop.m.id)?.year, 1933, "A year (\(shop.place))")
            let count = try await scope.update(Film.where { $0.year < 1930 }, save: .pending) { $0.studioID = nil }
            run.expect(count, 3, "The number of rows that the query finds (\(shop.place))")
            let first = Film.all.sorted { [$0.year.ascending] }.limit(1)
            run.expect(
                try await scope.update(first, save: .pending) { $0.title = "First" }, 1,
                "The number of rows that the limit allows (\(shop.place))")
            run.expect(
                try await scope.update(Film.where { $0.year == 1 }, save: .pending) { $0.year = 2 }, 0,
                "The number of no rows (\(shop.place))")
            try await scope.save(.store)
            let titles = try await shop.store.fetch(Film.where { $0.studioID == nil }).map(\.title)
            run.expect(titles, ["Metropolis", "Faust", "First"], "The titles in the store (\(shop.place))")
        }
    }

    private static func failedUpdates(_ run: ConformanceRun) async throws {
        struct Refusal: Error {}
        try await Shop.forEach(run) { shop in
            let scope = shop.scope
            let failure = try await run.expect(.work, "An update whose closure throws (\(shop.place))") {
                try await scope.update(Film.all, save: .pending) { film in
                    film.year = 1
                    if film.title == "M" { throw Refusal() }
                }
            }
            run.expect(
                failure.underlying is Refusal, "The failure must have the error of the closure as underlying error.")
            try await run.expect(.invalidModel, "An update that changes the id (\(shop.place))") {
                try await scope.update(Shop.m.id, save: .pending) { $0.id = ModelID<Film>() }
            }
            let absent = ModelID<Film>()
            let missing = try await run.expect(.notFound, "An update of a row that there is not (\(shop.place))") {
                try await scope.update(absent, save: .pending) { $0.year = 1 }
            }
            run.expect(missing.ids, [.blob(absent.bytes)], "The ids in the failure (\(shop.place))")
            run.expect(try await scope.fetch(Film.all), Shop.films, "The rows after all failures (\(shop.place))")
        }
    }

    private static func editing(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create(
            [Shop.m, Shop.faust].map { Film(id: $0.id, title: $0.title, year: $0.year) }, save: .store)
        let scope = try store.child("scope")
        let shown = try run.require(try await scope.find(Film.self, id: Shop.m.id), "A row")
        var edited = shown
        edited.title = "M - Eine Stadt sucht einen Mörder"
        try await scope.update(edited, from: shown, save: .pending)
        run.expect(try await scope.find(Film.self, id: shown.id), edited, "The row after an edit")
        try await scope.rollback()
        try await store.update(shown.id, save: .store) { $0.year = 1930 }
        let edit = edited
        let failure = try await run.expect(.conflict, "An edit of a row that others have changed since it was shown") {
            try await scope.update(edit, from: shown, save: .store)
        }
        let models = try run.require(failure.conflicts.first, "The conflict").models(of: Film.self)
        run.expect(models.base, shown, "The base of the conflict")
        run.expect(models.theirs?.year, 1930, "The year that others have saved")
        try await scope.update(edited, from: shown, save: .store, resolving: .mergeColumns)
        edited.year = 1930
        run.expect(try await store.find(Film.self, id: shown.id), edited, "The row with both changes")
    }

    private static func deleting(_ run: ConformanceRun) async throws {
        try await Shop.forEach(run) { shop in
            let scope = shop.scope
            run.expect(
                try await scope.delete(Film.where { $0.year == 1900 }, save: .pending), 0,
                "The number of no rows (\(shop.place))")
            let absent = ModelID<Film>()
            let failure = try await run.expect(.notFound, "A deletion of ids without rows (\(shop.place))") {
                try await scope.delete(Film.self, ids: [absent, Shop.m.id], save: .pending)
            }
            run.expect(failure.ids, [.blob(absent.bytes)], "The ids in the failure (\(shop.place))")
            run.expect(try await scope.count(Film.all), 4, "The number of rows after the failure (\(shop.place))")
            run.expect(
                try await scope.delete(Film.self, ids: [absent, Shop.m.id], missing: .ignore, save: .pending), 1,
                "The number of rows that there were (\(shop.place))")
            run.expect(try await scope.find(Film.self, id: Shop.m.id), nil, "A row that is deleted (\(shop.place))")
            let oldest = Film.all.sorted { [$0.year.ascending] }
            run.expect(
                try await scope.delete(oldest.limit(1).offset(1), save: .pending), 1,
                "The number of rows that limit and offset allow (\(shop.place))")
            run.expect(
                try await scope.fetch(Film.all), [Shop.metropolis, Shop.nosferatu],
                "The rows that are left (\(shop.place))")
            run.expect(
                try await scope.delete([Shop.metropolis], save: .pending), 1, "The number of models (\(shop.place))")
            try await scope.create(Shop.m, save: .pending)
            try await scope.save(.store)
            run.expect(
                try await shop.store.fetch(Film.all), [Shop.m, Shop.nosferatu], "The rows in the store (\(shop.place))")
        }
    }

    private static func units(_ run: ConformanceRun) async throws {
        try await Shop.forEach(run) { shop in
            let scope = shop.scope
            let new = Film(title: "Spione", year: 1928, studioID: 1)
            let seen = try await scope.perform(save: .pending) { work in
                try work.create(new)
                try work.update(Shop.m.id) { $0.year = 1932 }
                try work.delete(Film.where { $0.year == 1922 })
                return try work.values(Film.all.values { $0.year })
            }
            run.expect(seen, [1927, 1926, 1932, 1928], "What the unit sees of its own changes (\(shop.place))")
            run.expect(try await scope.values(Film.all.values { $0.year }), seen, "What it has made (\(shop.place))")
            let failure = try await run.expect(.limit, "A unit that throws a failure (\(shop.place))") {
                try await scope.perform(save: .store) { work in
                    try work.delete(Film.all)
                    throw PersistenceFailure(.limit, "Enough.")
                }
            }
            run.expect(failure.message, "Enough.", "The message of the failure (\(shop.place))")
            run.expect(try await scope.count(Film.all), 4, "The number of rows after the failure (\(shop.place))")
            try await run.expect(.constraint, "A unit whose save fails (\(shop.place))") {
                try await scope.perform(save: .store) { work in
                    try work.update(Shop.m.id) { $0.year = 9999 }
                }
            }
            run.expect(
                try await scope.values(Film.all.values { $0.year }), seen,
                "The rows after a failed save (\(shop.place))")
            try await run.expect(.invalidQuery, "A change in a unit that only reads (\(shop.place))") {
                _ = try await scope.read { work in try work.delete(Film.all) }
            }
            let work = try await scope.perform(save: .pending) { Escaped(work: $0) }
            try await run.expect(.closed, "A use of a unit after its end (\(shop.place))") {
                _ = try work.work.count(Film.all)
            }
        }
    }

    private static func importing(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        try await scope.create(Studio(id: 9, name: "Pending"), save: .pending)
        let studios = (1...7).map { Studio(id: $0, name: "S\($0)") }
        let report = try await scope.importRows(of: Studio.self, from: studios, batch: 3)
        run.expect(report.inserted, 7, "The number of rows in the report")
        run.expect(report.batches, 3, "The number of batches in the report")
        run.expect(try await store.fetch(Studio.all), studios, "The rows in the store, without pending ones")
        run.expect(try await scope.count(Studio.all), 8, "The number of rows in the scope")
        let failure = try await run.expect(.constraint, "An import of a row that there is") {
            try await store.importRows(
                of: Studio.self, from: [8, 10, 3].map { Studio(id: $0, name: "N\($0)") }, batch: 2)
        }
        run.expect(failure.imported?.inserted, 2, "The number of rows that were stored before the failure")
        run.expect(try await store.ids(Studio.all), [1, 2, 3, 4, 5, 6, 7, 8, 10], "The ids after the failure")
        let more = [Studio(id: 1, name: "New 1"), Studio(id: 11, name: "S11")]
        let ignoring = try await store.importRows(of: Studio.self, from: more, onConflict: .ignore)
        run.expect(ignoring.ignored == 1 && ignoring.inserted == 1, "A row that there is must be ignored: \(ignoring).")
        run.expect(try await store.find(Studio.self, id: 1)?.name, "S1", "The name of a row that was ignored")
        let replacing = try await store.importRows(of: Studio.self, from: more, onConflict: .replace)
        run.expect(replacing.replaced == 2 && replacing.inserted == 0, "Rows must be replaced: \(replacing).")
        run.expect(try await store.find(Studio.self, id: 1)?.name, "New 1", "The name of a row that was replaced")
    }
}

/// A unit of work that leaves its closure, which no caller should let it.
private struct Escaped: @unchecked Sendable {
    // `@unchecked Sendable`: it is used on one thread at a time, after the closure that made it has ended.
    let work: PersistenceWork
}
