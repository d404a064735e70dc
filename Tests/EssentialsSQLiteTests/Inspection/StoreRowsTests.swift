#if Persistence
    import EssentialsPersistence
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    @Suite("StoreInspection: rows", .timeLimit(.minutes(5)))
    struct StoreRowsTests {
        private let folder: TemporaryFolder
        private var path: String { folder.file("values.sqlite") }

        init() throws { folder = try TemporaryFolder() }

        private func make(_ sql: String) throws -> StoreInspection {
            let queue = try DatabaseQueue(path: path)
            try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            try queue.close()
            return try StoreInspection(path: path)
        }

        @Test(
            "Values of every type are read, in the order of the key, with limit and offset",
            arguments: ["UTF-8", "UTF-16le"])
        func values(encoding: String) throws {
            let inspection = try make(
                """
                PRAGMA encoding = '\(encoding)';
                CREATE TABLE a(k INTEGER PRIMARY KEY, v);
                INSERT INTO a VALUES (3, 'Grüße'), (1, NULL), (2, -7), (4, 1.5), (5, x'00ff'), (6, 9e999), (7, '')
                """)
            let rows = try #require(try inspection.rows(of: "A", limit: 10, offset: 0))
            #expect(rows.columns == ["k", "v"] && !rows.hasMore && !rows.isCut)
            let size: Int64 = encoding == "UTF-8" ? 7 : 10
            #expect(
                rows.rows.map { $0[1] } == [
                    .null, .integer(-7), .text("Grüße", bytes: size), .real(1.5), .blob([0, 255], bytes: 2),
                    .real(.infinity), .text("", bytes: 0),
                ])
            let some = try #require(try inspection.rows(of: "a", limit: 2, offset: 1))
            #expect(some.rows.map { $0[0] } == [.integer(2), .integer(3)] && some.hasMore)
            #expect(try inspection.rows(of: "a", limit: 2, offset: 99)?.rows == [])
        }

        @Test("Long values are cut between two characters, and their sizes are given")
        func cut() throws {
            let inspection = try make(
                """
                CREATE TABLE a(t, b);
                INSERT INTO a VALUES ('x' || replace(hex(zeroblob(5000)), '00', 'ü'), zeroblob(100000))
                """)
            let row = try #require(try inspection.rows(of: "a", limit: 1, offset: 0)?.rows.first)
            guard case .text(let text, 10_001) = row[0], case .blob(let bytes, 100_000) = row[1] else {
                Issue.record("\(row)")
                return
            }
            #expect(text == "x" + String(repeating: "ü", count: 2_047))
            #expect(bytes.count == StoreRows.byteLimit)
        }

        @Test("Names with quotes, spaces and controls, texts with NUL and bytes that are not UTF-8 are read")
        func hostile() throws {
            let inspection = try make(
                """
                CREATE TABLE "a""b'; DROP TABLE x --\u{1B}[31m"("c""d" TEXT, "e\nf" TEXT);
                INSERT INTO "a""b'; DROP TABLE x --\u{1B}[31m" VALUES ('p' || char(0) || 'q', CAST(x'ff41' AS TEXT));
                """)
            let name = try #require(try inspection.relationNames().first)
            #expect(name == "a\"b'; DROP TABLE x --\u{1B}[31m")
            let rows = try #require(try inspection.rows(of: name, limit: 5, offset: 0))
            #expect(rows.columns == ["c\"d", "e\nf"])
            #expect(rows.rows == [[.text("p\0q", bytes: 3), .text("\u{FFFD}A", bytes: 2)]])
            #expect(try inspection.information().tables.map(\.rows) == [1])
            #expect(try inspection.outline().tables.first?.columns.count == 2)
        }

        @Test("An unknown table gives nil, and SQLite's internal tables are not listed")
        func unknown() throws {
            let inspection = try make("CREATE TABLE a(k INTEGER PRIMARY KEY AUTOINCREMENT)")
            #expect(try inspection.rows(of: "b", limit: 1, offset: 0) == nil)
            #expect(try inspection.relationNames() == ["a"])
        }

        @Test("A table with more columns than the limit is cut")
        func wide() throws {
            let columns = (0..<600).map { "c\($0)" }.joined(separator: ", ")
            let inspection = try make("CREATE TABLE a(\(columns)); INSERT INTO a(c0) VALUES (1)")
            let rows = try #require(try inspection.rows(of: "a", limit: 1, offset: 0))
            #expect(rows.isCut && rows.columns.count == StoreRows.columnLimit)
            #expect(rows.rows.first?.count == StoreRows.columnLimit)
        }

        @Test("A schema that lies about its own tables fails without a trap")
        func lies() throws {
            let inspection = try make(
                """
                CREATE TABLE essentials_migrations(number, name, date);
                INSERT INTO essentials_migrations VALUES (x'ff', x'00ff', 3), ('a', NULL, NULL);
                CREATE TABLE a(k PRIMARY KEY, p REFERENCES missing(x), q REFERENCES a(p));
                PRAGMA writable_schema = ON;
                INSERT INTO sqlite_schema VALUES (7, x'ff', NULL, -3, NULL);
                PRAGMA writable_schema = OFF;
                """)
            let information = Result { () throws(PersistenceFailure) in try inspection.information() }
            let findings = Result { () throws(PersistenceFailure) in try inspection.findings() }
            // SQLite may refuse such a schema as a whole.
            switch information {
            case .success(let information): #expect(information.migrations.count == 2)
            case .failure(let failure): #expect(failure.reason == .corrupt)
            }
            switch findings {
            case .success(let findings): #expect(!findings.isEmpty)
            case .failure(let failure): #expect(failure.reason == .corrupt)
            }
        }
    }
#endif
