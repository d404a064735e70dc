// Without the trait, these declarations let the compiler say what is missing. They do not clash with the names of other
// packages, because the compiler prefers an available declaration.
#if !Persistence
    /// The persistence service over SQLite, which needs the trait `Persistence`.
    @available(
        *, unavailable,
        message: "Enable the trait Persistence: .package(url: \"…\", from: \"…\", traits: [\"Persistence\"])"
    )
    public final class SQLitePersistenceService: Sendable {
        /// Accepts the arguments of the service with the trait.
        public init(_ store: SQLiteStore, migrations: [Migration], resolving resolution: Any? = nil) {}
    }

    /// The description of a store, which needs the trait `Persistence`.
    @available(
        *, unavailable,
        message: "Enable the trait Persistence: .package(url: \"…\", from: \"…\", traits: [\"Persistence\"])"
    )
    public struct SQLiteStore: Sendable {
        /// Accepts the arguments of the store with the trait.
        public init(path: String, models: [Any.Type]) {}

        /// Accepts the arguments of the store with the trait.
        public static func temporary(models: [Any.Type]) -> SQLiteStore { SQLiteStore(path: "", models: models) }
    }

    /// A step of a store's tables, which needs the trait `Persistence`.
    @available(
        *, unavailable,
        message: "Enable the trait Persistence: .package(url: \"…\", from: \"…\", traits: [\"Persistence\"])"
    )
    public struct Migration: Sendable {
        /// Accepts the arguments of the migration with the trait.
        public init(_ name: String, sql: String) {}
    }
#endif
