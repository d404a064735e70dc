#if Persistence
    import EssentialsRequests
    import EssentialsTools
    import FoundationEssentials
    import ServiceEssentials
    import Testing

    /// Opens entity caches over files of SQLite.
    private final class Stores: Sendable {
        static let migrations = [Migration("1 entities", sql: EntityRow.tableSQL)]

        let folder = TestFolder()
        private let count = Mutex(0)

        /// A path that was not used yet.
        func path() -> String {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return "\(folder.path)/cache-\(number).sqlite"
        }

        func store(_ path: String) -> SQLitePersistenceService {
            SQLitePersistenceService(SQLiteStore(path: path, models: [EntityRow.self]), migrations: Self.migrations)
        }
    }

    /// The same rows, whose bytes can be changed.
    private struct PlainRow: PersistentModel {
        var id: String
        var partition: Int64
        var origin: Int64
        var used: Int64
        var size: Int
        var contents: [UInt8]

        static let table = EntityRow.table
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<PlainRow, String>("id")
            let partition = Column<PlainRow, Int64>("partition")
            let origin = Column<PlainRow, Int64>("origin")
            let used = Column<PlainRow, Int64>("used")
            let size = Column<PlainRow, Int>("size")
            let contents = Column<PlainRow, [UInt8]>("contents")

            var all: [ModelColumn<PlainRow>] {
                [id.erased, partition.erased, origin.erased, used.erased, size.erased, contents.erased]
            }
        }
    }

    @Suite("Entity cache over a store", .timeLimit(.minutes(5)))
    struct PersistentEntityCacheTests {
        private let stores = Stores()

        private func key(_ path: String) -> EntityKey { EntityKey(url: "https://h/\(path)", stage: "decoding") }

        private func entity(_ count: Int) -> StoredEntity {
            StoredEntity(
                body: Data(repeating: 7, count: count), mediaType: "text/plain",
                date: Date(timeIntervalSinceReferenceDate: 5))
        }

        @Test("It does what every entity cache does")
        func conformance() async throws {
            try await CacheConformance { [stores] in
                PersistentEntityCache(stores.store(stores.path()))
            }.check()
        }

        @Test("What was stored is found after a restart, in the order of use")
        func restart() async throws {
            let path = stores.path()
            let first = stores.store(path)
            try await PersistentEntityCache(first).store(entity(10), for: key("a"))
            await first.close()
            let second = stores.store(path)
            #expect(try await PersistentEntityCache(second).entity(for: key("a")) == entity(10))
            await second.close()
        }

        @Test("The entities that were used longest ago make room; one that is larger than the cache is not kept")
        func size() async throws {
            let store = stores.store(stores.path())
            let cache = PersistentEntityCache(store, maximumBytes: 10_000)
            for number in 0..<4 { try await cache.store(entity(2_000), for: key("\(number)")) }
            _ = try await cache.entity(for: key("0"))
            try await cache.store(entity(2_000), for: key("4"))
            let kept = try await (0..<5).asyncFilter { try await cache.entity(for: key("\($0)")) != nil }
            #expect(kept == [0, 2, 3, 4])
            #expect(try await store.sum(EntityRow.all.values { $0.size }) <= 10_000)
            try await cache.store(entity(20_000), for: key("4"))
            #expect(try await cache.entity(for: key("4")) == nil)
            #expect(try await cache.entity(for: key("0")) != nil)
            await store.close()
        }

        @Test("A damaged row is a miss, and is removed")
        func damage() async throws {
            let path = stores.path()
            let first = stores.store(path)
            try await PersistentEntityCache(first).store(entity(100), for: key("a"))
            await first.close()
            let other = SQLitePersistenceService(
                SQLiteStore(path: path, models: [PlainRow.self]), migrations: Stores.migrations)
            #expect(try await other.update(PlainRow.all, save: .store) { $0.contents[60] ^= 1 } == 1)
            await other.close()
            let store = stores.store(path)
            #expect(try await PersistentEntityCache(store).entity(for: key("a")) == nil)
            #expect(try await store.count(EntityRow.all) == 0)
            await store.close()
        }

        @Test("A closed store is an error of the cache, which the resources count")
        func closed() async throws {
            let store = stores.store(stores.path())
            let cache = PersistentEntityCache(store)
            await store.close()
            let error = await #expect(throws: PersistenceFailure.self) { try await cache.entity(for: key("a")) }
            #expect(error?.reason == .closed)
        }
    }

    extension Range where Bound == Int {
        fileprivate func asyncFilter(_ isIncluded: (Int) async throws -> Bool) async rethrows -> [Int] {
            var found: [Int] = []
            for number in self where try await isIncluded(number) { found.append(number) }
            return found
        }
    }
#endif
