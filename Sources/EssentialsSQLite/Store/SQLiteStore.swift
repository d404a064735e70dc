#if Persistence
    public import EssentialsPersistence

    /// Where and how models are stored: one file of SQLite, and the two files that SQLite keeps beside it.
    ///
    /// ```swift
    /// var store = SQLiteStore(path: "/var/lib/shop/shop.sqlite", models: [Film.self, Studio.self])
    /// store.durability = .power
    /// ```
    ///
    /// One process owns a store; its number is in a locked file, `path-owner`. All files have the mode 0600.
    public struct SQLiteStore: Sendable {
        /// What a save survives.
        public enum Durability: Sendable, Hashable {
            /// Every crash of the process. A loss of power may cost the last saves, but never the file.
            case process
            /// A loss of power too. Each save waits for the disk.
            case power
        }

        /// The path of the file.
        public let path: String
        /// What the models expect of their tables.
        let models: [ModelSchema]
        /// What a save survives. The default is ``Durability/process``.
        public var durability = Durability.process
        /// The maximum number of reads at the same time, at least 1. The default is 5.
        public var readers = 5
        /// How long a call waits for another process that locks the file. The default is 5 seconds.
        public var busyTimeout = Duration.seconds(5)

        /// Describes a store. Nothing is opened yet.
        ///
        /// - Parameters:
        ///   - path: The path of the file, which is created if there is none. Its folder must exist.
        ///   - models: All models. When the store opens, they are compared with its tables.
        public init(path: String, models: [any PersistentModel.Type]) {
            self.path = path
            self.models = models.map { Self.schema($0) }
        }

        private static func schema<Model: PersistentModel>(_ type: Model.Type) -> ModelSchema { ModelSchema(type) }
    }
#endif
