#if Persistence
    public import EssentialsPersistence

    /// A description of where and how models are stored: one SQLite file, and the two files that SQLite keeps beside
    /// it.
    ///
    /// ```swift
    /// var store = SQLiteStore(path: "/var/lib/shop/shop.sqlite", models: [Film.self, Studio.self])
    /// store.durability = .power
    /// ```
    ///
    /// One process owns a store; its number is in a locked file, `path-owner`. All files have the mode 0600. A store
    /// whose file or folder cannot be written is opened for reading, if it needs no migration. Then reads work and rows
    /// can be pending, but saves fail as `readOnly`.
    public struct SQLiteStore: Sendable {
        /// The events that a save survives.
        public enum Durability: Sendable, Hashable {
            /// A save survives every crash of the process. A loss of power may cost the last saves, but never the file.
            case process
            /// A save also survives a loss of power. Each save waits for the disk.
            case power
        }

        /// The part of a store that is read when it opens, to find damage.
        public enum Verification: String, Sendable, Hashable {
            /// Reads nothing. Damage is found when its page is read.
            case never
            /// Reads all tables, but does not compare indexes with their tables. It takes about as long as reading the
            /// file.
            case quick
            /// Reads all tables and indexes. It takes several times as long.
            case full
        }

        /// The path of the file. A service resolves a relative path and links once, when it is created. All files of
        /// the store are beside the resolved file, and failures name its path.
        public internal(set) var path: String
        /// The expectations of the models about their tables.
        let models: [ModelSchema]
        /// The events that a save survives. The default is ``Durability/process``.
        public var durability = Durability.process
        /// The part of the store that is read when it opens, before migrations run, to find damage. A damaged store
        /// fails to open as `corrupt`. The default is ``Verification-swift.enum/never``.
        public var verification = Verification.never
        /// The maximum number of concurrent reads. Values are limited to the range from 1 to 1,000. The default is 5.
        /// Each read has its own connection.
        public var readers = 5
        /// The maximum number of connections for queries over pending rows. Values are limited to the range from 1 to
        /// 1,000. The default is 32.
        ///
        /// Each connection keeps the pending rows of the scope that it has read last, so that the next query of this
        /// scope copies only later changes. If more scopes with pending rows are queried in turn, each query takes the
        /// connection of another scope and copies all pending rows of its own scope: about 20 microseconds a row. The
        /// memory of a connection is a cache of at most 512 KiB, and its copy of the rows. Connections are opened on
        /// demand.
        public var pendingReaders = 32
        /// The maximum number of iterators that read batches of one state at the same time. Values are limited to the
        /// range from 1 to 1,000. The default is 16.
        ///
        /// Each iterator has its own connection and thread for as long as it holds its state, so that no other read
        /// waits for it. A further iterator fails at once as `busy`.
        public var stateReaders = 16
        /// How long a call, or the opening of the store, waits for another process that locks the file. The default is
        /// 5 seconds. A store that has an owner is refused at once.
        public var busyTimeout = Duration.seconds(5)
        /// The interval between checks for writes of other processes while the store has observers. `nil`, which is the
        /// default, means that there are no checks: then only reads see such writes.
        ///
        /// One check serves all observers. It takes a few microseconds on the connection that saves, so it waits for a
        /// running save. When it finds a write, it notifies all observers that any rows may have changed. The shortest
        /// interval is 10 milliseconds.
        public var watchesOthers: Duration?
        /// Called when a scope that has pending rows is closed or released, with the name of the scope and the number
        /// of lost rows. For the root scope the name is the path of the store. The default is `nil`.
        ///
        /// ```swift
        /// store.onDiscard = { scope, count in logger.notice("A scope was closed.", metadata: ["lost": "\(count)"]) }
        /// ```
        ///
        /// It runs on any thread, and returns before ``SQLitePersistenceService/close()`` does.
        public var onDiscard: (@Sendable (_ scope: String, _ count: Int) -> Void)?
        /// The observers of the store's opening, calls and end, in the order in which they are told. The default is none.
        public var observers: [any StoreObserver] = []
        /// The longest time of a read, and of the closure of a unit of work. After that the running statement is
        /// interrupted and later ones fail, as `expired`. The default is 30 seconds.
        ///
        /// A read keeps SQLite from shortening its log, so the limit bounds the size of the log. Saves are not limited.
        public var readTimeLimit = Duration.seconds(30)
        /// The maximum number of pending rows of one scope. A change beyond it fails as `limit`, and changes nothing.
        /// The default is 100,000.
        ///
        /// The limit does not apply to saves and to calls that save to the store at once.
        public var maximumPendingRows = OverlayLimits().rows
        /// The maximum number of bytes of the pending rows of one scope, with the rows that they replace, as an
        /// estimate. A change beyond it fails as `limit`, and changes nothing. The default is 64 MiB.
        ///
        /// The limit does not apply to saves and to calls that save to the store at once.
        public var maximumPendingBytes = OverlayLimits().bytes
        /// The limits of each scope.
        var limits: OverlayLimits {
            var limits = OverlayLimits()
            (limits.rows, limits.bytes) = (max(maximumPendingRows, 0), max(maximumPendingBytes, 0))
            return limits
        }
        /// ``readers``, limited to its range.
        var readerCount: Int { min(max(readers, 1), 1_000) }
        /// ``pendingReaders``, limited to its range.
        var pendingReaderCount: Int { min(max(pendingReaders, 1), 1_000) }
        /// ``stateReaders``, limited to its range.
        var stateReaderCount: Int { min(max(stateReaders, 1), 1_000) }
        /// Whether the store is removed when it is closed.
        private(set) var isTemporary = false

        /// Describes a store without opening it.
        ///
        /// - Parameters:
        ///   - path: The path of the file, which is created if it does not exist. Its folder must exist.
        ///   - models: All models. When the store opens, they are compared with its tables. Several models can share a
        ///     table, for example if one has fewer columns; then the conflict policy of the first model applies. A row
        ///     that is created through a model with fewer columns gets the defaults of the other columns, but NULL in
        ///     those that another model of the table declares optional. While it is pending, another model that
        ///     requires them cannot decode it. `importRows` gives all of them their defaults.
        public init(path: String, models: [any PersistentModel.Type]) {
            self.path = path
            self.models = models.map { Self.schema($0) }
        }

        /// Describes a temporary store, for tests.
        ///
        /// ```swift
        /// let store = SQLitePersistenceService(.temporary(models: [Film.self]), migrations: migrations)
        /// ```
        ///
        /// It behaves like any other store, with a log and several readers. Its private folder is in `/dev/shm`, which
        /// is memory, or in the folder for temporary files if that is not available. Data is not flushed to a disk. The
        /// folder is removed when the store is closed or released. If a process leaves its folder behind, it is removed
        /// when the next temporary store opens.
        ///
        /// - Parameter models: All models.
        public static func temporary(models: [any PersistentModel.Type]) -> SQLiteStore {
            var store = SQLiteStore(path: TemporaryStore.newPath(), models: models)
            store.isTemporary = true
            return store
        }

        private static func schema<Model: PersistentModel>(_ type: Model.Type) -> ModelSchema { ModelSchema(type) }
    }
#endif
