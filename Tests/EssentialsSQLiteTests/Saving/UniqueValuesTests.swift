#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Rows whose unique values are found although the index, or the spelling of the table, hides them.
    @Suite(.timeLimit(.minutes(5)))
    struct UniqueValuesTests {
        @Test(
            "Values of a partial index move in a circle, although rows outside the index have the same values",
            arguments: [
                "CREATE UNIQUE INDEX label_on ON label(name) WHERE other = 'on' -- shown",
                """
                CREATE UNIQUE INDEX "label (""on" ON label(name COLLATE NOCASE) WHERE (other) IN ('on', 'WHERE');
                CREATE UNIQUE INDEX label_off ON label(name) WHERE other = 'none'
                """,
            ])
        func partialIndex(_ index: String) async throws {
            let sql = "CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT, other TEXT) STRICT; \(index)"
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self]), migrations: [Migration("1", sql: sql)])
            let off = (0..<10).map { Label(id: $0, name: "\($0)", other: "off") }
            try await store.create(off, save: .store)
            try await store.create((0..<10).map { Label(id: $0 + 10, name: "\($0)", other: "on") }, save: .store)
            // Circles of two rows, and one of four.
            @Sendable func next(_ number: Int64) -> Int64 { number < 6 ? number ^ 1 : 6 + (number - 5) % 4 }
            try await store.update(Label.where { $0.id >= 10 }, save: .store) { $0.name = "\(next($0.id - 10))" }
            let on = (0..<10).map { Label(id: $0 + 10, name: "\(next($0))", other: "on") }
            #expect(try await store.fetch(Label.all) == off + on)
            await store.close()
        }

        @Test("A table whose spelling differs between file and model has the same rules, and its rows are named")
        func spelling() async throws {
            let sql = """
                CREATE TABLE LABEL(id INTEGER PRIMARY KEY NOT NULL, name TEXT UNIQUE, other TEXT) STRICT;
                CREATE TABLE Part(id INTEGER PRIMARY KEY NOT NULL, whole INTEGER REFERENCES PART(id)) STRICT;
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self, Part.self]), migrations: [Migration("1", sql: sql)])
            try await store.create([Label(id: 1, name: "a"), Label(id: 2, name: "b")], save: .store)
            try await store.update(Label.all, save: .store) { $0.name = $0.name == "a" ? "b" : "a" }
            #expect(try await store.fetch(Label.all).map(\.name) == ["b", "a"])
            let taken = await #expect(throws: PersistenceFailure.self) {
                try await store.create(Label(id: 3, name: "a"), save: .store)
            }
            #expect(
                taken?.violations == [ConstraintViolation(.unique, table: "label", columns: ["name"], ids: [3])])
            let orphan = await #expect(throws: PersistenceFailure.self) {
                try await store.create(Part(id: 1, whole: 9), save: .store)
            }
            #expect(
                orphan?.violations == [
                    ConstraintViolation(.foreignKey, table: "part", columns: ["whole"], parent: "part", ids: [1])
                ])
            await store.close()
        }
    }
#endif
