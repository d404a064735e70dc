#if Persistence
    import EssentialsPersistence
    import FoundationEssentials
    import Testing

    @testable import EssentialsSQLite

    /// Statements for the tables of models, and models that lack one of their columns.
    struct TableSQLTests {
        private struct Country: PersistentModel {
            var id: String
            var name: String

            static let table = "order"
            static let columns: MappedColumns<Country> = ["id": \.id, "name": \.name]
        }

        private struct Trip: PersistentModel {
            var id = ModelID<Trip>()
            var name: String
            var price: Double?
            var stops: [String] = []
            var country: String?
            var previous: ModelID<Trip>?

            static let table = "trip"
            static let columns: MappedColumns<Trip> = [
                "id": \.id, "name": \.name, "price": \.price, "stops": \.stops, "country": \.country,
                "previous": \.previous,
            ]
            static var references: [ModelReference] {
                [
                    ToOne<Trip, Country>(columns.country).reference, ToOne<Trip, Trip>(columns.previous).reference,
                ]
            }
        }

        /// The same table without some of its columns.
        private struct Short: PersistentModel {
            var id: ModelID<Trip>
            var name: String
            var stops: [String]
            var seats: Int?

            static let table = "trip"
            static let columns: MappedColumns<Short> = ["id": \.id, "name": \.name, "stops": \.stops, "seats": \.seats]
        }

        private static let models: [any PersistentModel.Type] = [
            Trip.self, Short.self, Country.self, Person.self, Company.self,
        ]
        private static let text = """
            CREATE TABLE "order"(
                id TEXT PRIMARY KEY NOT NULL,
                name TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE trip(
                id BLOB PRIMARY KEY NOT NULL,
                name TEXT NOT NULL,
                price REAL,
                stops TEXT NOT NULL,
                country TEXT REFERENCES "order"(id),
                previous BLOB REFERENCES trip(id),
                seats INTEGER
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE company(
                id INTEGER PRIMARY KEY NOT NULL,
                name TEXT NOT NULL
            ) STRICT;
            CREATE TABLE person(
                id INTEGER PRIMARY KEY NOT NULL,
                name TEXT NOT NULL,
                employer INTEGER REFERENCES company(id)
            ) STRICT;
            """

        @Test("The statements for the tables of models name each table once, and parents before their children")
        func statements() {
            #expect(SQLiteStore(path: "", models: Self.models).tableSQL == Self.text)
        }

        @Test("A store whose tables were created by these statements fits the models")
        func opening() throws {
            let store = SQLiteStore.temporary(models: Self.models)
            try StoreDatabase.open(store, migrations: [Migration("1", sql: store.tableSQL)]).close()
        }

        @Test("A store without the table of a model is refused with the statement that creates the table")
        func remedy() {
            let store = SQLiteStore.temporary(models: [Country.self])
            let failure = #expect(throws: PersistenceFailure.self) {
                try StoreDatabase.open(store, migrations: [Migration("1", sql: "CREATE TABLE other(id)")])
            }
            #expect(failure?.reason == .schemaMismatch)
            let statement =
                #"CREATE TABLE "order"( id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL ) STRICT, WITHOUT ROWID;"#
            #expect(failure?.remedy?.hasSuffix(statement) == true)
        }

        /// A model that has forgotten a column, declared with constants.
        private struct Forgetful: PersistentModel {
            var id: Int64
            var name: String
            var note: String?

            static let table = "forgetful"
            static let columns = Columns()

            struct Columns: ModelColumns {
                let id = Column<Forgetful, Int64>("id")
                let name = Column<Forgetful, String>("name")
                let note = Column<Forgetful, String?>("note")
                var all: [ModelColumn<Forgetful>] { [id.erased, name.erased] }
            }
        }

        private struct Misspelt: PersistentModel {
            var id: Int64
            var name: String

            static let table = "forgetful"
            static let columns: MappedColumns<Misspelt> = ["id": \.id, "Name": \.name]
        }

        @Test("A column that the model reads and writes but does not list is named when the store opens")
        func forgotten() throws {
            let table = """
                CREATE TABLE forgetful(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, note TEXT, outside TEXT) STRICT
                """
            let failure = #expect(throws: PersistenceFailure.self) {
                try StoreDatabase.open(
                    .temporary(models: [Forgetful.self]), migrations: [Migration("1", sql: table)])
            }
            #expect(failure?.reason == .schemaMismatch)
            #expect(
                failure?.message.contains("Forgetful has a coding key note, which is missing among its columns") == true
            )
            #expect(failure?.message.contains("outside") == false)
        }

        @Test("A column whose name is not a coding key is named when the store opens")
        func misspelt() throws {
            let table = "CREATE TABLE forgetful(id INTEGER PRIMARY KEY NOT NULL, Name TEXT NOT NULL) STRICT"
            let failure = #expect(throws: PersistenceFailure.self) {
                try StoreDatabase.open(.temporary(models: [Misspelt.self]), migrations: [Migration("1", sql: table)])
            }
            #expect(failure?.message.contains("Misspelt has no coding key Name") == true)
        }

        @Test("A query of a property without a column fails as invalidQuery")
        func withoutColumn() async throws {
            struct Partial: PersistentModel {
                var id: Int64
                var name: String?
                enum CodingKeys: CodingKey { case id }
                static let table = "partial"
                static let columns: MappedColumns<Partial> = ["id": \.id]
            }
            let settings = SQLiteStore.temporary(models: [Partial.self])
            let store = SQLitePersistenceService(settings, migrations: [Migration("1", sql: settings.tableSQL)])
            await #expect(throws: PersistenceFailure.self) { try await store.fetch(Partial.where { $0.name == "a" }) }
            do {
                _ = try await store.fetch(Partial.where { $0.name == "a" })
            } catch {
                #expect(error.reason == .invalidQuery)
            }
            await store.close()
        }
    }
#endif
