import FoundationEssentials
import Glibc
import ServiceEssentials
import Testing

extension ToolTests {
    #if Persistence
        @Suite("Tool: stores")
        struct StoreCommandTests {
            private struct Film: PersistentModel {
                var id: UUID
                var title: String
                var poster: Data?

                static let table = "film"
                static let columns = Columns()

                struct Columns: ModelColumns {
                    let id = Column<Film, UUID>("id")
                    let title = Column<Film, String>("title")
                    let poster = Column<Film, Data?>("poster")
                    var all: [ModelColumn<Film>] { [id.erased, title.erased, poster.erased] }
                }
            }

            private static let tables = """
                CREATE TABLE studio(id BLOB PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID;
                CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL, poster BLOB,
                    "the studio" BLOB REFERENCES studio(id)) STRICT, WITHOUT ROWID;
                CREATE INDEX film_title ON film(title)
                """
            private static let firstID = "00000000-0000-4000-8000-000000000001"

            private let directory: TemporaryDirectory
            private var path: String { directory.path + "/shop.sqlite" }

            init() throws { directory = try TemporaryDirectory() }

            /// Opens the store with two films. This process owns it until it is closed.
            private func open() async throws -> SQLitePersistenceService {
                let store = SQLitePersistenceService(
                    SQLiteStore(path: path, models: [Film.self]), migrations: [Migration("1 films", sql: Self.tables)])
                let films = [
                    Film(id: try #require(UUID(uuidString: Self.firstID)), title: "M\u{1B}[31m"),
                    Film(
                        id: try #require(UUID(uuidString: "00000000-0000-4000-8000-000000000002")),
                        title: String(repeating: "x", count: 5_000), poster: Data(repeating: 0xAB, count: 5_000)),
                ]
                try await store.create(films, save: .store)
                return store
            }

            private func store(_ arguments: String...) async throws -> ToolResult {
                try await ToolProcess(["store"] + arguments).end()
            }

            private struct Information: Decodable {
                struct Owner: Decodable {
                    let process: Int32
                    let ownsStore: Bool
                }
                struct Migration: Decodable {
                    let name, date: String
                }
                struct Table: Decodable {
                    let name: String
                    let rows: Int?
                }
                struct Backup: Decodable {
                    let name: String
                }

                let bytes, pages, pageSize, logBytes, userVersion: Int
                let journalMode, sqliteVersion: String
                let hasLogResetFault: Bool
                let owner: Owner?
                let migrations: [Migration]
                let tables: [Table]
                let backups: [Backup]
            }

            @Test("The information names the owner, migrations and rows, and no value of a row")
            func information() async throws {
                let service = try await open()
                let text = try await store("info", path)
                #expect(text.code == 0 && text.errors.isEmpty, "\(text.errors)")
                for part in [
                    "\njournal       wal, ", "\nowner         process \(getpid()), which is running\n", "  1 films  20",
                    "  film                   2\n",
                ] {
                    #expect(text.text.contains(part), "\(text.text)")
                }
                let json = try await store("info", path, "--format", "json")
                #expect(json.code == 0 && !json.text.contains("xxx") && !text.text.contains("xxx"))
                let information = try JSONDecoder().decode(Information.self, from: Data(json.output))
                #expect(information.owner?.process == getpid() && information.owner?.ownsStore == true)
                #expect(information.pageSize == 4_096 && information.logBytes > 0 && information.userVersion == 0)
                #expect(information.bytes > 0 && information.pages > 0)
                #expect(information.migrations.map(\.name) == ["1 films"] && information.backups.isEmpty)
                #expect(information.tables.first { $0.name == "film" }?.rows == 2)
                #expect(text.text.contains("WAL-reset bug") == information.hasLogResetFault)
                #expect(text.text.contains(information.sqliteVersion) && information.journalMode == "wal")
                await service.close()
                let names = try directory.names
                let closed = try await store("info", path).text
                #expect(closed.contains("none; the last one was process \(getpid()), which has closed it"))
                #expect(try directory.names == names)
            }

            @Test("The schema is printed as statements, as objects and as a diagram")
            func schema() async throws {
                await (try open()).close()
                let text = try await store("schema", path)
                #expect(text.code == 0 && text.text.contains("CREATE INDEX film_title ON film(title);\n"))
                let objects = try await store("schema", path, "--format", "json").text.split(separator: "\n")
                #expect(objects.count == 4 && objects.allSatisfy { $0.hasPrefix("{\"name\":\"") })
                let diagram = try await store("schema", path, "--mermaid")
                #expect(
                    diagram.text == """
                        erDiagram
                            "film" {
                                BLOB id PK
                                TEXT title
                                BLOB poster
                                BLOB the_studio FK "the studio"
                            }
                            "studio" {
                                BLOB id PK
                            }
                            "studio" |o--o{ "film" : "the studio"

                        """)
            }

            @Test("Rows are printed with visible control characters, UUIDs and short values, as text and as JSON")
            func rows() async throws {
                await (try open()).close()
                let text = try await store("rows", path, "FILM")
                let lines = text.text.split(separator: "\n")
                try #require(text.code == 0 && lines.count == 3, "\(text.errors)")
                #expect(lines[0].hasPrefix("id  ") && lines[1].hasPrefix("\(Self.firstID)  M\\u{1B}[31m"))
                #expect(lines[1].contains("NULL") && lines[2].contains("xxx…") && lines[2].contains("…' (5000 bytes)"))
                let json = try await store("rows", path, "film", "--limit", "1", "--format", "json")
                #expect(
                    json.text == """
                        {"id":"\(Self.firstID)","poster":null,"the studio":null,"title":"M\\u001b[31m"}

                        """)
                #expect(json.errors == "There are more rows. Continue with --offset 1.\n")
                let second = try await store("rows", path, "film", "--offset", "1", "--format", "json")
                #expect(second.errors.isEmpty && second.text.contains(#""title":{"bytes":5000,"text":"xxx"#))
                #expect(second.text.contains(#""poster":{"bytes":5000,"hex":"abab"#))
                #expect(try await store("rows", path, "studio").text == "There are no rows.\n")
            }

            @Test("An unknown table is refused with the closest one, and a file that is no store with a remedy")
            func mistakes() async throws {
                await (try open()).close()
                let table = try await store("rows", path, "fim")
                #expect(table.code == 64 && table.reason == "invalidRequest" && table.output.isEmpty)
                #expect(table.errors.contains("Did you mean “film”?"), "\(table.errors)")
                let text = try directory.file("text", "no database, and longer than the header of one would be")
                let names = try directory.names
                for file in [directory.path + "/missing", directory.path, text] {
                    for action in ["info", "schema", "check"] {
                        let result = try await store(action, file)
                        #expect(result.code == 1 && result.reason == "file" && result.output.isEmpty)
                        #expect(result.errors.contains("“\(file)”: The file "), "\(result.errors)")
                    }
                }
                #expect(try directory.names == names)
            }

            @Test("A sound store passes the check, and a damaged one fails with its findings")
            func checked() async throws {
                let service = try await open()
                let sound = try await store("check", path)
                #expect(sound.code == 0 && sound.text.hasPrefix("damage: none was found\n"), "\(sound.errors)")
                #expect(sound.text.contains("Only the program knows"))
                #expect(
                    try await store("check", path, "--format", "json").text
                        == "{\"damage\":[],\"dangling\":[],\"isSound\":true,\"migrations\":1}\n")
                await service.close()
                var bytes = try directory.contents("shop.sqlite")
                for index in 4_096..<bytes.count { bytes[index] = 0x5A }
                try Data(bytes).write(to: URL(filePath: path))
                let damaged = try await store("check", path)
                #expect(damaged.code == 1 && damaged.reason == "file", "\(damaged.errors)")
                #expect(damaged.text.contains("damage: ") && damaged.errors.contains("Restore a backup."))
                let json = try await store("check", path, "--format", "json")
                #expect(json.code == 1 && json.text.contains("\"isSound\":false"))
            }

            @Test("A store is backed up while it is in use, and restored when it is not")
            func copies() async throws {
                let service = try await open()
                let backup = directory.path + "/monday.sqlite"
                let made = try await store("backup", path, backup)
                #expect(made.code == 0 && made.text.hasSuffix(" bytes to “\(backup)”.\n"), "\(made.errors)")
                var status = stat()
                #expect(stat(backup, &status) == 0 && status.st_mode & 0o777 == 0o600)
                let again = try await store("backup", path, backup)
                #expect(again.code == 1 && again.reason == "file" && again.errors.contains("--force"))
                #expect(try await store("backup", path, backup, "--force").code == 0)

                try await service.delete(Film.all, save: .store)
                let busy = try await store("restore", path, backup)
                #expect(busy.code == 1 && busy.errors.contains("belongs to process \(getpid())"), "\(busy.errors)")
                await service.close()
                let restored = try await store("restore", path, backup)
                #expect(restored.code == 0, "\(restored.errors)")
                let kept = try #require(try directory.names.first { $0.contains(".replaced-") })
                #expect(
                    restored.text == """
                        Restored “\(path)” from “\(backup)”.
                        The file before is “\(directory.path)/\(kept)”.

                        """)
                #expect(
                    try await store("rows", path, "film", "--format", "json").text.split(separator: "\n").count == 2)
                let old = try await store("rows", directory.path + "/" + kept, "film")
                #expect(old.text == "There are no rows.\n", "\(old.errors)")
                #expect(try await store("info", path).text.contains("  \(kept)  20"))
            }

            @Test("The demonstration of persistence prints a line for every step")
            func demo() async throws {
                let result = try await tool("demo", "--persistence")
                #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
                let lines = result.text.split(separator: "\n")
                let expected = [
                    ("store", ["“Metropolis” of 1926"]), ("pending", ["is 1927, in the store 1926"]),
                    ("conflict", ["base “Metropolis”, mine “Metropolis (1927)”, theirs “METROPOLIS”"]),
                    ("resolved", ["“Metropolis” of 1927"]), ("killed", ["SIGKILL", "confirmed saves"]),
                    ("reopened", ["confirmed saves"]),
                ]
                try #require(lines.count == expected.count, "\(result.text)")
                for (line, (name, parts)) in zip(lines, expected) {
                    #expect(line.hasPrefix(name + ": "))
                    for part in parts { #expect(line.contains(part), "\(line)") }
                }
            }
        }
    #endif

    @Suite("Tool: stores, wrong usage")
    struct StoreUsageTests {
        @Test(
            "Wrong actions, operands and options of a store are refused",
            arguments: [
                ["empty", "f"], ["info"], ["info", "f", "g"], ["rows", "f"], ["backup", "f"], ["restore", "f"],
                ["check", "f", "--force"], ["info", "f", "--mermaid"], ["schema", "f", "--limit", "1"],
                ["schema", "f", "--mermaid", "--format", "json"], ["rows", "f", "t", "--limit", "0"],
                ["rows", "f", "t", "--limit", "10001"], ["rows", "f", "t", "--offset=-1"], ["rows", "f", ""],
            ])
        func refusedStore(arguments: [String]) async throws {
            let result = try await ToolProcess(["store"] + arguments).end()
            #expect(result.code == 64 && result.output.isEmpty, "\(result.errors)")
        }
        #if !Persistence
            @Test("Without the trait, the commands of persistence say in one line how to build the tool")
            func storeIsUnavailable() async throws {
                for arguments in [["store", "info", "file"], ["demo", "--persistence"]] {
                    let result = try await ToolProcess(arguments).end()
                    #expect(result.code == 69 && result.output.isEmpty && result.errorLines.count == 1)
                    #expect(result.errors.contains("swift build --traits Tool,Persistence --product essentials"))
                }
            }
        #endif
    }
}
