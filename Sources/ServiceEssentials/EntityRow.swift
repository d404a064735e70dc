public import EssentialsPersistence
import EssentialsRequests

/// An entity of a ``PersistentEntityCache``, as a row of a store. Programs name the type among the models of the store,
/// and make its table with ``tableSQL``.
///
/// ```swift
/// let store = SQLiteStore(path: path, models: [EntityRow.self])
/// let migration = Migration("1 entities", sql: EntityRow.tableSQL)
/// ```
public struct EntityRow: PersistentModel {
    /// The SQL text that makes the table and its indexes, for a migration.
    public static let tableSQL = """
        CREATE TABLE essentials_entity(id TEXT PRIMARY KEY NOT NULL, partition INTEGER NOT NULL, origin INTEGER NOT NULL,
            used INTEGER NOT NULL, size INTEGER NOT NULL, contents BLOB NOT NULL) STRICT;
        CREATE INDEX essentials_entity_used ON essentials_entity(used, size);
        CREATE INDEX essentials_entity_scope ON essentials_entity(partition, origin);
        """

    /// The name of the table.
    public static let table = "essentials_entity"
    /// The columns.
    public static let columns = Columns()

    /// The columns of the table.
    public struct Columns: ModelColumns {
        /// A hash of the entity's key.
        public let id = Column<EntityRow, String>("id")
        /// A hash of the partition's name.
        public let partition = Column<EntityRow, Int64>("partition")
        /// A hash of the origin.
        public let origin = Column<EntityRow, Int64>("origin")
        /// A number that is greater the later the entity was used.
        public let used = Column<EntityRow, Int64>("used")
        /// The number of bytes.
        public let size = Column<EntityRow, Int>("size")
        /// The key and the entity, with a checksum.
        public let contents = Column<EntityRow, [UInt8]>("contents")

        /// All of them.
        public var all: [ModelColumn<EntityRow>] {
            [id.erased, partition.erased, origin.erased, used.erased, size.erased, contents.erased]
        }
    }

    /// A hash of the entity's key.
    public var id: String
    let partition: Int64
    let origin: Int64
    var used: Int64
    let size: Int
    let contents: [UInt8]

    init(_ hashes: EntityHashes, _ contents: [UInt8]) {
        id = hashes.keyText
        partition = Self.number(hashes.partition)
        origin = Self.number(hashes.origin)
        used = 0
        size = contents.count
        self.contents = contents
    }

    /// A hash as an integer of SQLite, which has signs.
    static func number(_ hash: UInt64) -> Int64 { Int64(bitPattern: hash) }
}
