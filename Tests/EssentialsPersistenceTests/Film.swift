import EssentialsPersistence
import FoundationEssentials

/// The models of the tests.
struct Film: PersistentModel, Hashable {
    enum Genre: String, Codable { case drama, comedy }

    var id = ModelID<Film>()
    var title: String
    var year: Int
    var studioID: ModelID<Studio>?
    var genre: Genre?
    var tags: [String] = []
    var premiere: Date?
    var poster: [UInt8]?

    static let table = "film"
    static let columns = Columns()
    static let studio = ToOne<Film, Studio>(columns.studioID)
    static var references: [ModelReference] { [studio.reference] }

    struct Columns: ModelColumns {
        let id = Column<Film, ModelID<Film>>("id")
        let title = Column<Film, String>("title")
        let year = Column<Film, Int>("year")
        let studioID = Column<Film, ModelID<Studio>?>("studioID")
        let genre = Column<Film, Genre?>("genre")
        let tags = Column<Film, [String]>(json: "tags")
        let premiere = Column<Film, Date?>("premiere")
        let poster = Column<Film, [UInt8]?>("poster")

        var all: [ModelColumn<Film>] {
            [
                id.erased, title.erased, year.erased, studioID.erased, genre.erased, tags.erased, premiere.erased,
                poster.erased,
            ]
        }
    }
}

extension Film.Genre: ColumnValue {}

struct Studio: PersistentModel, Hashable {
    var id = ModelID<Studio>()
    var name: String

    static let table = "studio"
    static let columns = Columns()
    static let films = ToMany<Studio, Film>(Film.studio)

    struct Columns: ModelColumns {
        let id = Column<Studio, ModelID<Studio>>("id")
        let name = Column<Studio, String>("name")
        var all: [ModelColumn<Studio>] { [id.erased, name.erased] }
    }
}
