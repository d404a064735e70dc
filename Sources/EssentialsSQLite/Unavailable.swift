// Without the trait, the names are declared all the same, so that the compiler says what is missing. They do not clash with
// those of other packages, because the compiler prefers an available declaration.
#if !Persistence
    /// The persistence service over SQLite, which needs the trait `Persistence`.
    @available(
        *, unavailable,
        message: "Enable the trait Persistence: .package(url: \"…\", from: \"…\", traits: [\"Persistence\"])"
    )
    public final class SQLitePersistenceService: Sendable {
        /// Takes what the service with the trait takes.
        public init(_ store: SQLiteStore, migrations: [Migration], resolving resolution: Any? = nil) {}
    }

    /// Where models are stored, which needs the trait `Persistence`.
    @available(
        *, unavailable,
        message: "Enable the trait Persistence: .package(url: \"…\", from: \"…\", traits: [\"Persistence\"])"
    )
    public struct SQLiteStore: Sendable {
        /// Takes what the store with the trait takes.
        public init(path: String, models: [Any.Type]) {}

        /// Takes what the store with the trait takes.
        public static func temporary(models: [Any.Type]) -> SQLiteStore { SQLiteStore(path: "", models: models) }
    }

    /// A step of a store's tables, which needs the trait `Persistence`.
    @available(
        *, unavailable,
        message: "Enable the trait Persistence: .package(url: \"…\", from: \"…\", traits: [\"Persistence\"])"
    )
    public struct Migration: Sendable {
        /// Takes what the migration with the trait takes.
        public init(_ name: String, sql: String) {}
    }
#endif
