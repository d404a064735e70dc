import TestTools

#if Persistence
    import EssentialsPersistence
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite
    @testable import StoreProbe

    /// A store whose process is killed while its tables are changed.
    @Suite(.timeLimit(.minutes(5)))
    struct KilledMigrationTests {
        private static let rounds = 50

        /// The whole content of a file except the dates of its migrations.
        private struct Contents: Equatable {
            var schema: [String] = []
            /// The rows of each table as a text.
            var rows: [String: String] = [:]
            var migrations: [String] = []

            init(_ path: String) throws {
                let queue = try DatabaseQueue(path: path)
                try queue.read { db in
                    schema = try String.fetchAll(
                        db, sql: "SELECT type || name || ifnull(sql, '') FROM sqlite_schema ORDER BY type, name")
                    for table in ["item", "part", "other"] where try db.tableExists(table) {
                        let columns = try db.columns(in: table).map { "quote(\($0.name))" }.joined(separator: "||','||")
                        rows[table] = try String.fetchOne(
                            db, sql: "SELECT group_concat(\(columns), ';') FROM (SELECT * FROM \(table) ORDER BY id)")
                    }
                    migrations = try String.fetchAll(db, sql: "SELECT name FROM essentials_migrations ORDER BY number")
                    let integrity = try String.fetchAll(db, sql: "PRAGMA integrity_check")
                    #expect(integrity == ["ok"])
                }
                try queue.close()
            }
        }

        private let fixture: StoreFixture
        private let names = ProbeMigrations.all().map(\.name)

        init() throws { fixture = try StoreFixture() }

        private func migrate(_ count: Int) throws -> MigrationRunner.Report {
            let store = SQLiteStore(path: fixture.path, models: [])
            let database = try StoreDatabase.open(store, migrations: Array(ProbeMigrations.all().prefix(count)))
            defer { try? database.close() }
            return database.report
        }

        private func copy(_ name: String, to copy: String) throws {
            let source = open(fixture.folder.file(name), O_RDONLY | O_CLOEXEC)
            guard source >= 0 else { return }
            defer { close(source) }
            let target = open(fixture.folder.file(copy), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            defer { close(target) }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(source, &buffer, buffer.count)
                guard count > 0 else { break }
                try #require(write(target, buffer, count) == count)
            }
        }

        /// Starts the program and kills it: within 60 ms after its start, or within 20 ms after a migration has begun.
        ///
        /// - Returns: The number of migrations that have certainly run.
        private func kill(_ stage: Int, _ delay: Duration) async throws -> Int {
            let lines = try await ChildProcess.onThread { [path = fixture.path, names] in
                let process = try ChildProcess("StoreProbe", ["migrate", path])
                var lines: [String] = []
                if stage > 0 {
                    while let line = process.line() {
                        lines.append(line)
                        if line == "begun \(names[stage])" { break }
                    }
                }
                lines += process.lines(for: delay)
                return lines + process.lastLines()
            }
            if lines.last == "open" { return names.count }
            return max(1, names.lastIndex { lines.last == "begun \($0)" } ?? 0)
        }

        @Test(
            "After each of 50 kills migrations are whole or absent, the rest runs on opening, and backups are good"
        )
        func migrations() async throws {
            var contents: [Contents] = []
            for count in 1...names.count {
                #expect(try migrate(count).applied == [names[count - 1]])
                contents.append(try Contents(fixture.path))
                if count == 1 { try copy("store.sqlite", to: "original") }
            }
            let seed = UInt64.random(in: .min ... .max)
            print("seed of the kills of migrations: \(seed)")
            var numbers = SeededNumbers(state: seed)
            var found = Array(repeating: 0, count: names.count)
            for round in 0..<Self.rounds {
                for name in fixture.folder.entries where name != "original" { unlink(fixture.folder.file(name)) }
                try copy("original", to: "store.sqlite")
                // The time before the first migration is tested twice as often as that after the beginning of each.
                let stage = [0, 1, 0, 2, 3][round % 5]
                let delay = Duration.microseconds(Int.random(in: 0...(stage == 0 ? 60_000 : 20_000), using: &numbers))
                let certain = try await kill(stage, delay)
                let comment: Comment = "seed \(seed), round \(round)"
                // A copy is examined, so that the service itself recovers the log.
                for suffix in ["", "-wal"] { try copy("store.sqlite\(suffix)", to: "look\(suffix)") }
                let left = try Contents(fixture.folder.file("look"))
                let count = left.migrations.count
                #expect((certain...names.count).contains(count), comment)
                let isWhole = left == contents[count - 1]
                #expect(isWhole, comment)
                found[count - 1] += 1
                try checkBackups(contents, comment)
                #expect(try migrate(names.count).applied == Array(names[count...]), comment)
                let isComplete = try Contents(fixture.path) == contents[names.count - 1]
                #expect(isComplete, comment)
                #expect(try checkBackups(contents, comment) > 0 || count == names.count, comment)
                #expect(!fixture.folder.entries.contains { $0.contains("unfinished") }, comment)
            }
            print("migrations found after kills: \(found)")
            // At least the kills after the beginning of the last migrations must find completed ones.
            #expect(found[1...].reduce(0, +) >= Self.rounds * 2 / 5)
        }

        /// Checks all backups, and returns their number.
        @discardableResult
        private func checkBackups(_ contents: [Contents], _ comment: Comment) throws -> Int {
            let backups = fixture.folder.entries.filter { $0.contains(".before-") }
            #expect(backups.count <= MigrationBackup.kept, "\(comment): \(backups)")
            for name in backups {
                let index = try #require(
                    names.dropFirst().firstIndex { name == "store.sqlite.before-\($0)" }, "\(comment): \(name)")
                let isWhole = (try? Contents(fixture.folder.file(name))) == contents[index - 1]
                #expect(isWhole, "\(comment): \(name)")
            }
            return backups.count
        }
    }
#endif
