import EssentialsPersistence

extension PersistenceServiceConformance {
    static let constraintParts = [
        Self("A violated constraint is named with its rows", violations),
        Self("Rows that exchange a unique value are saved, or the failure says what helps", exchangedValues),
        Self("Rows may be saved in any order that their references allow", referenceOrder),
        Self("A deletion that is restricted fails in the scope", restricted),
        Self("A deletion cascades in the scope, and at the save to rows that came meanwhile", cascades),
        Self("A deletion ends references in the scope, and at the save those that came meanwhile", endedReferences),
    ]

    private static func violations(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create(Shop.ufa, save: .store)
        let scope = try store.child("scope")
        let early = Film(title: "early", year: 1)
        let orphan = Film(title: "orphan", year: 1926, studioID: 77)
        let named = { (failure: PersistenceFailure, kind: ConstraintViolation.Kind) in
            failure.violations.first { $0.kind == kind }
        }
        try await scope.create(Studio(id: 2, name: "Ufa"), save: .pending)
        var failure = try await run.expect(.constraint, "A save of a name that is taken") {
            try await scope.save(.store)
        }
        let unique = try run.require(named(failure, .unique), "The violation of a unique column")
        run.expect(unique.table, "studio", "The table of a unique column")
        run.expect(unique.columns, ["name"], "The unique column")
        run.expect(unique.ids, [2], "The ids of rows that violate it")
        run.expect(failure.ids, [2], "The ids in the failure")
        try await scope.rollback()
        try await scope.create(early, save: .pending)
        failure = try await run.expect(.constraint, "A save of a year out of range") { try await scope.save(.store) }
        let check = try run.require(named(failure, .check), "The violation of a condition")
        run.expect(check.name, "year_range", "The name of the condition")
        run.expect(check.ids, [.blob(early.id.bytes)], "The ids of rows that violate it")
        try await scope.rollback()
        try await scope.create(orphan, save: .pending)
        failure = try await run.expect(.constraint, "A save of a reference to no row") { try await scope.save(.store) }
        let key = try run.require(named(failure, .foreignKey), "The violation of a foreign key")
        run.expect(key.table, "film", "The table of a foreign key")
        run.expect(key.columns, ["studioID"], "The column of a foreign key")
        run.expect(key.parent, "studio", "The table that a foreign key refers to")
        run.expect(key.ids, [.blob(orphan.id.bytes)], "The ids of rows that violate it")
        try await scope.create(Studio(id: 77, name: "Decla"), save: .pending)
        run.expect(try await scope.save(.store).inserted, 2, "The rows that the corrected save inserts")
    }

    private static func exchangedValues(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create([Shop.ufa, Shop.nero], save: .store)
        let scope = try store.child("scope")
        try await scope.update(Studio.all, save: .pending) { $0.name = $0.id == 1 ? "Nero" : "Ufa" }
        do {
            try await scope.save(.store)
            run.expect(try await store.fetch(Studio.all).map(\.name), ["Nero", "Ufa"], "The names after one save")
            return
        } catch {
            run.expect(error.reason, .constraint, "The reason of a save of rows that exchange unique values")
            run.expect(
                error.remedy?.contains("in between") == true, "The remedy must say that a save in between helps.")
        }
        try await scope.rollback()
        try await scope.update(Studio.self, id: 1, save: .store) { $0.name = "" }
        try await scope.update(Studio.self, id: 2, save: .store) { $0.name = "Ufa" }
        try await scope.update(Studio.self, id: 1, save: .store) { $0.name = "Nero" }
        run.expect(try await store.fetch(Studio.all).map(\.name), ["Nero", "Ufa"], "The names after saves in between")
    }

    private static func referenceOrder(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        let film = Film(title: "M", year: 1931, studioID: 2)
        try await scope.create(Scene(id: "a", filmID: film.id), save: .pending)
        try await scope.create(film, save: .pending)
        try await scope.create([Shop.nero, Shop.ufa], save: .pending)
        run.expect(try await scope.save(.store), SaveReport(inserted: 4), "The report of children before their parents")
        // The scene moves to a film of the same save, and its old film goes.
        let other = Film(title: "Faust", year: 1926, studioID: 1)
        try await scope.create(other, save: .pending)
        try await scope.update(Scene.self, id: "a", save: .pending) { $0.filmID = other.id }
        try await scope.delete(Film.self, ids: [film.id], save: .pending)
        run.expect(
            try await scope.save(.store), SaveReport(inserted: 1, updated: 1, deleted: 1),
            "The report of a child that was moved away")
        run.expect(try await store.fetch(Scene.all), [Scene(id: "a", filmID: other.id)], "The child")
    }

    private static func restricted(_ run: ConformanceRun) async throws {
        let shop = try await Shop(run, .nested)
        let scope = shop.scope
        let award = Award(filmID: Shop.m.id)
        try await scope.create(award, save: .pending)
        let failure = try await run.expect(.constraint, "A deletion of a film with an award") {
            try await scope.delete(Film.self, ids: [Shop.m.id, Shop.faust.id], save: .pending)
        }
        run.expect(failure.violations.map(\.table), ["award"], "The tables of the violations")
        run.expect(failure.violations.first?.kind, .foreignKey, "The kind of the violation")
        run.expect(failure.ids, award.id.storedValue.map { [$0] } ?? [], "The ids of the rows that restrict it")
        run.expect(try await scope.count(Film.all), 4, "The number of films after the failure")
        try await scope.delete([award], save: .pending)
        run.expect(
            try await scope.delete(Film.self, ids: [Shop.m.id], save: .pending), 1, "The films without an award")
        try await scope.save(.store)
        try await scope.delete(Film.self, ids: [Shop.faust.id], save: .pending)
        let late = Award(filmID: Shop.faust.id)
        try await shop.store.create(late, save: .store)
        let second = try await run.expect(.constraint, "A save of a deletion that is restricted by a row of others") {
            try await scope.save(.store)
        }
        run.expect(second.ids, late.id.storedValue.map { [$0] } ?? [], "The ids of the rows of others")
        run.expect(try await shop.store.count(Film.all), 3, "The number of films in the store")
    }

    private static func cascades(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let films = [Film(title: "M", year: 1931), Film(title: "Faust", year: 1926)]
        try await store.create(films, save: .store)
        try await store.create(
            [Scene(id: "1", filmID: films[0].id), Scene(id: "2", filmID: films[1].id)], save: .store)
        let scope = try store.child("scope")
        try await scope.create(Scene(id: "3", filmID: films[0].id), save: .pending)
        run.expect(
            try await scope.delete(Film.self, ids: [films[0].id], save: .pending), 1, "The films that are deleted")
        run.expect(try await scope.ids(Scene.all), ["2"], "The scenes that are left in the scope")
        run.expect(try await scope.find(Scene.self, id: "1"), nil, "A scene that went with its film")
        run.expect(try await store.ids(Scene.all), ["1", "2"], "The scenes in the store")
        try await store.create(Scene(id: "4", filmID: films[0].id), save: .store)
        let report = try await scope.save(.store)
        run.expect(report, SaveReport(deleted: 2, cascaded: 1), "The report, which counts the scene of others apart")
        run.expect(try await store.ids(Scene.all), ["2"], "The scenes in the store after the save")
    }

    private static func endedReferences(_ run: ConformanceRun) async throws {
        let shop = try await Shop(run, .pending)
        let (store, scope) = (shop.store, shop.scope)
        try await scope.delete(Studio.self, ids: [1], save: .pending)
        run.expect(
            try await scope.ids(Film.where { $0.studioID == nil }),
            [Shop.metropolis.id, Shop.faust.id, Shop.nosferatu.id],
            "The films without a studio in the scope")
        let late = Film(title: "Late", year: 1930, studioID: 1)
        try await store.create(late, save: .store)
        let report = try await scope.save(.store)
        run.expect(report.cascaded, 1, "The rows of others that the store has changed")
        run.expect(try await store.find(Film.self, id: late.id)?.studioID, nil, "The studio of a film of others")
        run.expect(
            try await store.count(Film.where { $0.studioID == nil }), 4, "The films without a studio in the store")
    }
}
