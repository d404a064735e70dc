#if Persistence
    import EssentialsPersistence
    import EssentialsPersistenceTestKit
    import EssentialsSQLite
    import Dispatch
    import Testing

    /// The behaviour of every persistence service, checked only through its protocol.
    @Suite(.timeLimit(.minutes(5)))
    struct StoreConformanceTests {
        private static let migration = Migration("1 tables", sql: PersistenceServiceConformance.tables)

        @Test("A store conforms", arguments: PersistenceServiceConformance.all)
        func conformance(_ part: PersistenceServiceConformance) async {
            let violations = await part.violations(limit: .seconds(300)) {
                SQLitePersistenceService(
                    .temporary(models: PersistenceServiceConformance.models), migrations: [Self.migration])
            }
            #expect(violations == [])
        }

        @Test("A store conforms after a restart")
        func restart() async throws {
            let folder = try TemporaryFolder()
            let violations = await PersistenceServiceConformance.checkRestart {
                SQLitePersistenceService(
                    SQLiteStore(path: folder.file("store.sqlite"), models: PersistenceServiceConformance.models),
                    migrations: [Self.migration])
            }
            #expect(violations == [])
        }

        @Test("A store conforms while it is being opened")
        func opening() async {
            let violations = await PersistenceServiceConformance.checkOpening {
                let gate = DispatchSemaphore(value: 0)
                let slow = Migration("2 slow") { _ in gate.wait() }
                let store = SQLitePersistenceService(
                    .temporary(models: PersistenceServiceConformance.models), migrations: [Self.migration, slow])
                return (store, { gate.signal() })
            }
            #expect(violations == [])
        }

        @Test("A store that cannot be opened conforms")
        func failedOpening() async {
            let violations = await PersistenceServiceConformance.checkFailedOpening(.migration) {
                SQLitePersistenceService(
                    .temporary(models: PersistenceServiceConformance.models),
                    migrations: [Self.migration, Migration("2 broken", sql: "INSERT INTO missing VALUES (1)")])
            }
            #expect(violations == [])
        }
    }
#endif
