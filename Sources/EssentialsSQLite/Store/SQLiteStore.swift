#if Persistence
    public import EssentialsPersistence

    /// Where and how models are stored: one file of SQLite, and the two files that SQLite keeps beside it.
    ///
    /// ```swift
    /// var store = SQLiteStore(path: "/var/lib/shop/shop.sqlite", models: [Film.self, Studio.self])
    /// store.durability = .power
    /// ```
    ///
    /// One process owns a store; its number is in a locked file, `path-owner`. All files have the mode 0600. A store whose file
    /// or folder cannot be written is opened for reading, if it needs no migration: reads work and rows can be pending, but
    /// saves fail as `readOnly`.
    public struct SQLiteStore: Sendable {
        /// What a save survives.
        public enum Durability: Sendable, Hashable {
            /// Every crash of the process. A loss of power may cost the last saves, but never the file.
            case process
            /// A loss of power too. Each save waits for the disk.
            case power
        }

        /// How much of a store is read to find damage when it opens.
        public enum Verification: String, Sendable, Hashable {
            /// Nothing. Damage is found when its page is read.
            case never
            /// All tables, but not whether each index has the rows of its table. It takes about as long as reading the file.
            case quick
            /// All tables and indexes. It takes several times as long.
            case full
        }

        /// The path of the file. A service resolves a relative path and links once, when it is created: all files of the
        /// store are beside the one that is meant then, and failures name it.
        public internal(set) var path: String
        /// What the models expect of their tables.
        let models: [ModelSchema]
        /// What a save survives. The default is ``Durability/process``.
        public var durability = Durability.process
        /// How much of the store is read to find damage when it opens, before migrations run. A damaged store fails to open as
        /// `corrupt`. The default is ``Verification-swift.enum/never``.
        public var verification = Verification.never
        /// The maximum number of reads at the same time, from 1 to 1,000; another value counts as the nearest of them. The
        /// default is 5. Each has a connection of its own.
        public var readers = 5
        /// The maximum number of connections for queries over pending rows, from 1 to 1,000; another value counts as the
        /// nearest of them. The default is 32.
        ///
        /// Each keeps the pending rows of the scope that it has read last, so that the next query of this scope brings only
        /// later changes. If more scopes with pending rows are queried in turn, each query takes the connection of another
        /// scope and copies all pending rows of its own: about 20 microseconds a row. A connection has a cache of at most
        /// 512 KiB, and its copy of the rows, in memory. It is opened when it is needed.
        public var pendingReaders = 32
        /// The maximum number of iterators that read batches of one state at the same time, from 1 to 1,000; another value
        /// counts as the nearest of them. The default is 16.
        ///
        /// Each has a connection and a thread of its own, for as long as it holds its state, so that no other read waits for
        /// it. A further iterator fails at once as `busy`.
        public var stateReaders = 16
        /// How long a call, or the opening of the store, waits for another process that locks the file. The default is 5
        /// seconds. A store that has an owner is refused at once.
        public var busyTimeout = Duration.seconds(5)
        /// How often the store looks for writes of other processes while somebody observes it. `nil`, which is the default,
        /// means never: then only a read finds them.
        ///
        /// It is one look for all observers, of a few microseconds on the connection that saves, so it waits for a running
        /// save. A write that is found tells all observers that any rows may have changed. An interval is at least 10
        /// milliseconds.
        public var watchesOthers: Duration?
        /// Called when a scope that has pending rows is closed or released, with the name of the scope and the number of
        /// rows that are lost. For the root scope the name is the path of the store. The default is `nil`.
        ///
        /// ```swift
        /// store.onDiscard = { scope, count in logger.notice("A scope was closed.", metadata: ["lost": "\(count)"]) }
        /// ```
        ///
        /// It runs on any thread. ``SQLitePersistenceService/close()`` returns after it.
        public var onDiscard: (@Sendable (_ scope: String, _ count: Int) -> Void)?
        /// The longest time of a read, and of the closure of a unit of work. The statement that runs then is interrupted, and
        /// later ones fail, as `expired`. The default is 30 seconds.
        ///
        /// A read keeps SQLite from shortening its log, so the limit bounds the size of the log. Saves are not limited.
        public var readTimeLimit = Duration.seconds(30)
        /// The maximum number of pending rows of one scope. A change beyond it fails as `limit`, and changes nothing. The default
        /// is 100,000.
        ///
        /// Calls that save to the store at once have no such limit, nor have saves.
        public var maximumPendingRows = OverlayLimits().rows
        /// The maximum number of bytes of the pending rows of one scope, with the rows that they replace, as an estimate. A
        /// change beyond it fails as `limit`, and changes nothing. The default is 64 MiB.
        ///
        /// Calls that save to the store at once have no such limit, nor have saves.
        public var maximumPendingBytes = OverlayLimits().bytes
        /// The limits of each scope.
        var limits: OverlayLimits {
            var limits = OverlayLimits()
            (limits.rows, limits.bytes) = (max(maximumPendingRows, 0), max(maximumPendingBytes, 0))
            return limits
        }
        /// ``readers`` in its range.
        var readerCount: Int { min(max(readers, 1), 1_000) }
        /// ``pendingReaders`` in its range.
        var pendingReaderCount: Int { min(max(pendingReaders, 1), 1_000) }
        /// ``stateReaders`` in its range.
        var stateReaderCount: Int { min(max(stateReaders, 1), 1_000) }
        /// Whether the store is removed when it is closed.
        private(set) var isTemporary = false

        /// Describes a store. Nothing is opened yet.
        ///
        /// - Parameters:
        ///   - path: The path of the file, which is created if there is none. Its folder must exist.
        ///   - models: All models. When the store opens, they are compared with its tables. Several can share a table, for
        ///     example one that has fewer columns; then the conflict policy of the first one counts. A row that is created
        ///     through a model with fewer columns gets the defaults of the others, but NULL in those that another model of
        ///     the table declares optional. While it is pending, another model that requires them cannot decode it.
        ///     `importRows` gives all of them their defaults.
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
        /// It is a store like any other, with a log and several readers, in a private folder of its own: in `/dev/shm`, which
        /// is memory, or else in the folder for temporary files. Nothing is synchronized with a disk. The folder is removed
        /// when the store is closed or released. One that a process has left behind is removed when the next temporary
        /// store opens.
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
