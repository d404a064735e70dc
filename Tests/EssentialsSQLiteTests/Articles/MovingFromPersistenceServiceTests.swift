#if Persistence
    import Dispatch
    import EssentialsPersistence
    import EssentialsSQLite
    import Testing

    @Suite("The article MovingFromPersistenceService", .timeLimit(.minutes(5)))
    struct MovingFromPersistenceServiceTests {
        struct Film: PersistentModel {
            var id = ModelID<Film>()
            var title: String
            var year: Int

            static let table = "film"
            static let columns = Columns()

            struct Columns: ModelColumns {
                let id = Column<Film, ModelID<Film>>("id")
                let title = Column<Film, String>("title")
                let year = Column<Film, Int>("year")
                var all: [ModelColumn<Film>] { [id.erased, title.erased, year.erased] }
            }
        }

        private let folder: TemporaryFolder
        private let queue = DispatchQueue(label: "article")

        init() throws { folder = try TemporaryFolder() }

        private func openStore() -> SQLitePersistenceService {
            let (path, tables) = (
                folder.file("shop.sqlite"),
                "CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL UNIQUE, year INTEGER NOT NULL) STRICT"
            )
            // Article begins
            let store = SQLitePersistenceService(
                SQLiteStore(path: path, models: [Film.self]),
                migrations: [Migration("1 films", sql: tables)])
            // Article ends
            return store
        }

        // Article begins
        func rename(in store: any PersistenceService) throws {
            let renamed = try store.wait(save: .store) { work in
                try work.update(Film.where { $0.year < 1930 }) {
                    $0.title = $0.title.uppercased()
                }
            }
            if renamed == 0 {
                try store.wait(save: .store) {
                    try $0.create(Film(title: "METROPOLIS", year: 1927))
                }
            }
        }
        // Article ends

        @Test("The article on the Objective-C service creates, fetches, changes, deletes and saves in three forms")
        func verbs() async throws {
            let store = openStore()
            let sources = ["Metropolis", "Faust"]
            // Article begins
            let edits = try store.child("import")
            try await edits.create(from: sources, save: .pending) { title in
                Film(title: title, year: 1926)
            }
            let early = Film.where { $0.year == 1926 }.limit(10)
            let titles = try await edits.fetch(early) { film in film.title }
            try await edits.update(
                Film.where { $0.title == "Metropolis" }, save: .pending
            ) { $0.year = 1927 }
            try await edits.delete(Film.where { $0.title == "Faust" }, save: .pending)
            try await edits.save(.store)  // all ancestors too, in one transaction
            // Article ends
            #expect(Set(titles) == Set(sources))
            let (results, continuation) = AsyncStream<[String]>.makeStream()
            let show: @Sendable ([Film]) -> Void = { continuation.yield($0.map(\.title)) }
            let fail: @Sendable (PersistenceFailure) -> Void = { _ in continuation.yield([]) }
            // Article begins
            store.start(completionQueue: queue) {
                try $0.fetch(Film.all)
            } completion: { result in
                switch result {
                case .success(let films): show(films)
                case .failure(let failure): fail(failure)
                }
            }
            // Article ends
            for await titles in results {
                #expect(titles == ["Metropolis"])
                break
            }
            for title in ["METROPOLIS", "METROPOLIS"] {
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async {
                        #expect(throws: Never.self) { try rename(in: store) }
                        continuation.resume()
                    }
                }
                #expect(try await store.fetch(Film.all).map(\.title) == [title])
            }
            await store.close()
        }

        @Test("The article on the Objective-C service compares the old codes")
        func codes() async throws {
            struct Refusal: Error {}
            let store = openStore()
            var shown: [String] = []
            func show(_ text: String) { shown.append(text) }
            try await store.create(Film(title: "M", year: 1931), save: .store)
            // Article begins
            do throws(PersistenceFailure) {
                try await store.update(Film.all, save: .store) { film in
                    guard film.year > 1931 else { throw Refusal() }
                    film.year += 1
                }
            } catch {
                switch error.legacyCode {
                // a closure has thrown
                case 2000: show("\(error.underlying.map { "\($0)" } ?? "")")
                case 2001: show(error.message)  // the store is not open
                // nil where the original had no number of its own
                default: show(error.reason.name)
                }
            }
            // Article ends
            #expect(shown == ["Refusal()"])
            #expect(try await store.one(Film.all).year == 1931)
            await store.close()
        }

        @Test("An error in one call undoes only this call, and a failed save leaves other rows pending")
        func differences() async throws {
            struct Refusal: Error {}
            let store = openStore()
            let edits = try store.child("edit")
            try await edits.create(Film(title: "M", year: 1931), save: .pending)
            await #expect(throws: PersistenceFailure.self) {
                try await edits.create(from: [1926, 1800], save: .pending) { year in
                    guard year > 1894 else { throw Refusal() }
                    return Film(title: "\(year)", year: year)
                }
            }
            #expect(try await edits.fetch(Film.all).map(\.title) == ["M"])
            #expect(try await edits.create(from: [Int](), save: .pending) { Film(title: "", year: $0) } == 0)
            await #expect(throws: PersistenceFailure.self) {
                try await edits.create(Film(title: "M", year: 1951), save: .store)
            }
            #expect(try await edits.fetch(Film.all).map(\.year) == [1931])
            try await edits.child("nothing of its own").save(.store)
            #expect(try await store.count(Film.all) == 1)
            await store.close()
        }
    }
#endif
