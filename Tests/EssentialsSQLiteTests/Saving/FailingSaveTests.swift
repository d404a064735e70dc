#if Persistence
    import GRDB
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// Saves in which a statement fails for a reason other than a constraint.
    struct FailingSaveTests {
        @Test("A save that fails at a statement keeps its rows alive, however often it is tried")
        func memory() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("companies.sqlite")
            try DatabaseQueue(path: path).write { try $0.execute(sql: StoreFixture.schema) }
            var configuration = Configuration()
            configuration.readonly = true
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let layout = RowLayout(["id", "name"])
            let model = ModelSchema(Company.self)
            let base = try #require(StoredRow(layout, [1, "Ufa"]))
            let row = try #require(StoredRow(layout, [1, "Nero"]))
            let key = RowKey(table: Company.table, id: 1)
            for (new, below) in [(row, base), (nil, base), (row, nil)] as [(StoredRow?, StoredRow?)] {
                var level = OverlayLevel()
                try level.place(new, at: key, below: below)
                for _ in 0..<200 {
                    let save = FileSave(level: level, models: [model], schema: FileSchema(tables: [:]))
                    #expect(throws: DatabaseError.self) {
                        try queue.inDatabase { db in try save.run(db, before: StateBefore { queue }) { _ in .fail } }
                    }
                }
                #expect(level.entry(key)?.row == new && level.entry(key)?.base == below)
            }
            #expect(layout.names == ["id", "name"])
        }
    }
#endif
