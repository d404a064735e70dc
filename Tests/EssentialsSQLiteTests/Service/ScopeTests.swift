#if Persistence
    import EssentialsPersistence
    import EssentialsTools
    import Testing

    @testable import EssentialsSQLite

    /// Scopes over a real file: the visibility of changes, and the effects of a save.
    struct ScopeTests {
        private let fixture: StoreFixture
        private let store: SQLitePersistenceService

        init() async throws {
            fixture = try StoreFixture()
            store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            try await store.create(
                [Person(id: 1, name: "Fritz", employer: 1), Person(id: 2, name: "Thea", employer: nil)], save: .store)
        }

        private func names(_ service: some PersistenceService) async throws -> [String] {
            try await service.fetch(Person.all).map(\.name)
        }

        private func failure(_ body: () async throws -> Void) async -> PersistenceFailure? {
            do {
                try await body()
                return nil
            } catch {
                return error as? PersistenceFailure
            }
        }

        @Test("A pending change is seen only by its scope and the scopes within it, until it is saved")
        func visibility() async throws {
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            let sibling = try store.child("sibling")
            try await edits.update(Person.self, id: 1, save: .pending) { $0.name = "Friedrich" }
            try await edits.create(Person(id: 3, name: "Lil", employer: 1), save: .pending)
            try await edits.delete(Person.self, ids: [2], save: .pending)
            #expect(try await names(edits) == ["Friedrich", "Lil"])
            #expect(try await names(inner) == ["Friedrich", "Lil"])
            #expect(try await names(sibling) == ["Fritz", "Thea"])
            #expect(try await names(store) == ["Fritz", "Thea"])
            #expect(try await edits.count(Person.where { $0.employer == 1 }) == 2)
            #expect(try await edits.find(Person.self, id: 2) == nil)
            #expect(try await edits.one(Person.where { $0.name.hasPrefix("Fr") }).id == 1)
            let report = try await edits.save(.store)
            #expect(report == SaveReport(inserted: 1, updated: 1, deleted: 1))
            for service in [store, sibling, inner, edits] as [any PersistenceService] {
                #expect(try await service.fetch(Person.all).map(\.name) == ["Friedrich", "Lil"])
            }
        }

        @Test("A save to the parent is seen by the parent and its other children, and undone by its rollback")
        func savingToParent() async throws {
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            let other = try edits.child("other")
            try await inner.update(Person.self, id: 1, save: .pending) { $0.name = "Friedrich" }
            try await inner.save(.parent)
            #expect(try await names(edits) == ["Friedrich", "Thea"])
            #expect(try await names(other) == ["Friedrich", "Thea"])
            #expect(try await names(store) == ["Fritz", "Thea"])
            try await edits.rollback()
            #expect(try await names(inner) == ["Fritz", "Thea"])
        }

        @Test("A save to the store includes the rows of all scopes above, even from a scope without changes")
        func savingAll() async throws {
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            try await store.update(Person.self, id: 2, save: .pending) { $0.name = "Thea von Harbou" }
            try await edits.create(Person(id: 3, name: "Lil", employer: 1), save: .pending)
            try await inner.save(.store)
            await store.close()
            let again = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            #expect(try await names(again) == ["Fritz", "Thea von Harbou", "Lil"])
            await again.close()
        }

        @Test("A conflict fails the save with base, mine and theirs, and leaves the scope unchanged")
        func conflicts() async throws {
            let edits = try store.child("edit")
            try await edits.update(Person.self, id: 1, save: .pending) { $0.name = "Friedrich" }
            try await store.update(Person.self, id: 1, save: .store) { $0.name = "F. Lang" }
            let conflict = try #require(await failure { try await edits.save(.store) }?.conflicts.first)
            let models = try conflict.models(of: Person.self)
            #expect(
                models.base?.name == "Fritz" && models.mine?.name == "Friedrich" && models.theirs?.name == "F. Lang")
            #expect(conflict.columns == ["name"])
            #expect(try await names(edits) == ["Friedrich", "Thea"])
            #expect(await failure { try await edits.validate() }?.reason == .conflict)
            try await edits.save(.store, resolving: .mine)
            #expect(try await names(store) == ["Friedrich", "Thea"])
        }

        @Test("A scope's own resolution applies to saves without one")
        func resolutions() async throws {
            let edits = try store.child("edit", resolving: .theirs)
            try await edits.update(Person.self, id: 1, save: .pending) { $0.name = "Friedrich" }
            try await store.update(Person.self, id: 1, save: .store) { $0.name = "F. Lang" }
            #expect(try await edits.save(.store).kept == 1)
            #expect(try await names(edits) == ["F. Lang", "Thea"])
        }

        @Test("A constraint fails the save, names the row, and leaves the scope unchanged")
        func constraints() async throws {
            let edits = try store.child("edit")
            try await edits.create(Company(id: 2, name: "Ufa"), save: .pending)
            let failure = await failure { try await edits.save(.store) }
            #expect(failure?.reason == .constraint)
            #expect(failure?.ids == [2])
            #expect(try await edits.count(Company.all) == 2)
            #expect(try await store.count(Company.all) == 1)
        }

        @Test("A call whose save fails leaves nothing pending")
        func failedCalls() async throws {
            let failure = await failure { try await store.create(Company(id: 2, name: "Ufa"), save: .store) }
            #expect(failure?.reason == .constraint)
            try await store.create(Company(id: 2, name: "Nero"), save: .store)
            #expect(try await store.fetch(Company.all).map(\.name) == ["Ufa", "Nero"])
        }

        @Test("A unit of work sees its own changes, and makes all of them or none")
        func units() async throws {
            let count = try await store.perform(save: .pending) { work in
                try work.create(Person(id: 3, name: "Lil", employer: 1))
                try work.update(Person.where { $0.employer == 1 }) { $0.employer = nil }
                #expect(try work.fetch(Person.where { $0.name == "Lil" }).first?.employer == nil)
                return try work.count(Person.where { $0.employer == nil })
            }
            #expect(count == 3)
            #expect(try await store.count(Person.where { $0.employer == nil }) == 3)
            let failure = await failure {
                try await store.perform(save: .pending) { work in
                    try work.delete(Person.all)
                    throw CancellationError()
                }
            }
            #expect(failure?.reason == .work)
            #expect(try await store.count(Person.all) == 3)
        }

        @Test("An edit of a value that others have changed since is a conflict")
        func edits() async throws {
            let shown = try #require(try await store.find(Person.self, id: 1))
            try await store.update(Person.self, id: 1, save: .store) { $0.name = "F. Lang" }
            var edited = shown
            edited.name = "Friedrich"
            let edit = edited
            let failure = await failure { try await store.update(edit, from: shown, save: .store) }
            #expect(failure?.reason == .conflict)
            #expect(try await names(store) == ["F. Lang", "Thea"])
        }

        @Test("An edit of a value that the scope or a scope above it has deleted does not restore the row")
        func editsOfDeletedRows() async throws {
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            let shown = try #require(try await inner.find(Person.self, id: 1))
            var edited = shown
            edited.name = "Friedrich"
            let edit = edited
            try await edits.delete(Person.self, ids: [1], save: .pending)
            for scope in [edits, inner] {
                for level in [SaveLevel.pending, .parent, .store] {
                    let failure = await failure { try await scope.update(edit, from: shown, save: level) }
                    #expect(failure?.reason == .notFound && failure?.ids == [1])
                }
            }
            let failure = await failure {
                try await store.perform(save: .store) { work in
                    try work.delete(Person.self, ids: [1])
                    try work.update(edit, from: shown)
                }
            }
            #expect(failure?.reason == .notFound)
            #expect(try await names(edits) == ["Thea"])
            #expect(try await names(store) == ["Fritz", "Thea"])
        }

        @Test("Discarded rows are no longer pending, and others stay")
        func discarding() async throws {
            try await store.update(Person.all, save: .pending) { $0.name += "!" }
            try await store.discard(Person.self, ids: [1])
            #expect(try await names(store) == ["Fritz", "Thea!"])
        }

        @Test("Closing a scope drops its rows and ends the scopes within it")
        func closing() async throws {
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            try await edits.update(Person.all, save: .pending) { $0.name += "!" }
            await edits.close()
            #expect(await failure { _ = try await inner.fetch(Person.all) }?.reason == .closed)
            #expect(inner.state == .closed && store.state == .ready)
            #expect(try await names(store) == ["Fritz", "Thea"])
            #expect(throws: PersistenceFailure.self) { try edits.child("more") }
        }

        @Test("Scopes are at most sixteen levels deep")
        func depth() throws {
            var scope: any PersistenceService = store
            for _ in 1..<16 { scope = try scope.child("deeper") }
            let deepest = scope
            #expect(throws: PersistenceFailure(.limit, "", store: fixture.path)) { try deepest.child("deeper") }
        }

        @Test("When many scopes save at once, no row is lost")
        func siblings() async throws {
            let store = store
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 10..<60 {
                    group.addTask {
                        let scope = try store.child("\(number)")
                        try await scope.create(Person(id: Int64(number), name: "P", employer: 1), save: .pending)
                        try await scope.save(.store)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.count(Person.all) == 52)
        }

        @Test("An observer is not notified of saves before it began")
        func observingLate() async throws {
            for round in 0..<300 {
                try await store.create(Company(id: Int64(10 + round), name: "\(round)"), save: .store)
                let (stream, continuation) = AsyncStream<PersistenceChange>.makeStream()
                let observation = try store.observeChanges { continuation.yield($0) }
                try await store.update(Person.self, id: 1, save: .store) { $0.name = "\(round)" }
                let change = await stream.first { _ in true }
                try #require(change == PersistenceChange(["person": .ids([1])]), "round \(round)")
                observation.cancel()
            }
        }

        @Test("Observers are notified of pending rows of their own scopes, and of all saves")
        func observing() async throws {
            let edits = try store.child("edit")
            let sibling = try store.child("sibling")
            let (stream, continuation) = AsyncStream<(String, PersistenceChange)>.makeStream()
            let observations = [
                try edits.observeChanges { continuation.yield(("edits", $0)) },
                try sibling.observeChanges { continuation.yield(("sibling", $0)) },
            ]
            try await edits.update(Person.self, id: 1, save: .pending) { $0.name = "Friedrich" }
            try await edits.save(.store)
            var seen: [String] = []
            for await (name, change) in stream {
                #expect(change == PersistenceChange(["person": .ids([1])]))
                seen.append(name)
                if seen.count == 3 { break }
            }
            #expect(seen == ["edits", "edits", "sibling"])
            for observation in observations { observation.cancel() }
        }
    }
#endif
