// swift-format-ignore-file
// The code stands as in the documentation comments.

#if Persistence
    import EssentialsLocator
    import EssentialsPersistence
    import Logging

    @testable import EssentialsSQLite

    private struct Film: PersistentModel {
        var id = ModelID<Film>()
        static let table = "film"
        static let columns: MappedColumns<Film> = ["id": \.id]
    }
    private struct Studio: PersistentModel {
        var id = ModelID<Studio>()
        static let table = "studio"
        static let columns: MappedColumns<Studio> = ["id": \.id]
    }
    private let (app, logger, path, migrations) = (ServiceLocator(name: "app"), Logger(label: "app"), "", [Migration]())
    private var store: SQLiteStore { get { given() } set {} }

    // Inspection/StoreInspection.swift
    private func storeInspectionExample() async throws {
        let inspection = try StoreInspection(path: "/var/lib/shop/shop.sqlite")
        for table in try inspection.information().tables { print(table.name, table.rows ?? 0) }
    }

    // Migrations/Migration.swift
    private func migrationExample() async throws {
        let migrations = [
            Migration("1 films", sql: """
                CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL, year INTEGER NOT NULL)
                    STRICT, WITHOUT ROWID;
                """),
            Migration("2 year index", sql: "CREATE INDEX film_year ON film(year)"),
        ]
        use(migrations)
    }

    // Saving/FileSave.swift
    private func fileSaveExample(
        machine: OverlayMachine, models: [ModelSchema], schema: FileSchema, store: StoreDatabase,
        decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
    ) throws {
        let save = FileSave(level: try machine.folded(decide: decide), models: models, schema: schema)
        let before = store.stateBefore()
        let report = try store.write { db in try save.run(db, before: before) { _ in .policy(.fail) } }
        use(report)
    }

    // Service/SQLitePersistenceService.swift
    private func sQLitePersistenceServiceExample() async throws {
        try app.registerLazy((any PersistenceService).self) { _ in
            SQLitePersistenceService(
                SQLiteStore(path: "/var/lib/shop/shop.sqlite", models: [Film.self, Studio.self]),
                migrations: [
                    Migration("1 films", sql: "CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL) STRICT"),
                ])
        }
    }

    // Store/SQLiteStore.swift
    private func sQLiteStoreExample() async throws {
        var store = SQLiteStore(path: "/var/lib/shop/shop.sqlite", models: [Film.self, Studio.self])
        store.durability = .power
    }

    // Store/SQLiteStore.swift
    private func sQLiteStoreExample2() async throws {
        store.onDiscard = { scope, count in logger.notice("A scope was closed.", metadata: ["lost": "\(count)"]) }
    }

    // Store/SQLiteStore.swift
    private func sQLiteStoreExample3() async throws {
        let store = SQLitePersistenceService(.temporary(models: [Film.self]), migrations: migrations)
        use(store)
    }

    // Store/TableSQL.swift
    private func tableSQLExample() async throws {
        print(SQLiteStore(path: path, models: [Studio.self, Film.self]).tableSQL)
    }
#endif
