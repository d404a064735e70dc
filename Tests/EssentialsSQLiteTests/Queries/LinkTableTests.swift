#if Persistence
    import EssentialsPersistence
    import FoundationEssentials
    import Testing

    @testable import EssentialsSQLite

    /// A player, whose id is a text.
    struct Player: PersistentModel, Hashable {
        var id: String
        var name: String

        static let table = "player"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Player, String>("id")
            let name = Column<Player, String>("name")
            var all: [ModelColumn<Player>] { [id.erased, name.erased] }
        }
    }

    /// A play, whose id is a UUID.
    struct Play: PersistentModel, Hashable {
        var id = UUID()
        var title: String

        static let table = "play"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Play, UUID>("id")
            let title = Column<Play, String>("title")
            var all: [ModelColumn<Play>] { [id.erased, title.erased] }
        }
    }

    /// A role. It links a player and a play; each of them can have many roles.
    struct Role: PersistentModel, Hashable {
        var id = ModelID<Role>()
        var playerID: String
        var playID: UUID
        var name: String

        static let table = "role"
        static let columns = Columns()
        static let player = ToOne<Role, Player>(columns.playerID)
        static let play = ToOne<Role, Play>(columns.playID)
        static var references: [ModelReference] { [player.reference, play.reference] }

        struct Columns: ModelColumns {
            let id = Column<Role, ModelID<Role>>("id")
            let playerID = Column<Role, String>("playerID")
            let playID = Column<Role, UUID>("playID")
            let name = Column<Role, String>("name")
            var all: [ModelColumn<Role>] { [id.erased, playerID.erased, playID.erased, name.erased] }
        }
    }

    /// Two models and the model that links them, many to many.
    struct LinkTableTests {
        private let store: SQLitePersistenceService
        private let edits: any PersistenceService
        private let plays = ["Faust", "Lulu", "Woyzeck"].map { Play(title: $0) }

        init() async throws {
            store = SQLitePersistenceService(
                .temporary(models: [Player.self, Play.self, Role.self]),
                migrations: [
                    Migration(
                        "1 roles",
                        sql: """
                            CREATE TABLE player(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL) STRICT, WITHOUT ROWID;
                            CREATE TABLE play(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL) STRICT, WITHOUT ROWID;
                            CREATE TABLE role(id BLOB PRIMARY KEY NOT NULL,
                                playerID TEXT NOT NULL REFERENCES player(id) ON DELETE CASCADE,
                                playID BLOB NOT NULL REFERENCES play(id) ON DELETE RESTRICT,
                                name TEXT NOT NULL, UNIQUE(playerID, playID)) STRICT, WITHOUT ROWID;
                            CREATE INDEX role_play ON role(playID);
                            """)
                ])
            try await store.create(
                ["elsa", "gustaf", "tilla"].map { Player(id: $0, name: $0.capitalized) }, save: .store)
            try await store.create(plays, save: .store)
            try await store.create(
                [
                    Role(playerID: "gustaf", playID: plays[0].id, name: "Mephisto"),
                    Role(playerID: "elsa", playID: plays[0].id, name: "Margarete"),
                    Role(playerID: "tilla", playID: plays[1].id, name: "Lulu"),
                ], save: .store)
            edits = try store.child("edit")
        }

        private func players(of play: Play, _ scope: any PersistenceService) async throws -> [String] {
            let roles = Role.play.children(of: play.id).values { $0.playerID }
            return try await scope.ids(Player.where { $0.id.isIn(roles) })
        }

        private func titles(of player: String, _ scope: any PersistenceService) async throws -> [String] {
            let roles = Role.player.children(of: player).values { $0.playID }
            return try await scope.fetch(Play.where { $0.id.isIn(roles) }.sorted { [$0.title.ascending] }).map(\.title)
        }

        @Test("Each side finds the other through the links, stored and pending")
        func bothSides() async throws {
            #expect(try await players(of: plays[0], store) == ["elsa", "gustaf"])
            #expect(try await titles(of: "elsa", store) == ["Faust"])
            try await edits.create(Role(playerID: "elsa", playID: plays[2].id, name: "Marie"), save: .pending)
            try await edits.delete(Role.where { $0.name == "Mephisto" }, save: .pending)
            #expect(try await titles(of: "elsa", edits) == ["Faust", "Woyzeck"])
            #expect(try await players(of: plays[0], edits) == ["elsa"])
            #expect(try await players(of: plays[2], store) == [])
            let pairs = try await edits.fetch(Role.player.children(of: "elsa"), with: Role.play)
            #expect(Set(pairs.map { "\($0.name) \($1?.title ?? "-")" }) == ["Margarete Faust", "Marie Woyzeck"])
            try await edits.save(.store)
            #expect(try await titles(of: "elsa", store) == ["Faust", "Woyzeck"])
            await store.close()
        }

        @Test("The save refuses a pair that exists already, and names the link and its columns")
        func pairs() async throws {
            let twice = Role(playerID: "tilla", playID: plays[1].id, name: "Geschwitz")
            try await edits.create(twice, save: .pending)
            do throws(PersistenceFailure) {
                try await edits.save(.store)
                Issue.record("The pair was stored twice.")
            } catch {
                #expect(error.reason == .constraint)
                #expect(error.violations.map(\.columns) == [["playerID", "playID"]])
                #expect(error.violations.map(\.kind) == [.unique] && error.violations.map(\.table) == ["role"])
                #expect(error.ids == [.blob(twice.id.bytes)])
            }
            // The pair is free when the other link is deleted in the same save.
            try await edits.delete(Role.where { $0.name == "Lulu" }, save: .pending)
            try await edits.save(.store)
            #expect(try await store.fetch(Role.play.children(of: plays[1].id)) == [twice])
            await store.close()
        }

        @Test("Deleting one side deletes its links or is restricted by them, as their foreign keys say")
        func deletions() async throws {
            do throws(PersistenceFailure) {
                try await edits.delete(Play.where { $0.title == "Faust" }, save: .pending)
                Issue.record("The play was deleted.")
            } catch {
                #expect(error.reason == .constraint && error.violations.first?.ids.count == 2)
            }
            try await edits.delete(Player.self, ids: ["elsa", "gustaf"], save: .pending)
            #expect(try await players(of: plays[0], edits) == [])
            #expect(try await edits.count(Role.all) == 1)
            #expect(try await edits.delete(Play.self, ids: [plays[0].id], save: .pending) == 1)
            #expect(try await edits.save(.store) == SaveReport(deleted: 5))
            #expect(try await store.fetch(Role.all).map(\.playerID) == ["tilla"])
            await store.close()
        }

        @Test(
            "Rows are found, changed, observed and deleted by UUIDs or texts as ids, and missing ids are named")
        func ids() async throws {
            let unknown = UUID()
            let (faust, lulu) = (plays[0].id, plays[1].id)
            #expect(
                try await store.fetch(Play.self, ids: [lulu, faust, lulu]).map(\.title) == ["Lulu", "Faust", "Lulu"])
            do throws(PersistenceFailure) {
                _ = try await edits.fetch(Play.self, ids: [faust, unknown])
                Issue.record("An unknown id was found.")
            } catch {
                #expect(error.reason == .notFound && error.ids == [unknown.storedValue])
            }
            var states = edits.observe(Play.self, ids: [lulu]).makeAsyncIterator()
            #expect(try await states.next()?.map(\.title) == ["Lulu"])
            try await edits.update(Play.self, id: lulu, save: .pending) { $0.title = "Die Büchse der Pandora" }
            #expect(try await states.next()?.map(\.title) == ["Die Büchse der Pandora"])
            #expect(try await edits.find(Play.self, id: lulu)?.title == "Die Büchse der Pandora")
            try await store.update(Play.self, id: lulu, save: .store) { $0.title = "Erdgeist" }
            do throws(PersistenceFailure) {
                try await edits.save(.store)
                Issue.record("The save has no conflict.")
            } catch {
                #expect(error.conflicts.map(\.id) == [lulu.storedValue])
            }
            // Ids that are texts are compared by their bytes.
            try await store.create([Player(id: "Elsa", name: "1"), Player(id: "é", name: "2")], save: .store)
            try await store.create(Player(id: "e\u{301}", name: "3"), save: .store)
            #expect(try await store.fetch(Player.self, ids: ["é", "e\u{301}", "Elsa"]).map(\.name) == ["2", "3", "1"])
            #expect(try await store.delete(Player.self, ids: ["e\u{301}"], save: .store) == 1)
            #expect(try await store.find(Player.self, id: "é")?.name == "2")
            await store.close()
        }
    }
#endif
