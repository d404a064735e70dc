import EssentialsPersistence

extension PersistenceServiceConformance {
    static let readingParts = [
        Self("Queries find what a scope sees, in their order", fetching),
        Self("Rows are fetched by their ids", fetchingByIDs),
        Self("The values of one column are fetched, each once on demand", fetchingValues),
        Self("Values are counted, summed and compared", aggregates),
        Self("Children are fetched with the rows that they refer to", relations),
        Self("Many rows are read in batches", batches),
        Self("Batches of one state see no later change", batchesOfOneState),
        Self("A transformation delivers all results or none", transforming),
        Self("Each row has an origin", origins),
    ]

    private static func fetching(_ run: ConformanceRun) async throws {
        try await Shop.forEach(run) { shop in
            let (scope, place) = (shop.scope, shop.place)
            func expect(_ query: Query<Film>, _ films: [Film], _ text: String) async throws {
                run.expect(try await scope.fetch(query), films, "\(text) (\(place))")
                run.expect(try await scope.first(query), films.first, "The first of: \(text) (\(place))")
                run.expect(try await scope.ids(query), films.map(\.id), "The ids of: \(text) (\(place))")
                run.expect(try await scope.count(query), films.count, "The number of: \(text) (\(place))")
                run.expect(try await scope.exists(query), !films.isEmpty, "The existence of: \(text) (\(place))")
            }
            let (metropolis, faust, m, nosferatu) = (Shop.metropolis, Shop.faust, Shop.m, Shop.nosferatu)
            try await expect(Film.all, Shop.films, "All rows, sorted by id")
            try await expect(Film.where { $0.year == 1926 }, [faust], "The rows of a filter")
            try await expect(Film.where { $0.year > 1926 }, [metropolis, m], "The rows of a filter, sorted by id")
            try await expect(Film.where { $0.year == 1900 }, [], "No rows")
            let byYear = Film.all.sorted { [$0.year.descending] }
            try await expect(byYear, [m, metropolis, faust, nosferatu], "Rows in descending order")
            let byStudio = Film.all.sorted { [$0.studioID.ascending] }
            try await expect(byStudio, [nosferatu, metropolis, faust, m], "Rows with NULL first, ties by id")
            try await expect(
                Film.all.sorted { [$0.studioID.descending, $0.title.ascending] }, [m, faust, metropolis, nosferatu],
                "Rows sorted by two columns")
            try await expect(byYear.limit(2), [m, metropolis], "The first rows")
            try await expect(byYear.limit(2).offset(1), [metropolis, faust], "Rows after an offset")
            try await expect(byYear.offset(3), [nosferatu], "The rows after an offset alone")
            try await expect(byYear.limit(0), [], "A limit of 0")
            try await expect(byYear.offset(9), [], "An offset beyond the last row")
            run.expect(try await scope.one(byYear), m, "The one row (\(place))")
            try await run.expect(.notFound, "A query for one row that finds none") {
                _ = try await scope.one(Film.where { $0.year == 1900 })
            }
            for query in [Film.all.limit(-1), Film.all.offset(-1)] {
                try await run.expect(.invalidQuery, "A query with a negative limit or offset") {
                    _ = try await scope.fetch(query)
                }
            }
        }
    }

    private static func fetchingByIDs(_ run: ConformanceRun) async throws {
        try await Shop.forEach(run) { shop in
            let scope = shop.scope
            let (m, faust) = (Shop.m, Shop.faust)
            run.expect(
                try await scope.fetch(Film.self, ids: [m.id, faust.id, m.id]), [m, faust, m],
                "Rows in the order of the ids, with duplicates (\(shop.place))")
            run.expect(try await scope.find(Film.self, id: m.id), m, "A row found by its id (\(shop.place))")
            let absent = ModelID<Film>()
            run.expect(try await scope.find(Film.self, id: absent), nil, "A row that there is not (\(shop.place))")
            run.expect(
                try await scope.fetch(Film.self, ids: [absent, m.id], missing: .ignore), [m],
                "The rows that there are (\(shop.place))")
            let failure = try await run.expect(.notFound, "A fetch of an id without a row") {
                _ = try await scope.fetch(Film.self, ids: [m.id, absent])
            }
            run.expect(failure.ids, [.blob(absent.bytes)], "The ids in the failure")
            run.expect(failure.model, "film", "The model in the failure")
        }
    }

    private static func fetchingValues(_ run: ConformanceRun) async throws {
        try await Shop.forEach(run) { shop in
            let scope = shop.scope
            let studios = Film.all.sorted { [$0.year.ascending] }.values { $0.studioID }
            run.expect(
                try await scope.values(studios), [nil, 1, 1, 2], "Values in the order of the rows (\(shop.place))")
            run.expect(try await scope.values(studios.distinct()), [nil, 1, 2], "Each value once (\(shop.place))")
            run.expect(try await scope.count(studios.distinct()), 3, "The number of distinct values (\(shop.place))")
            let titles = Film.all.limit(3).offset(1).values { $0.title }
            run.expect(try await scope.values(titles), ["Faust", "M", "Nosferatu"], "Some values (\(shop.place))")
            run.expect(
                try await scope.values(titles.distinct()), ["M", "Metropolis", "Nosferatu"],
                "Distinct values, sorted by themselves before limit and offset (\(shop.place))")
        }
    }

    private static func aggregates(_ run: ConformanceRun) async throws {
        try await Shop.forEach(run) { shop in
            let scope = shop.scope
            let years = Film.all.values { $0.year }
            run.expect(try await scope.sum(years), 7706, "The sum (\(shop.place))")
            run.expect(try await scope.min(years), 1922, "The smallest value (\(shop.place))")
            run.expect(try await scope.max(years), 1931, "The greatest value (\(shop.place))")
            run.expect(try await scope.average(years), 1926.5, "The mean (\(shop.place))")
            let studios = Film.all.values { $0.studioID }
            run.expect(try await scope.counts(by: studios), [nil: 1, 1: 2, 2: 1], "The counts (\(shop.place))")
            run.expect(
                try await scope.sums(of: years, by: { $0.studioID }), [nil: 1922, 1: 3853, 2: 1931],
                "The sums by studio (\(shop.place))")
            run.expect(
                try await scope.sums(of: studios, by: { $0.year }), [1922: 0, 1926: 1, 1927: 1, 1931: 2],
                "The sums of an optional column (\(shop.place))")
            let some = Film.all.sorted { [$0.year.ascending] }.limit(2).offset(1).values { $0.year }
            run.expect(
                try await scope.sums(of: some, by: { $0.studioID }), [1: 3853], "The sums of some rows (\(shop.place))")
            let none = Film.where { $0.year == 1900 }.values { $0.year }
            run.expect(try await scope.sums(of: none, by: { $0.title }), [:], "The sums of nothing (\(shop.place))")
            run.expect(try await scope.sum(none), 0, "The sum of nothing (\(shop.place))")
            run.expect(try await scope.max(none), nil, "The greatest value of nothing (\(shop.place))")
            run.expect(try await scope.average(none), nil, "The mean of nothing (\(shop.place))")
            run.expect(try await scope.counts(by: none), [:], "The counts of nothing (\(shop.place))")
        }
    }

    private static func relations(_ run: ConformanceRun) async throws {
        try await Shop.forEach(run) { shop in
            let scope = shop.scope
            let query = Film.all.sorted { [$0.year.ascending] }
            let pairs = try await scope.fetch(query, with: Film.studio)
            run.expect(
                pairs.map { "\($0.title) \($1?.name ?? "-")" },
                ["Nosferatu -", "Faust Ufa", "Metropolis Ufa", "M Nero"], "The pairs (\(shop.place))")
            let several = try await scope.fetch(query, with: Film.studio, Film.studio, Film.studio)
            run.expect(
                several.map { "\($0.title) \($1?.name ?? "-") \($2?.id ?? 0) \($3?.id ?? 0)" },
                ["Nosferatu - 0 0", "Faust Ufa 1 1", "Metropolis Ufa 1 1", "M Nero 2 2"],
                "Several relations (\(shop.place))")
            try await scope.create(
                [Scene(id: "city", filmID: Shop.metropolis.id), Scene(id: "ship", filmID: Shop.nosferatu.id)],
                save: .pending)
            let scenes = try await scope.fetch(Scene.all, with: Scene.film, then: Film.studio)
            run.expect(
                scenes.map { "\($0.id) \($1?.title ?? "-") \($2?.name ?? "-")" },
                ["city Metropolis Ufa", "ship Nosferatu -"], "The chain of relations (\(shop.place))")
            let lists = try await scope.fetch(Studio.all, with: Studio.films)
            run.expect(
                lists.map { "\($0.name) \($1.map(\.year).sorted())" }, ["Ufa [1926, 1927]", "Nero [1931]"],
                "The rows with their children (\(shop.place))")
            let films = Studio.films.children(of: 1).sorted { [$0.year.ascending] }
            run.expect(try await scope.fetch(films), [Shop.faust, Shop.metropolis], "The children (\(shop.place))")
            let named = Studio.where { $0.name.hasPrefix("N") }.values { $0.id }
            run.expect(
                try await scope.fetch(Film.where { $0.studioID.isIn(named) }), [Shop.m],
                "The rows of a filter with a subquery (\(shop.place))")
            run.expect(
                try await scope.count(Film.where { !$0.studioID.isIn(named) }), 3,
                "The number of rows that a subquery does not find, NULL included (\(shop.place))")
        }
    }

    private static func batches(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create((1...25).map { Studio(id: $0, name: "S\($0)") }, save: .store)
        let scope = try store.child("scope")
        try await scope.create((26...30).map { Studio(id: $0, name: "S\($0)") }, save: .pending)
        try await scope.delete(Studio.self, ids: [2, 11], save: .pending)
        var sizes: [Int] = []
        var found: [Int64] = []
        for try await batch in scope.batches(of: Studio.all, size: 10) {
            sizes.append(batch.count)
            found += batch.map(\.id)
            // The position of the next batch is a row, so this moves nothing.
            if sizes.count == 1 { try await scope.delete(Studio.self, ids: [1], save: .pending) }
        }
        run.expect(sizes, [10, 10, 8], "The sizes of the batches")
        run.expect(found, (1...30).filter { $0 != 2 && $0 != 11 }, "The rows of all batches")
        let query = Studio.all.sorted { [$0.name.descending] }.limit(7).offset(2)
        var limited: [Studio] = []
        for try await batch in scope.batches(of: query, size: 3) { limited += batch }
        run.expect(limited, try await scope.fetch(query), "The batches of a query with an order, a limit and an offset")
        try await run.expect(.invalidQuery, "Batches of no rows") {
            for try await _ in scope.batches(of: Studio.all, size: 0) {}
        }
    }

    private static func batchesOfOneState(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create((1...5).map { Studio(id: $0, name: "S\($0)") }, save: .store)
        let scope = try store.child("scope")
        try await scope.create(Studio(id: 6, name: "S6"), save: .pending)
        var found: [Int64] = []
        for try await batch in scope.batches(of: Studio.all, size: 2, state: .oneState) {
            found += batch.map(\.id)
            if found.count == 2 {
                try await scope.delete(Studio.self, ids: [4], save: .pending)
                try await store.delete(Studio.self, ids: [5], save: .store)
            }
        }
        run.expect(found, [1, 2, 3, 4, 5, 6], "The rows of the state at the beginning")
        run.expect(try await scope.ids(Studio.all), [1, 2, 3, 6], "The rows afterwards")
        try await run.expect(.expired, "A read of one state that takes longer than it may") {
            for try await _ in scope.batches(of: Studio.all, size: 1, state: .oneState(for: .zero)) {}
        }
    }

    private static func transforming(_ run: ConformanceRun) async throws {
        struct Refusal: Error {}
        try await Shop.forEach(run) { shop in
            let titles = try await shop.scope.fetch(Film.where { $0.year > 1926 }) { $0.title }
            run.expect(titles, ["Metropolis", "M"], "The results (\(shop.place))")
            let failure = try await run.expect(.work, "A transformation that throws") {
                _ = try await shop.scope.fetch(Film.all) { film throws -> String in
                    if film.year == 1931 { throw Refusal() }
                    return film.title
                }
            }
            run.expect(
                failure.underlying is Refusal, "The failure must have the error of the closure as underlying error.")
            run.expect(failure.legacyCode, 2000, "The legacy code of the failure")
        }
    }

    private static func origins(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create([Shop.ufa, Shop.nero], save: .store)
        let outer = try store.child("outer")
        let inner = try outer.child("inner")
        try await outer.update(Studio.self, id: 1, save: .pending) { $0.name = "Ufa 2" }
        try await inner.create(Studio(id: 3, name: "Decla"), save: .pending)
        func pending(_ level: Int, _ scope: String, _ kind: RowOrigin.Pending.Kind) -> RowOrigin {
            .pending(RowOrigin.Pending(level: level, scope: scope, kind: kind))
        }
        let found = try await inner.fetchWithOrigins(Studio.all)
        run.expect(found.map(\.model.id), [1, 2, 3], "The rows")
        run.expect(
            found.map(\.origin), [pending(2, "outer", .updated), .stored, pending(3, "inner", .inserted)], "The origins"
        )
        run.expect(
            try await outer.fetchWithOrigins(Studio.all).map(\.origin), [pending(2, "outer", .updated), .stored],
            "The origins in the scope above")
        try await inner.save(.store)
        run.expect(
            try await inner.fetchWithOrigins(Studio.all).map(\.origin.isPending), [false, false, false],
            "Whether rows are pending after a save")
    }
}
