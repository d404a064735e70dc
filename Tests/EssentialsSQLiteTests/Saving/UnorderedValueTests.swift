#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite
    import Testing

    /// Nested values without an order, which scopes and imports write in different orders.
    struct UnorderedValueTests {
        private struct Playlist: PersistentModel, Hashable {
            enum Genre: String, Codable, CaseIterable { case drama, comedy, noir, western }

            var id: Int64
            var tags: Set<String> = []
            var counts: [Genre: Int] = [:]

            static let table = "playlist"
            static let columns: MappedColumns<Playlist> = ["id": \.id, "tags": \.tags, "counts": \.counts]

            /// Fills the playlist with values that are always equal, in an order that depends on the capacity.
            mutating func fill(_ capacity: Int) {
                tags = Set(minimumCapacity: 8 * capacity)
                tags.formUnion(["a", "b", "c", "d"].shuffled())
                counts = Dictionary(minimumCapacity: 8 * capacity)
                for genre in Genre.allCases.shuffled() { counts[genre] = genre.rawValue.count }
            }
        }

        private func service() -> SQLitePersistenceService {
            let table = """
                CREATE TABLE playlist(id INTEGER PRIMARY KEY NOT NULL, tags TEXT NOT NULL, counts TEXT NOT NULL) STRICT
                """
            return SQLitePersistenceService(
                .temporary(models: [Playlist.self]), migrations: [Migration("1 playlists", sql: table)])
        }

        @Test("Two scopes that store equal sets and dictionaries have no conflict")
        func scopes() async throws {
            let store = service()
            try await store.create((1...20).map { Playlist(id: $0) }, save: .store)
            let (one, other) = (
                try store.child("one", resolving: .fail), try store.child("other", resolving: .fail)
            )
            try await one.update(Playlist.all, save: .pending) { $0.fill(Int($0.id)) }
            try await other.update(Playlist.all, save: .pending) { $0.fill(21 - Int($0.id)) }
            try await other.save(.store)
            try await one.save(.store)
            let saved = try await store.fetch(Playlist.all)
            #expect(saved.count == 20 && saved.allSatisfy { $0.tags.count == 4 && $0.counts.count == 4 })
            await store.close()
        }

        @Test("Putting an equal model again changes nothing")
        func putAgain() async throws {
            let store = service()
            var playlist = Playlist(id: 1)
            playlist.fill(1)
            try await store.create(playlist, save: .store)
            for capacity in 2...20 {
                playlist.fill(capacity)
                try await store.put(playlist, save: .pending)
            }
            #expect(try await store.validate() == SaveReport())
            await store.close()
        }
    }
#endif
