#if Persistence
    import EssentialsPersistence
    import GRDB
    import Glibc

    @testable import EssentialsSQLite

    /// A person with an optional employer.
    struct Person: PersistentModel, Hashable {
        var id: Int64
        var name: String
        var employer: Int64?

        static let table = "person"
        static let columns = Columns()
        static var references: [ModelReference] { [ToOne<Person, Company>(columns.employer).reference] }

        struct Columns: ModelColumns {
            let id = Column<Person, Int64>("id")
            let name = Column<Person, String>("name")
            let employer = Column<Person, Int64?>("employer")
            var all: [ModelColumn<Person>] { [id.erased, name.erased, employer.erased] }
        }
    }

    struct Company: PersistentModel, Hashable {
        var id: Int64
        var name: String

        static let table = "company"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Company, Int64>("id")
            let name = Column<Company, String>("name")
            var all: [ModelColumn<Company>] { [id.erased, name.erased] }
        }
    }

    /// A folder with a store of persons and companies.
    struct StoreFixture {
        static let schema = """
            CREATE TABLE company(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE) STRICT;
            CREATE TABLE person(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL,
                employer INTEGER REFERENCES company(id)) STRICT;
            """
        static let first = Migration("1 persons", sql: schema)

        let folder: TemporaryFolder
        var path: String { folder.file("store.sqlite") }
        var store: SQLiteStore { SQLiteStore(path: path, models: [Person.self, Company.self]) }

        init() throws { folder = try TemporaryFolder() }

        func open(_ migrations: [Migration] = [Self.first]) throws(PersistenceFailure) -> StoreDatabase {
            try StoreDatabase.open(store, migrations: migrations)
        }

        /// The mode of a file; `nil` if it does not exist.
        func mode(_ name: String) -> mode_t? {
            var status = stat()
            return stat(folder.file(name), &status) == 0 ? status.st_mode & 0o777 : nil
        }

        func write(_ bytes: [UInt8], to name: String) {
            let descriptor = Glibc.open(folder.file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            _ = Glibc.write(descriptor, bytes, bytes.count)
            Glibc.close(descriptor)
        }

        func read(_ name: String) -> [UInt8] {
            var bytes: [UInt8] = Array(repeating: 0, count: 1 << 20)
            let descriptor = Glibc.open(folder.file(name), O_RDONLY)
            let count = Glibc.read(descriptor, &bytes, bytes.count)
            Glibc.close(descriptor)
            return Array(bytes.prefix(max(count, 0)))
        }
    }

    extension StoreDatabase {
        func names() throws -> [String] {
            try read { try String.fetchAll($0, sql: "SELECT name FROM company ORDER BY name") }
        }

        func add(_ name: String) throws {
            try write { try $0.execute(sql: "INSERT INTO company(name) VALUES (?)", arguments: [name]) }
        }
    }
#endif
