#if Persistence
    import EssentialsTools
    import ServiceEssentials

    /// The steps of `essentials demo --persistence`: pending rows in a scope, a conflict, and a process that is killed while it
    /// saves.
    final class PersistenceDemo: Demonstration {
        let locator: ServiceLocator
        private let directory: DemoDirectory
        private let film = DemoFilm(title: "Metropolis", year: 1926)
        /// The number of saves that the killed process has confirmed.
        private let confirmedSaves = Mutex(0)
        private var crashPath: String { directory.path + "/crash.sqlite" }

        init() throws {
            directory = try DemoDirectory()
            locator = try bootstrapPersistence(path: directory.path + "/films.sqlite")
        }

        var steps: [DemoStep] {
            [
                DemoStep(name: "store", run: createsAFilm), DemoStep(name: "pending", run: editsInAScope),
                DemoStep(name: "conflict", run: findsAConflict), DemoStep(name: "resolved", run: mergesColumns),
                DemoStep(name: "killed", run: killsASavingProcess), DemoStep(name: "reopened", run: opensItAgain),
            ]
        }

        private func store() throws -> any PersistenceService { try locator.resolve((any PersistenceService).self) }

        /// The store opens in the background, runs its migrations, and saves a row.
        private func createsAFilm() async throws -> String {
            let store = try store()
            try await store.create(film, save: .store)
            let stored = try await store.one(DemoFilm.all)
            try promise(stored == film, "the row is stored")
            return "“\(stored.title)” of \(stored.year) is stored"
        }

        /// A scope sees its own changes. Without a save nobody else ever does.
        private func editsInAScope() async throws -> String {
            let store = try store()
            let years = try await locator.withScope("edit") { workflow in
                let edits = try workflow.openPersistence()
                try await edits.update(film.id, save: .pending) { $0.year = 1927 }
                return try await (edits.one(DemoFilm.all).year, store.one(DemoFilm.all).year)
            }
            let after = try await store.one(DemoFilm.all).year
            try promise(years == (1927, 1926) && after == 1926, "a pending change is seen in its scope only")
            return
                "in “edit” the year is \(years.0), in the store \(years.1), and after “edit” was closed still \(after)"
        }

        /// Two scopes change the same column. The second save changes nothing, and names the row.
        private func findsAConflict() async throws -> String {
            let store = try store()
            let edits = try store.child("edit")
            try await edits.update(film.id, save: .pending) { $0.title = "Metropolis (1927)" }
            try await store.update(film.id, save: .store) { $0.title = "METROPOLIS" }
            do {
                try await edits.save(.store)
            } catch {
                guard error.reason == .conflict, let conflict = error.conflicts.first else { throw error }
                let films = try conflict.models(of: DemoFilm.self)
                let titles = [films.base, films.mine, films.theirs].map { $0?.title ?? "nothing" }
                let stored = try await store.one(DemoFilm.all).title
                await edits.close()
                try promise(
                    titles == ["Metropolis", "Metropolis (1927)", "METROPOLIS"] && stored == titles[2],
                    "a conflict has three rows, and changes nothing")
                return "base “\(titles[0])”, mine “\(titles[1])”, theirs “\(titles[2])”; the store has “\(stored)”"
            }
            throw BrokenPromise(text: "a save over another one is a conflict")
        }

        /// Changes of different columns can be merged.
        private func mergesColumns() async throws -> String {
            let store = try store()
            let edits = try store.child("edit", resolving: .mergeColumns)
            try await edits.update(film.id, save: .pending) { $0.year = 1927 }
            try await store.update(film.id, save: .store) { $0.title = "Metropolis" }
            try await edits.save(.store)
            await edits.close()
            let merged = try await store.one(DemoFilm.all)
            try promise(merged.title == "Metropolis" && merged.year == 1927, "both changes are stored")
            return "the year of one and the title of the other make “\(merged.title)” of \(merged.year)"
        }

        /// Another process saves without a pause, until it is killed.
        private func killsASavingProcess() async throws -> String {
            let child = try SavingProcess(path: crashPath)
            let confirmed = try await child.kill(after: 5)
            try promise(confirmed >= 5, "the process has confirmed some saves")
            confirmedSaves.withLock { $0 = confirmed }
            return "SIGKILL ended a process that saves \(SavingProcess.batch) rows at a time, after"
                + " \(confirmed) confirmed saves"
        }

        /// What was confirmed is there. A save that was not confirmed is there whole or not at all.
        private func opensItAgain() async throws -> String {
            let confirmed = confirmedSaves.withLock { $0 }
            let store = DemoFilm.store(crashPath)
            let found = try await store.count(DemoFilm.all)
            await store.close()
            let batch = SavingProcess.batch
            try promise(
                found == confirmed * batch || found == (confirmed + 1) * batch,
                "nothing is lost and nothing is half there")
            return "\(found) rows are there: the \(confirmed) confirmed saves"
                + (found > confirmed * batch
                    ? " and the one that was not confirmed any more" : "; the next one left nothing")
        }
    }

    /// A film in the store of the demonstration.
    struct DemoFilm: PersistentModel, Equatable {
        var id = ModelID<DemoFilm>()
        var title: String
        var year: Int

        static let table = "film"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<DemoFilm, ModelID<DemoFilm>>("id")
            let title = Column<DemoFilm, String>("title")
            let year = Column<DemoFilm, Int>("year")
            var all: [ModelColumn<DemoFilm>] { [id.erased, title.erased, year.erased] }
        }

        /// The store of films.
        static func store(_ path: String) -> SQLitePersistenceService {
            SQLitePersistenceService(
                SQLiteStore(path: path, models: [DemoFilm.self]),
                migrations: [
                    Migration(
                        "1 films",
                        sql: """
                            CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL, year INTEGER NOT NULL)
                                STRICT, WITHOUT ROWID
                            """)
                ])
        }
    }

    /// Registers the persistence service of the application. The store opens in the background, when it is first resolved.
    ///
    /// - Parameter path: The path of the store's file.
    func bootstrapPersistence(path: String) throws -> ServiceLocator {
        let locator = ServiceLocator(name: "app")
        try locator.registerLazy((any PersistenceService).self) { _ in DemoFilm.store(path) }
        return locator
    }
#endif
