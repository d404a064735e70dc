internal import GRDB

/// The same rows with GRDB alone.
struct PeerFilm: Codable, FetchableRecord, PersistableRecord, Sendable {
    var id: Int64
    var title: String
    var year: Int
    var rating: Double
    var notes: String

    static let databaseTableName = "film"

    init(_ film: Film) {
        id = film.id
        title = film.title
        year = film.year
        rating = film.rating
        notes = film.notes
    }
}

/// A file of GRDB with the settings of a store.
struct PeerStore: Sendable {
    private let pool: DatabasePool

    init(path: String, sql: String) throws {
        pool = try DatabasePool(path: path)
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
            try db.execute(sql: sql)
        }
    }

    func insert(_ films: [PeerFilm]) async throws {
        try await pool.write { db in
            for film in films { try film.insert(db) }
        }
    }

    func deleteAll() async throws { _ = try await pool.write { try PeerFilm.deleteAll($0) } }

    func all() async throws -> [PeerFilm] { try await pool.read { try PeerFilm.fetchAll($0) } }

    func one(_ id: Int64) async throws -> PeerFilm? { try await pool.read { try PeerFilm.fetchOne($0, key: id) } }

    func close() throws { try pool.close() }
}
