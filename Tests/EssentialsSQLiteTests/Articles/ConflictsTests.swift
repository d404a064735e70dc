#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite
    import EssentialsTools
    import Testing

    @Suite("The article Conflicts", .timeLimit(.minutes(5)))
    struct ConflictsTests {
        struct Film: PersistentModel, Hashable {
            var id = ModelID<Film>()
            var title: String
            var year: Int

            static let table = "film"
            static let columns = Columns()
            static let conflictPolicy = ConflictPolicy.fail

            struct Columns: ModelColumns {
                let id = Column<Film, ModelID<Film>>("id")
                let title = Column<Film, String>("title")
                let year = Column<Film, Int>("year")
                var all: [ModelColumn<Film>] { [id.erased, title.erased, year.erased] }
            }
        }

        // Article begins
        /// Saves, and asks a person until no conflict is left or the closure
        /// throws.
        func save(
            _ edits: any PersistenceService,
            asking ask: ([Conflict]) async throws -> [Conflict: ConflictDecision]
        ) async throws {
            var decisions: [Conflict: ConflictDecision] = [:]
            while true {
                do {
                    let known = decisions
                    try await edits.save(
                        .store, resolving: ConflictResolution { known[$0] ?? .fail }
                    )
                    return
                } catch {
                    guard error.reason == .conflict else { throw error }
                    decisions.merge(try await ask(error.conflicts)) { _, new in new
                    }
                }
            }
        }
        // Article ends

        enum Choice { case mine, theirs, both }

        /// Represents a person. Meanwhile, the year of all films changes while the first conflict is shown.
        private final class Dialogue: Sendable {
            let questions = Mutex<[String]>([])
            let choice: Choice
            let meanwhile: @Sendable () async throws -> Void

            init(_ choice: Choice, meanwhile: @escaping @Sendable () async throws -> Void = {}) {
                self.choice = choice
                self.meanwhile = meanwhile
            }

            func choose(_ mine: String?, _ theirs: String?) async throws -> Choice {
                let isFirst = questions.withLock { questions in
                    questions.append("\(mine ?? "deleted") or \(theirs ?? "deleted")?")
                    return questions.count == 1
                }
                if isFirst { try await meanwhile() }
                return choice
            }
        }

        private let folder: TemporaryFolder
        private let store: SQLitePersistenceService
        private let film = Film(title: "Metropolis", year: 1926)

        init() async throws {
            folder = try TemporaryFolder()
            store = SQLitePersistenceService(
                SQLiteStore(path: folder.file("films.sqlite"), models: [Film.self]),
                migrations: [
                    Migration(
                        "1",
                        sql: """
                            CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL UNIQUE,
                                year INTEGER NOT NULL) STRICT, WITHOUT ROWID
                            """)
                ])
            try await store.create(film, save: .store)
        }

        private func ask(_ conflicts: [Conflict], _ dialogue: Dialogue) async throws -> [Conflict: ConflictDecision] {
            // Article begins
            var decisions: [Conflict: ConflictDecision] = [:]
            for conflict in conflicts where conflict.table == Film.table {
                let film = try conflict.models(of: Film.self)
                switch try await dialogue.choose(film.mine?.title, film.theirs?.title) {
                case .mine: decisions[conflict] = .mine
                case .theirs: decisions[conflict] = .theirs
                case .both:
                    guard var both = film.theirs, let mine = film.mine else { continue }
                    both.title += " / " + mine.title
                    decisions[conflict] = try .model(both, for: conflict)
                }
            }
            return decisions
            // Article ends
        }

        @Test("The article on conflicts shows the three rows, policies, and the state after a failed save")
        func threeRows() async throws {
            var shown: [String?] = []
            func show(_ texts: String?...) { shown += texts }
            // Article begins
            let edits = try store.child("edit")
            try await edits.update(film.id, save: .pending) {
                $0.title = "Metropolis (1927)"
            }
            // somebody else
            try await store.update(film.id, save: .store) { $0.title = "METROPOLIS" }
            do {
                try await edits.save(.store)
            } catch {
                for conflict in error.conflicts {
                    let film = try conflict.models(of: Film.self)
                    show(film.base?.title, film.mine?.title, film.theirs?.title)
                }
            }
            // Article ends
            #expect(shown == ["Metropolis", "Metropolis (1927)", "METROPOLIS"])
            #expect(try await edits.one(Film.all).title == "Metropolis (1927)")
            #expect(try await store.one(Film.all).title == "METROPOLIS")

            // Article begins
            // for one call
            let report = try await edits.save(.store, resolving: .theirs)
            // for a scope
            let careful = try store.child("edit", resolving: .mergeColumns)
            let byHand = ConflictResolution { conflict in  // for each conflict
                conflict.change == .delete ? .theirs : .mergeColumns
            }
            // Article ends
            #expect(report.kept == 1)
            try await careful.update(film.id, save: .pending) { $0.year = 1927 }
            try await store.update(film.id, save: .store) { $0.title = "Metropolis" }
            try await careful.save(.store)
            #expect(try await store.one(Film.all).year == 1927)
            try await careful.delete(Film.all, save: .pending)
            try await store.update(film.id, save: .store) { $0.year = 1928 }
            #expect(try await careful.save(.store, resolving: byHand).kept == 1)
            await store.close()
        }

        @Test("The article on conflicts edits a value that a person has seen")
        func edit() async throws {
            // Article begins
            let original = try await store.one(Film.where { $0.title == "Metropolis" })
            var edited = original
            edited.year = 1927  // the person types, for as long as they like
            try await store.update(
                edited, from: original, save: .store, resolving: .mergeColumns)
            // Article ends
            #expect(try await store.one(Film.all).year == 1927)
            // The same edit, judged by the same original: others have changed the title, then the year.
            try await store.update(film.id, save: .store) {
                ($0.title, $0.year) = ("M", 1926)
            }
            try await store.update(edited, from: original, save: .store, resolving: .mergeColumns)
            #expect(try await store.one(Film.all) == Film(id: film.id, title: "M", year: 1927))
            try await store.update(film.id, save: .store) { $0.year = 1930 }
            let late = edited
            let failure = await #expect(throws: PersistenceFailure.self) {
                try await store.update(late, from: original, save: .store, resolving: .mergeColumns)
            }
            #expect(failure?.conflicts.map(\.columns) == [["year"]])
            await store.close()
        }

        @Test(
            "The article on conflicts asks a person, and asks again if the row changes meanwhile",
            arguments: [
                (Choice.mine, "Metropolis (1927)", 1927), (.theirs, "METROPOLIS", 1929),
                (.both, "METROPOLIS / Metropolis (1927)", 1929),
            ])
        func dialogue(choice: Choice, title: String, year: Int) async throws {
            let (store, film) = (store, film)
            let edits = try store.child("edit")
            try await edits.update(film.id, save: .pending) { ($0.title, $0.year) = ("Metropolis (1927)", 1927) }
            try await store.update(film.id, save: .store) { $0.title = "METROPOLIS" }
            let dialogue = Dialogue(choice) { try await store.update(film.id, save: .store) { $0.year = 1929 } }
            try await save(edits) { try await ask($0, dialogue) }
            #expect(try await store.one(Film.all) == Film(id: film.id, title: title, year: year))
            let question = "Metropolis (1927) or METROPOLIS?"
            #expect(dialogue.questions.withLock { $0 } == [question, question])
            await store.close()
        }

        @Test("The article on conflicts ends a dialogue without a save, and everything stays pending")
        func cancelledDialogue() async throws {
            let edits = try store.child("edit")
            try await edits.update(film.id, save: .pending) { $0.title = "M" }
            try await store.delete(Film.all, save: .store)
            await #expect(throws: CancellationError.self) {
                try await save(edits) { _ in throw CancellationError() }
            }
            #expect(try await edits.one(Film.all).title == "M")
            try await save(edits) { try await ask($0, Dialogue(.mine)) }
            #expect(try await store.one(Film.all).title == "M")
            await store.close()
        }

        @Test("The article on conflicts shows constraints, and the choices after a failed save")
        func constraints() async throws {
            var shown: [String] = []
            func show(_ text: String) { shown.append(text) }
            // Article begins
            let edits = try store.child("new films")
            let films = [
                Film(title: "M", year: 1931), Film(title: "Metropolis", year: 2026),
            ]
            try await edits.create(films, save: .pending)
            do {
                // says what a save would do, and saves nothing
                try await edits.validate()
            } catch {
                for violation in error.violations { show(violation.description) }
            }
            // Article ends
            #expect(shown == ["UNIQUE of film.title (film \(StoredValue.blob(films[1].id.bytes)))"])

            // Article begins
            let wrong = try await edits.ids(Film.where { $0.year > 2000 })
            // or correct them, or drop all with rollback()
            try await edits.discard(Film.self, ids: wrong)
            try await edits.save(.store)
            // Article ends
            #expect(try await store.values(Film.all.values { $0.title }.distinct()) == ["M", "Metropolis"])

            let failure = await #expect(throws: PersistenceFailure.self) {
                try await store.create(Film(title: "M", year: 1951), save: .store)
            }
            #expect(failure?.reason == .constraint)
            #expect(try await store.count(Film.all) == 2)
            await store.close()
        }

        @Test("Two rows that swap unique values are saved together")
        func swap() async throws {
            let other = Film(title: "M", year: 1931)
            try await store.create(other, save: .store)
            let edits = try store.child("swap")
            try await edits.perform(save: .pending) { [film] work in
                try work.update(film.id) { $0.title = "M" }
                try work.update(other.id) { $0.title = "Metropolis" }
            }
            #expect(try await edits.save(.store) == SaveReport(updated: 2))
            #expect(try await store.fetch(Film.all.sorted { [$0.year.ascending] }).map(\.title) == ["M", "Metropolis"])
            await store.close()
        }
    }
#endif
