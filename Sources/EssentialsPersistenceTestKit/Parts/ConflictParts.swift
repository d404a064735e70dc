import EssentialsPersistence

extension PersistenceServiceConformance {
    static let conflictParts = [
        Self("A save decides each pair of changes by its policy", policies),
        Self("A save between scopes decides conflicts by the same table", policiesBetweenScopes),
        Self("A conflict names the row and its columns, with base, mine and theirs", conflictTexts),
        Self("The resolution of a save counts before that of its scope", resolutions),
        Self("A closure decides each conflict", decisions),
    ]

    /// What one side has done to the film.
    private enum Change: String { case none, title, year, same, delete, insert }

    /// Two changes, and what a save makes of them: the title and the year afterwards, or `nil` for a conflict.
    private struct Pair {
        let mine: Change
        let others: Change
        let results: [ConflictPolicy: String?]

        init(_ mine: Change, _ others: Change, fail: String?, mine own: String?, theirs: String?, merge: String?) {
            self.mine = mine
            self.others = others
            results = [.fail: fail, .mine: own, .theirs: theirs, .mergeColumns: merge]
        }
    }

    private static let pairs = [
        Pair(.title, .none, fail: "mine 1900", mine: "mine 1900", theirs: "mine 1900", merge: "mine 1900"),
        Pair(.title, .year, fail: nil, mine: "mine 1900", theirs: "base 1950", merge: "mine 1950"),
        Pair(.title, .title, fail: nil, mine: "mine 1900", theirs: "others 1900", merge: nil),
        Pair(.title, .delete, fail: nil, mine: "mine 1900", theirs: "gone", merge: nil),
        Pair(.delete, .none, fail: "gone", mine: "gone", theirs: "gone", merge: "gone"),
        Pair(.delete, .title, fail: nil, mine: "gone", theirs: "others 1900", merge: nil),
        Pair(.delete, .delete, fail: "gone", mine: "gone", theirs: "gone", merge: "gone"),
        Pair(.insert, .insert, fail: nil, mine: "mine 1900", theirs: "others 1900", merge: nil),
        Pair(.same, .same, fail: "same 1900", mine: "same 1900", theirs: "same 1900", merge: "same 1900"),
    ]

    private static let film = Film(title: "base", year: 1900)

    private static func make(
        _ change: Change, _ title: String, in service: any PersistenceService, _ level: SaveLevel
    ) async throws {
        switch change {
        case .none: break
        case .title: try await service.update(film.id, save: level) { $0.title = title }
        case .year: try await service.update(film.id, save: level) { $0.year = 1950 }
        case .same: try await service.update(film.id, save: level) { $0.title = "same" }
        case .delete: try await service.delete(Film.self, ids: [film.id], save: level)
        case .insert: try await service.create(Film(id: film.id, title: title, year: 1900), save: level)
        }
    }

    private static func text(_ service: any PersistenceService) async throws -> String {
        try await service.find(Film.self, id: film.id).map { "\($0.title) \($0.year)" } ?? "gone"
    }

    /// Saves a change of a scope over one of others, and compares the row.
    private static func check(
        _ run: ConformanceRun, _ pair: Pair, _ policy: ConflictPolicy, _ scope: any PersistenceService,
        _ level: SaveLevel,
        below: any PersistenceService
    ) async throws {
        let name = "\(pair.mine.rawValue) over \(pair.others.rawValue) with \(policy)"
        let (mine, theirs) = (try await text(scope), try await text(below))
        if let expected = pair.results[policy] ?? nil {
            try await scope.save(level, resolving: .policy(policy))
            run.expect(try await text(below), expected, "The row after \(name)")
            run.expect(try await text(scope), expected, "The row in the scope after \(name)")
        } else {
            let failure = try await run.expect(.conflict, "A save of \(name)") {
                try await scope.save(level, resolving: .policy(policy))
            }
            run.expect(failure.conflicts.map(\.id), [.blob(film.id.bytes)], "The ids of the conflicts of \(name)")
            run.expect(try await text(scope), mine, "The row in the scope after the conflict of \(name)")
            run.expect(try await text(below), theirs, "The row below after the conflict of \(name)")
        }
    }

    private static func policies(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        for pair in pairs {
            for policy in ConflictPolicy.allCases {
                try await store.delete(Film.all, save: .store)
                if pair.mine != .insert { try await store.create(film, save: .store) }
                let scope = try store.child("scope")
                try await make(pair.mine, "mine", in: scope, .pending)
                try await make(pair.others, "others", in: store, .store)
                try await check(run, pair, policy, scope, .store, below: store)
                await scope.close()
            }
        }
    }

    private static func policiesBetweenScopes(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        for pair in pairs {
            try await store.delete(Film.all, save: .store)
            if pair.mine != .insert { try await store.create(film, save: .store) }
            for policy in ConflictPolicy.allCases {
                let scope = try store.child("scope")
                let inner = try scope.child("inner")
                try await make(pair.mine, "mine", in: inner, .pending)
                try await make(pair.others, "others", in: scope, .pending)
                try await check(run, pair, policy, inner, .parent, below: scope)
                await scope.close()
            }
        }
    }

    private static func conflictTexts(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let films = (0..<3).map { Film(title: "base \($0)", year: 1900) }
        try await store.create(films, save: .store)
        let scope = try store.child("scope")
        try await scope.update(Film.all, save: .pending) { ($0.title, $0.year) = ("mine", 1910) }
        try await store.update(films[0].id, save: .store) { ($0.title, $0.studioID) = ("theirs", nil) }
        try await store.update(films[1].id, save: .store) { $0.year = 1920 }
        let failure = try await run.expect(.conflict, "A save over two changed rows") { try await scope.save(.store) }
        run.expect(failure.model, "film", "The model in the failure")
        run.expect(Set(failure.ids), Set(films.prefix(2).map { .blob($0.id.bytes) }), "The ids in the failure")
        for (film, column) in zip(films, ["title", "year"]) {
            let found = failure.conflicts.first { $0.id == .blob(film.id.bytes) }
            let conflict = try run.require(found, "The conflict of a row")
            run.expect(conflict.columns, [column], "The columns that both have changed")
            run.expect(conflict.change, .update, "What the scope has done")
            let models = try conflict.models(of: Film.self)
            run.expect(models.base, film, "The base")
            run.expect(models.mine, Film(id: film.id, title: "mine", year: 1910), "The scope's row")
            run.expect(models.theirs, try await store.find(Film.self, id: film.id), "The row of others")
        }
    }

    private static func resolutions(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create(film, save: .store)
        let theirs = try store.child("theirs", resolving: .theirs)
        let inner = try theirs.child("inner")
        let cases: [(any PersistenceService, ConflictResolution?, String)] = [
            (theirs, nil, "others 1900"), (theirs, .mine, "mine 1900"), (inner, nil, "others 1900"),
            (inner, .mine, "mine 1900"),
        ]
        for (scope, call, expected) in cases {
            try await store.update(film.id, save: .store) { $0.title = "base" }
            try await scope.update(film.id, save: .pending) { $0.title = "mine" }
            try await store.update(film.id, save: .store) { $0.title = "others" }
            let report = try await scope.save(.store, resolving: call)
            let kept = expected == "others 1900" ? 1 : 0
            run.expect(report, SaveReport(updated: 1 - kept, kept: kept), "The report of \(scope.name)")
            run.expect(try await text(store), expected, "The row after a save of \(scope.name)")
        }
    }

    private static func decisions(_ run: ConformanceRun) async throws {
        struct Refusal: Error {}
        let store = try await run.store()
        let films = (0..<4).map { Film(title: "base \($0)", year: 1900) }
        try await store.create(films, save: .store)
        let scope = try store.child("scope")
        try await scope.update(Film.all, save: .pending) { $0.title = "mine" }
        try await store.update(Film.where { $0.id != films[3].id }, save: .store) { $0.title = "others" }
        let failure = try await run.expect(.work, "A save whose closure throws") {
            try await scope.save(.store, resolving: ConflictResolution { _ in throw Refusal() })
        }
        run.expect(failure.underlying is Refusal, "The failure must have the error of the closure as underlying error.")
        let report = try await scope.save(
            .store,
            resolving: ConflictResolution { conflict in
                switch conflict.id {
                case .blob(films[0].id.bytes): return .mine
                case .blob(films[1].id.bytes): return .theirs
                default:
                    var film = films[2]
                    film.title = "both"
                    return try .model(film, for: conflict)
                }
            })
        run.expect(report, SaveReport(updated: 3, kept: 1), "The report")
        run.expect(try await store.fetch(Film.all).map(\.title), ["mine", "others", "both", "mine"], "The titles")
    }
}
