import EssentialsPersistence

extension PersistenceServiceConformance {
    static let scopeParts = [
        Self("A pending change is seen by its scope and those within it alone", visibility),
        Self("A save to the parent is seen by the parent's children, and goes with its rollback", savingToParent),
        Self("A save to the store takes the rows of all scopes above", savingToStore),
        Self("A save that fails leaves every scope as it was", failedSaves),
        Self("A scope sees what others save, except where it has changed the row", othersSaves),
        Self("A row that is changed back is pending no longer", changedBack),
        Self("A rollback drops the rows of its scope alone, and a discard some of them", rollback),
        Self("A validation says what a save would do, and does nothing", validation),
        Self("A scope that is closed drops its rows and ends the scopes within it", closing),
        Self("A store that is closed refuses every call", closedStore),
    ]

    private static func names(_ service: any PersistenceService) async throws -> [String] {
        try await service.fetch(Studio.all).map(\.name)
    }

    private static func visibility(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create([Shop.ufa, Shop.nero], save: .store)
        let scope = try store.child("scope")
        let (inner, sibling) = (try scope.child("inner"), try store.child("sibling"))
        try await scope.update(Studio.self, id: 1, save: .pending) { $0.name = "Ufa 2" }
        try await scope.delete(Studio.self, ids: [2], save: .pending)
        try await scope.create(Studio(id: 3, name: "Decla"), save: .pending)
        for (service, text) in [(scope, "the scope"), (inner, "the scope within it")] {
            run.expect(try await names(service), ["Ufa 2", "Decla"], "What \(text) sees")
            run.expect(try await service.find(Studio.self, id: 2), nil, "The deleted row in \(text)")
            run.expect(try await service.count(Studio.where { $0.name == "Ufa" }), 0, "The old name in \(text)")
        }
        for (service, text) in [(store, "the scope above"), (sibling, "a sibling")] {
            run.expect(try await names(service), ["Ufa", "Nero"], "What \(text) sees")
            run.expect(try await service.find(Studio.self, id: 3), nil, "The new row in \(text)")
        }
        try await inner.update(Studio.self, id: 3, save: .pending) { $0.name = "Decla 2" }
        run.expect(try await names(inner), ["Ufa 2", "Decla 2"], "What the inner scope sees of its own change")
        run.expect(try await names(scope), ["Ufa 2", "Decla"], "What the scope above sees of it")
        let report = try await scope.save(.store)
        run.expect(report, SaveReport(inserted: 1, updated: 1, deleted: 1), "The report of the save")
        for service in [store, scope, sibling] {
            run.expect(try await names(service), ["Ufa 2", "Decla"], "What everybody sees after the save")
        }
        run.expect(try await names(inner), ["Ufa 2", "Decla 2"], "What the inner scope sees after the save")
    }

    private static func savingToParent(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create(Shop.ufa, save: .store)
        let scope = try store.child("scope")
        let (inner, other) = (try scope.child("inner"), try scope.child("other"))
        try await inner.update(Studio.self, id: 1, save: .pending) { $0.name = "Ufa 2" }
        try await inner.save(.parent)
        run.expect(try await names(scope), ["Ufa 2"], "What the parent sees")
        run.expect(try await names(other), ["Ufa 2"], "What another child of the parent sees")
        run.expect(try await names(store), ["Ufa"], "What the store sees")
        try await scope.rollback()
        run.expect(try await names(inner), ["Ufa"], "What the child sees after a rollback of the parent")
        try await inner.create(Shop.nero, save: .parent)
        run.expect(
            try await names(other), ["Ufa", "Nero"], "A row that was created in the parent, seen by another child")
        try await store.create(Studio(id: 3, name: "Decla"), save: .pending)
        // The scope above the root scope is the store.
        run.expect(try await store.save(.parent).inserted, 1, "The rows that the root scope saves to its parent")
        run.expect(try await store.validate(), SaveReport(), "What is left in the root scope")
    }

    private static func savingToStore(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        let inner = try scope.child("inner")
        try await store.create(Shop.ufa, save: .pending)
        try await scope.create(Shop.nero, save: .pending)
        // The innermost scope has nothing itself.
        run.expect(try await inner.save(.store), SaveReport(inserted: 2), "The report of a save of rows above")
        for service in [store, scope] { try await service.rollback() }
        run.expect(try await names(store), ["Ufa", "Nero"], "What is in the store")
        try await store.update(Studio.self, id: 1, save: .pending) { $0.name = "1" }
        try await scope.update(Studio.self, id: 1, save: .pending) { $0.name = "2" }
        try await inner.update(Studio.self, id: 1, save: .pending) { $0.name = "3" }
        try await scope.delete(Studio.self, ids: [2], save: .pending)
        run.expect(
            try await inner.save(.store), SaveReport(updated: 1, deleted: 1), "The report of a row that changed thrice")
        run.expect(try await names(store), ["3"], "What is in the store afterwards")
    }

    private static func failedSaves(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        let inner = try scope.child("inner")
        try await store.create(Shop.ufa, save: .pending)
        try await scope.create(Shop.nero, save: .pending)
        try await inner.create(Studio(id: 3, name: "Ufa"), save: .pending)
        try await run.expect(.constraint, "A save of rows that violate a constraint") { try await inner.save(.store) }
        run.expect(try await names(inner), ["Ufa", "Nero", "Ufa"], "What the scope sees after the failure")
        run.expect(try await names(scope), ["Ufa", "Nero"], "What the scope above sees after the failure")
        run.expect(
            try await inner.fetchWithOrigins(Studio.all).map(\.origin.isPending), [true, true, true],
            "Whether the rows are pending after the failure")
        try await inner.update(Studio.self, id: 3, save: .pending) { $0.name = "Decla" }
        run.expect(try await inner.save(.store).inserted, 3, "The rows that the corrected save inserts")
    }

    private static func othersSaves(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create([Shop.ufa, Shop.nero], save: .store)
        let (scope, sibling) = (try store.child("scope"), try store.child("sibling"))
        try await scope.update(Studio.self, id: 1, save: .pending) { $0.name = "mine" }
        let shown = try await scope.fetch(Studio.all)
        try await sibling.update(Studio.all, save: .store) { $0.name += " 2" }
        try await sibling.create(Studio(id: 3, name: "Decla"), save: .store)
        run.expect(try await names(scope), ["mine", "Nero 2", "Decla"], "What the scope sees after a save of others")
        run.expect(shown.map(\.name), ["mine", "Nero"], "A value that was fetched before")
        try await sibling.delete(Studio.self, ids: [1, 2], save: .store)
        run.expect(try await names(scope), ["mine", "Decla"], "What the scope sees after a deletion by others")
    }

    private static func changedBack(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create(Shop.ufa, save: .store)
        let scope = try store.child("scope")
        try await scope.update(Studio.self, id: 1, save: .pending) { $0.name = "Ufa 2" }
        try await scope.update(Studio.self, id: 1, save: .pending) { $0.name = "Ufa" }
        try await scope.create(Shop.nero, save: .pending)
        try await scope.delete(Studio.self, ids: [2], save: .pending)
        run.expect(try await scope.validate(), SaveReport(), "What a save would do")
        run.expect(
            try await scope.fetchWithOrigins(Studio.all).map(\.origin), [.stored],
            "The origin of a row that was changed back")
        // Others may change a row that is not pending.
        try await store.update(Studio.self, id: 1, save: .store) { $0.name = "Ufa 3" }
        run.expect(try await scope.save(.store), SaveReport(), "The report of a save")
        try await scope.delete(Studio.self, ids: [1], save: .pending)
        try await scope.create(Studio(id: 1, name: "again"), save: .pending)
        run.expect(try await scope.save(.store), SaveReport(updated: 1), "The report of a row that was created again")
    }

    private static func rollback(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create([Shop.ufa, Shop.nero], save: .store)
        let scope = try store.child("scope")
        let inner = try scope.child("inner")
        try await scope.update(Studio.self, id: 1, save: .pending) { $0.name = "above" }
        try await inner.update(Studio.all, save: .pending) { $0.name = "mine \($0.id)" }
        try await inner.create(Studio(id: 3, name: "new"), save: .pending)
        try await inner.discard(Studio.self, ids: [1, 3, 99])
        run.expect(try await names(inner), ["above", "mine 2"], "What the scope sees after a discard")
        try await inner.rollback()
        run.expect(try await names(inner), ["above", "Nero"], "What the scope sees after a rollback")
        run.expect(try await inner.save(.parent), SaveReport(), "The report of a save after a rollback")
        try await scope.rollback()
        run.expect(try await names(inner), ["Ufa", "Nero"], "What the scope sees after a rollback above")
        try await inner.delete(Studio.all, save: .pending)
        try await inner.discard(Studio.self, ids: [2])
        run.expect(try await names(inner), ["Nero"], "What the scope sees after a deletion was discarded")
    }

    private static func validation(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create([Shop.ufa, Shop.nero], save: .store)
        let scope = try store.child("scope")
        let inner = try scope.child("inner")
        run.expect(try await inner.validate(), SaveReport(), "The report of nothing")
        try await scope.create(Studio(id: 3, name: "Decla"), save: .pending)
        try await inner.update(Studio.self, id: 1, save: .pending) { $0.name = "mine" }
        try await inner.delete(Studio.self, ids: [2], save: .pending)
        let expected = SaveReport(inserted: 1, updated: 1, deleted: 1)
        run.expect(try await inner.validate(), expected, "The report of what would be saved")
        run.expect(try await names(store), ["Ufa", "Nero"], "What is in the store after a validation")
        try await store.update(Studio.self, id: 1, save: .store) { $0.name = "theirs" }
        let failure = try await run.expect(.conflict, "A validation of a row that others have changed") {
            try await inner.validate()
        }
        run.expect(failure.ids, [1], "The ids in the failure")
        run.expect(try await inner.validate(resolving: .mine), expected, "The report with another policy")
        run.expect(try await inner.save(.store, resolving: .mine), expected, "The report of the save")
        try await scope.create(Studio(id: 4, name: "Decla"), save: .pending)
        try await run.expect(.constraint, "A validation of a row that violates a constraint") {
            try await scope.validate()
        }
    }

    private static func closing(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create(Shop.ufa, save: .store)
        let scope = try store.child("scope")
        let inner = try scope.child("inner")
        try await scope.update(Studio.self, id: 1, save: .pending) { $0.name = "lost" }
        await scope.close()
        await scope.close()
        for (service, text) in [(scope, "a closed scope"), (inner, "a scope within a closed one")] {
            run.expect(service.state, .closed, "The state of \(text)")
            try await run.expect(.closed, "A read of \(text)") { _ = try await service.fetch(Studio.all) }
            try await run.expect(.closed, "A read by id of \(text)") { _ = try await service.find(Studio.self, id: 1) }
            try await run.expect(.closed, "A change of \(text)") {
                try await service.create(Shop.nero, save: .pending)
            }
            try await run.expect(.closed, "A save of \(text)") { try await service.save(.store) }
            try await run.expect(.closed, "A rollback of \(text)") { try await service.rollback() }
            try await run.expect(.closed, "A child of \(text)") { _ = try service.child("more") }
            try await run.expect(.closed, "An observation of \(text)") { _ = try service.observeChanges { _ in } }
        }
        run.expect(store.state, .ready, "The state of the store")
        run.expect(try await names(store), ["Ufa"], "What the store sees")
    }

    private static func closedStore(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        try await scope.create(Shop.ufa, save: .pending)
        var states = store.states.makeAsyncIterator()
        run.expect(await states.next(), .ready, "The state of an open store")
        await store.close()
        await store.close()
        run.expect(await states.next(), .closed, "The state that follows")
        run.expect(await states.next(), nil, "The end of the states")
        for service in [store, scope] {
            run.expect(service.state, .closed, "The state of \(service.name)")
            try await run.expect(.closed, "A read of a closed store") { _ = try await service.count(Studio.all) }
            try await run.expect(.closed, "A save of a closed store") { try await service.save(.store) }
            try await run.expect(.closed, "A wait for a closed store") { try await service.ready() }
        }
    }
}
