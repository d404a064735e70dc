#if Persistence
    import FoundationEssentials
    import GRDB
    import GRDBSQLite
    import Testing

    /// Shows that the installed versions of SQLite and GRDB support the operations of a scope's connection.
    @Suite struct MountedConnectionTests {
        @Test("A read-only connection makes temporary tables, indexes and views, and its file stays read-only")
        func temporaryObjects() throws {
            let file = try MountedFile()
            try file.mount()
            try file.mounted.inDatabase { db throws in
                let kinds = try String.fetchAll(db, sql: "SELECT type FROM sqlite_temp_schema ORDER BY type")
                #expect(kinds == ["index", "index", "table", "table", "view"])
                let write = #expect(throws: DatabaseError.self) { try db.execute(sql: "DELETE FROM main.film") }
                #expect(write?.resultCode == .SQLITE_READONLY)
                let create = #expect(throws: DatabaseError.self) { try db.execute(sql: "CREATE TABLE main.t(a)") }
                #expect(create?.resultCode == .SQLITE_READONLY)
            }
            let count = try file.writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") }
            #expect(count == 4)
        }

        @Test("A connection with query_only cannot write its temporary tables")
        func queryOnly() throws {
            let file = try MountedFile()
            try file.mount()
            try file.mounted.inDatabase { db throws in
                try db.execute(sql: "PRAGMA query_only = 1")
                let failure = #expect(throws: DatabaseError.self) { try MountedFile.pend(1, nil, db) }
                #expect(failure?.resultCode == .SQLITE_READONLY)
            }
        }

        @Test("A temporary view replaces the table of its name, even in joins and subqueries")
        func shadowing() throws {
            let file = try MountedFile()
            try file.mount()
            try file.pinned { db throws in
                try MountedFile.pend(1, ("Metropolis", 1927), db)
                try MountedFile.pend(2, nil, db)
                try MountedFile.pend(4, ("Nosferatu", 1922), db)
            }
            try file.pinned { db throws in
                #expect(try MountedFile.titles(db) == ["Faust", "Metropolis", "Nosferatu"])
                #expect(try Int.fetchOne(db, sql: "SELECT year FROM film WHERE id = x'01'") == 1927)
                let joined = "SELECT f.title FROM studio s JOIN film f ON f.studioID = s.id ORDER BY f.year"
                #expect(try String.fetchAll(db, sql: joined) == ["Nosferatu", "Faust", "Metropolis"])
                let inner = "SELECT name FROM studio WHERE id IN (SELECT studioID FROM film)"
                #expect(try String.fetchAll(db, sql: inner) == ["Ufa"])
                let stored = "SELECT title FROM main.film ORDER BY id"
                #expect(try String.fetchAll(db, sql: stored) == ["Metropolis", "M", "Faust"])
            }
        }

        @Test("Temporary tables are written in a deferred transaction whose snapshot later commits do not change")
        func pinnedSnapshot() throws {
            let file = try MountedFile()
            try file.mount()
            try file.pinned { db throws in
                try file.writer.write { other in
                    try other.execute(sql: "INSERT INTO film VALUES (x'09', 'Der Golem', 1920, NULL)")
                    try other.execute(sql: "UPDATE film SET year = 1 WHERE id = x'03'")
                }
                try MountedFile.pend(1, nil, db)
                #expect(try MountedFile.titles(db) == ["Faust", "M"])
                #expect(try Int.fetchOne(db, sql: "SELECT year FROM film WHERE id = x'03'") == 1926)
            }
            try file.pinned { db throws in
                #expect(try MountedFile.titles(db) == ["Der Golem", "Faust", "M"])
                #expect(try Int.fetchOne(db, sql: "SELECT year FROM film WHERE id = x'03'") == 1)
            }
        }

        @Test("A deferred transaction pins its snapshot with its first read of the file, not with BEGIN")
        func pinningNeedsARead() throws {
            let file = try MountedFile()
            try file.mount()
            try file.mounted.inDatabase { db throws in
                try db.beginTransaction(.deferred)
                try MountedFile.pend(1, nil, db)
                try file.writer.write { try $0.execute(sql: "DELETE FROM film WHERE id = x'02'") }
                #expect(try MountedFile.titles(db) == ["Faust"])
                try db.commit()
            }
        }

        @Test("A rollback undoes writes to temporary tables, and a commit keeps them")
        func rollback() throws {
            struct Stop: Error {}
            let file = try MountedFile()
            try file.mount()
            try file.pinned { try MountedFile.pend(1, nil, $0) }
            #expect(throws: Stop.self) {
                try file.pinned { db throws in
                    try MountedFile.pend(2, nil, db)
                    #expect(try MountedFile.titles(db) == ["Faust"])
                    throw Stop()
                }
            }
            #expect(try file.pinned { try MountedFile.titles($0) } == ["Faust", "M"])
        }

        @Test("Statements stay cached and prepared across transactions, temporary writes and commits of others")
        func statementCache() throws {
            let file = try MountedFile()
            try file.mount()
            let sql = "SELECT title FROM film WHERE year = ?"
            let first = try file.pinned { db throws in
                let statement = try db.cachedStatement(sql: sql)
                #expect(try String.fetchAll(statement, arguments: [1931]) == ["M"])
                return ObjectIdentifier(statement)
            }
            for round in 0..<20 {
                try file.writer.write {
                    try $0.execute(sql: "UPDATE film SET year = ? WHERE id = x'03'", arguments: [round])
                }
                try file.pinned { db throws in
                    try MountedFile.pend(1, ("Metropolis", 1000 + round), db)
                    let statement = try db.cachedStatement(sql: sql)
                    #expect(ObjectIdentifier(statement) == first)
                    #expect(try String.fetchAll(statement, arguments: [round]) == ["Faust"])
                    #expect(try String.fetchAll(statement, arguments: [1000 + round]) == ["Metropolis"])
                    #expect(sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_REPREPARE, 0) == 0)
                }
            }
        }

        @Test("A view keeps working after another connection has changed the schema of its table")
        func schemaChange() throws {
            let file = try MountedFile()
            try file.mount()
            try file.pinned { try MountedFile.pend(1, nil, $0) }
            try file.writer.write { try $0.execute(sql: "ALTER TABLE film ADD COLUMN rating INTEGER") }
            #expect(try file.pinned { try MountedFile.titles($0) } == ["Faust", "M"])
        }

        @Test("A checkpoint during a pinned snapshot neither fails nor changes the snapshot")
        func checkpoint() throws {
            let file = try MountedFile()
            try file.mount()
            try file.pinned { db throws in
                try file.writer.write { try $0.execute(sql: "DELETE FROM film") }
                try file.writer.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
                #expect(try MountedFile.titles(db) == ["Faust", "M", "Metropolis"])
            }
            try file.writer.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
            #expect(try file.pinned { try MountedFile.titles($0) } == [])
        }
    }
#endif
