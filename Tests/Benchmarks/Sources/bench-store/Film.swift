internal import EssentialsPersistence
internal import EssentialsSQLite
internal import Glibc

/// The model of both sides. A row has about 100 bytes.
struct Film: PersistentModel {
    var id: Int64
    var title: String
    var year: Int
    var rating: Double
    var notes: String

    static let table = "film"
    static let columns = Columns()

    struct Columns: ModelColumns {
        let id = Column<Film, Int64>("id")
        let title = Column<Film, String>("title")
        let year = Column<Film, Int>("year")
        let rating = Column<Film, Double>("rating")
        let notes = Column<Film, String>("notes")

        var all: [ModelColumn<Film>] { [id.erased, title.erased, year.erased, rating.erased, notes.erased] }
    }

    static let tableSQL = """
        CREATE TABLE film(id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL, year INTEGER NOT NULL,
            rating REAL NOT NULL, notes TEXT NOT NULL) STRICT;
        CREATE INDEX film_year ON film(year);
        CREATE INDEX film_title ON film(title);
        """

    /// Films whose ids begin at a number. Two hundred have the same year.
    static func list(_ count: Int, from first: Int64 = 1) -> [Film] {
        (0..<count).map { index in
            let id = first + Int64(index)
            return Film(
                id: id, title: "film \(id * 7_919 % 100_003)", year: 1_000 + Int(id) / 200,
                rating: Double(id % 100) / 10,
                notes: "notes on a film that nobody has seen for a long time, number \(id)")
        }
    }
}

/// A folder for the files of both sides, which is removed at the end.
final class Folder {
    let path = "/var/tmp/essentials-bench-store-\(getpid())-\(UInt32.random(in: .min ... .max))"

    init() { mkdir(path, 0o700) }

    deinit {
        if let folder = opendir(path) {
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                unlink(path + "/" + name)
            }
            closedir(folder)
        }
        rmdir(path)
    }

    /// An open store.
    func store(_ name: String = "ours.sqlite") async throws -> SQLitePersistenceService {
        let store = SQLitePersistenceService(
            SQLiteStore(path: path + "/" + name, models: [Film.self]),
            migrations: [Migration("1 films", sql: Film.tableSQL)])
        try await store.ready()
        return store
    }

    /// A file of the peer.
    func peer() throws -> PeerStore { try PeerStore(path: path + "/peer.sqlite", sql: Film.tableSQL) }
}

/// The nanoseconds that a piece of work takes.
func nanoseconds(_ work: () async throws -> Void) async rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try await work()
    let (seconds, attoseconds) = (clock.now - start).components
    return Double(seconds) * 1e9 + Double(attoseconds) / 1e9
}
