import TestTools

#if Persistence
    import GRDB
    import GRDBSQLite
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// Rows whose writes block each other.
    struct WriteOrderTests {
        private func labels(
            _ columns: String = "name TEXT UNIQUE, other TEXT", more: String = ""
        ) async throws -> SQLitePersistenceService {
            let sql = "CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, \(columns)) STRICT;\(more)"
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self]), migrations: [Migration("1", sql: sql)])
            try await store.ready()
            return store
        }

        /// Rows that refer to other rows of their table.
        private func parts(_ action: String) -> SQLitePersistenceService {
            let sql = """
                CREATE TABLE part(id INTEGER PRIMARY KEY NOT NULL,
                    whole INTEGER REFERENCES part(id) ON DELETE \(action)) STRICT;
                CREATE INDEX part_whole ON part(whole);
                """
            return SQLitePersistenceService(
                .temporary(models: [Part.self]), migrations: [Migration("1", sql: sql)])
        }

        @Test("Values move along a chain of a thousand rows, whatever the order of the ids is")
        func path() async throws {
            let store = try await labels()
            var numbers = SeededNumbers(state: 7)
            let order = (0..<1_000).shuffled(using: &numbers)
            try await store.create(order.indices.map { Label(id: Int64($0), name: "\(order[$0])") }, save: .store)
            let edits = try store.child("edit")
            try await edits.update(Label.all, save: .pending) { $0.name = "\((Int($0.name ?? "") ?? 0) + 1)" }
            #expect(try await edits.save(.store) == SaveReport(updated: 1_000))
            #expect(try await store.fetch(Label.all).map(\.name) == order.map { "\($0 + 1)" })
            await store.close()
        }

        @Test("Values of an expression index move along a chain, although the rows that hold them are unknown")
        func expression() async throws {
            let store = try await labels(more: "CREATE UNIQUE INDEX label_name ON label(lower(name));")
            var numbers = SeededNumbers(state: 7)
            let order = (0..<100).shuffled(using: &numbers)
            try await store.create(order.indices.map { Label(id: Int64($0), other: "\(order[$0])") }, save: .store)
            try await store.update(Label.all, save: .store) { $0.name = $0.other }
            try await store.update(Label.all, save: .store) { $0.name = "\((Int($0.name ?? "") ?? 0) + 1)" }
            #expect(try await store.fetch(Label.all).map(\.name) == order.map { "\($0 + 1)" })
            await store.close()
        }

        @Test("Writes that wait for unknown rows are retried a limited number of times")
        func budget() {
            let count = 3_000
            var queue = BlockedWrites<Int>(
                (0..<count).map { (key: RowKey(table: "t", id: .integer(Int64($0))), write: $0) })
            var (left, tries) = (count, 0)
            repeat {
                while let (key, write) = queue.next() {
                    tries += 1
                    // Only the last of the remaining writes succeeds.
                    if write == left - 1 {
                        queue.isWritten(key)
                    } else {
                        queue.hasFailed(write, at: key, holder: nil)
                    }
                }
                left = queue.rest.count
            } while queue.retry()
            #expect(left > 0 && left == queue.rest.count)
            #expect(tries <= count + 100_000)
        }

        @Test(
            "Values move around circles through a free value",
            arguments: [
                "name TEXT UNIQUE, other TEXT", "name TEXT, other TEXT, UNIQUE(name, other)",
                "name TEXT UNIQUE COLLATE NOCASE CHECK (name IS NOT NULL), other TEXT UNIQUE",
            ])
        func circles(_ columns: String) async throws {
            let store = try await labels(columns)
            let count = 60
            let other = columns.contains("other TEXT UNIQUE")
            try await store.create(
                (0..<count).map { Label(id: Int64($0), name: "n\($0)", other: other ? "o\($0)" : "o") }, save: .store)
            let edits = try store.child("edit")
            // Two rows, three rows, and all others in one circle; with a second column that moves the other way.
            @Sendable func next(_ id: Int) -> Int {
                id < 2 ? 1 - id : id < 5 ? 2 + (id - 1) % 3 : id + 1 == count ? 5 : id + 1
            }
            try await edits.update(Label.all, save: .pending) { label in
                label.name = "n\(next(Int(label.id)))"
                if other { label.other = "o\(count - 1 - Int(label.id))" }
            }
            #expect(try await edits.save(.store) == SaveReport(updated: count))
            #expect(try await store.fetch(Label.all).map(\.name) == (0..<count).map { "n\(next($0))" })
            await store.close()
        }

        @Test("A value of a row outside the save is a violation, even at the end of a chain")
        func taken() async throws {
            let store = try await labels()
            try await store.create((0..<30).map { Label(id: $0, name: "\($0)") }, save: .store)
            let edits = try store.child("edit")
            try await edits.update(Label.where { $0.id < 29 }, save: .pending) { $0.name = "\($0.id + 1)" }
            let failure = await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
            #expect(failure?.violations.map(\.kind) == [.unique])
            #expect(failure?.ids.contains(28) == true)
            #expect(try await store.fetch(Label.all).map(\.name) == (0..<30).map { "\($0)" })
            await store.close()
        }

        @Test("Exchanging values without a free one is a violation, and the failure says how to avoid it")
        func noFreeValue() async throws {
            let sql = """
                CREATE TABLE company(id INTEGER PRIMARY KEY NOT NULL,
                    name TEXT NOT NULL UNIQUE CHECK (name IN ('a', 'b'))) STRICT
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Company.self]), migrations: [Migration("1", sql: sql)])
            try await store.create([Company(id: 1, name: "a"), Company(id: 2, name: "b")], save: .store)
            let failure = await #expect(throws: PersistenceFailure.self) {
                try await store.update(Company.all, save: .store) { $0.name = $0.name == "a" ? "b" : "a" }
            }
            #expect(failure?.violations.map(\.kind) == [.unique])
            #expect(failure?.remedy?.contains("free value") == true)
            #expect(try await store.fetch(Company.all).map(\.name) == ["a", "b"])
            await store.close()
        }

        @Test(
            "Required and unique numbers move around a circle",
            arguments: ["year < 90", "year > 0", "year > 0 AND year < 90"])
        func numbers(_ condition: String) async throws {
            let sql = """
                CREATE TABLE note(id INTEGER PRIMARY KEY NOT NULL, title TEXT,
                    year INTEGER NOT NULL UNIQUE CHECK (\(condition))) STRICT
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Note.self]), migrations: [Migration("1", sql: sql)])
            try await store.create((1...60).map { Note(id: $0, year: Int($0)) }, save: .store)
            try await store.update(Note.all, save: .store) { $0.year = $0.year % 60 + 1 }
            #expect(try await store.fetch(Note.all).map(\.year) == (1...60).map { $0 % 60 + 1 })
            await store.close()
        }

        @Test("A chain of thousands of rows is deleted in a scope and in the file", arguments: ["CASCADE", "RESTRICT"])
        func chain(_ action: String) async throws {
            let store = parts(action)
            var numbers = SeededNumbers(state: 7)
            let ids = (1...3_000).map { Int64($0) }.shuffled(using: &numbers)
            try await store.create(
                ids.indices.map { Part(id: ids[$0], whole: $0 == 0 ? nil : ids[$0 - 1]) }, save: .store)
            let edits = try store.child("edit")
            try await edits.delete(Part.self, ids: action == "CASCADE" ? [ids[0]] : ids, save: .pending)
            #expect(try await edits.count(Part.all) == 0)
            #expect(try await edits.save(.store) == SaveReport(deleted: 3_000))
            #expect(try await store.count(Part.all) == 0)
            await store.close()
        }

        @Test("Rows that exchange values keep the rows that refer to the values")
        func referredValues() async throws {
            let sql = """
                CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT UNIQUE,
                    other TEXT REFERENCES label(name) ON UPDATE CASCADE) STRICT
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self]), migrations: [Migration("1", sql: sql)])
            try await store.create([Label(id: 1, name: "a"), Label(id: 2, name: "b")], save: .store)
            try await store.create([Label(id: 3, other: "a"), Label(id: 4, other: "b")], save: .store)
            try await store.update(Label.where { $0.id < 3 }, save: .store) { $0.name = $0.name == "a" ? "b" : "a" }
            #expect(try await store.fetch(Label.all).map(\.name) == ["b", "a", nil, nil])
            #expect(try await store.fetch(Label.all).map(\.other) == [nil, nil, "b", "a"])
            await store.close()
        }

        @Test("A circle of thousands of rows is deleted")
        func ring() async throws {
            let store = parts("CASCADE")
            try await store.create((0..<3_000).map { Part(id: $0, whole: ($0 + 1) % 3_000) }, save: .store)
            #expect(try await store.delete(Part.self, ids: [1_500], save: .store) == 1)
            #expect(try await store.count(Part.all) == 0)
            await store.close()
        }

        @Test("A chain of thousands of rows is deleted at once by a query")
        func chainByQuery() async throws {
            let store = parts("CASCADE")
            try await store.create((0..<3_000).map { Part(id: $0, whole: $0 == 0 ? nil : $0 - 1) }, save: .store)
            #expect(try await store.delete(Part.where { $0.id == 0 }, save: .store) == 1)
            #expect(try await store.count(Part.all) == 0)
            await store.close()
        }

        private static let notes = """
            CREATE TABLE note(id INTEGER PRIMARY KEY NOT NULL, title TEXT, year INTEGER NOT NULL UNIQUE) STRICT
            """

        @Test("The order of two thousand unique numbers is reversed")
        func reversed() async throws {
            let store = SQLitePersistenceService(
                .temporary(models: [Note.self]), migrations: [Migration("1", sql: Self.notes)])
            let count = 2_000
            try await store.create((0..<count).map { Note(id: Int64($0), year: $0) }, save: .store)
            try await store.update(Note.all, save: .store) { $0.year = count - 1 - $0.year }
            #expect(try await store.fetch(Note.all).map(\.year) == (0..<count).reversed())
            await store.close()
        }

        @Test("The work of a save that reverses the order of unique numbers grows with their count")
        func reversedWork() throws {
            let (small, large) = (try Self.instructions(reversing: 250), try Self.instructions(reversing: 1_000))
            // Reading all rows for each of the circles would take sixteen times as many.
            #expect(small > 250 && large < small * 5)
        }

        /// The number of instructions that SQLite executes for such a save.
        private static func instructions(reversing count: Int) throws -> Int {
            final class Counter { var count = 0 }
            let (queue, counter, model) = (try DatabaseQueue(), Counter(), ModelSchema(Note.self))
            let layout = RowLayout(["id", "title", "year"])
            return try queue.write { db in
                try db.execute(sql: notes)
                var level = OverlayLevel()
                for number in 0..<Int64(count) {
                    try db.execute(sql: "INSERT INTO note(id, year) VALUES (?, ?)", arguments: [number, number])
                    let (year, id) = (Int64(count) - 1 - number, StoredValue.integer(number))
                    try level.place(
                        StoredRow(layout, [id, .null, .integer(year)]), at: RowKey(table: Note.table, id: id),
                        below: StoredRow(layout, [id, .null, id]))
                }
                let schema = try FileSchema.read(db, models: [model])
                sqlite3_progress_handler(
                    db.sqliteConnection, 1,
                    { counter in
                        if let counter { Unmanaged<Counter>.fromOpaque(counter).takeUnretainedValue().count += 1 }
                        return 0
                    }, Unmanaged.passUnretained(counter).toOpaque())
                defer { sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
                let report = try FileSave(level: level, models: [model], schema: schema)
                    .run(db, before: StateBefore { queue }) { _ in .fail }
                #expect(report == SaveReport(updated: count))
                return counter.count
            }
        }
    }
#endif
