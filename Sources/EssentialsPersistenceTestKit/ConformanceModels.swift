public import EssentialsPersistence
import FoundationEssentials

extension PersistenceServiceConformance {
    /// The models of the checks. Two of them share a table; the second one has a column more.
    public static let models: [any PersistentModel.Type] = [
        Studio.self, Film.self, Scene.self, Award.self, Label.self, LabelWithRemark.self, Specimen.self,
    ]

    /// The tables of the models in SQL. A service without SQL needs the same columns and constraints: a unique name of
    /// studios, the condition `year_range` on the years of films, and the three foreign keys with what they do when the row
    /// is deleted that they refer to.
    public static let tables = """
        CREATE TABLE studio(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL,
            year INTEGER NOT NULL CONSTRAINT year_range CHECK (year BETWEEN 1800 AND 2999),
            studioID INTEGER REFERENCES studio(id) ON DELETE SET NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX film_year ON film(year);
        CREATE INDEX film_studio ON film(studioID);
        CREATE TABLE scene(id TEXT PRIMARY KEY NOT NULL,
            filmID BLOB NOT NULL REFERENCES film(id) ON DELETE CASCADE) STRICT, WITHOUT ROWID;
        CREATE INDEX scene_film ON scene(filmID);
        CREATE TABLE award(id BLOB PRIMARY KEY NOT NULL,
            filmID BLOB NOT NULL REFERENCES film(id) ON DELETE RESTRICT) STRICT, WITHOUT ROWID;
        CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, text TEXT NOT NULL, remark TEXT) STRICT;
        CREATE TABLE specimen(id INTEGER PRIMARY KEY NOT NULL, text TEXT NOT NULL, note TEXT, number INTEGER, real REAL,
            bytes BLOB, flag INTEGER NOT NULL, date TEXT, uuid BLOB, kind TEXT, list TEXT NOT NULL) STRICT;
        """
}

/// A row with an id that the caller chooses, and a unique name.
struct Studio: PersistentModel, Hashable {
    var id: Int64
    var name: String

    static let table = "studio"
    static let columns = Columns()
    static let films = ToMany<Studio, Film>(Film.studio)

    struct Columns: ModelColumns {
        let id = Column<Studio, Int64>("id")
        let name = Column<Studio, String>("name")
        var all: [ModelColumn<Studio>] { [id.erased, name.erased] }
    }
}

/// A row with a condition on its year. It refers to a studio, or to none when that is deleted.
struct Film: PersistentModel, Hashable {
    var id = ModelID<Film>()
    var title: String
    var year: Int
    var studioID: Int64?

    static let table = "film"
    static let columns = Columns()
    static let studio = ToOne<Film, Studio>(columns.studioID)
    static var references: [ModelReference] { [studio.reference] }

    struct Columns: ModelColumns {
        let id = Column<Film, ModelID<Film>>("id")
        let title = Column<Film, String>("title")
        let year = Column<Film, Int>("year")
        let studioID = Column<Film, Int64?>("studioID")
        var all: [ModelColumn<Film>] { [id.erased, title.erased, year.erased, studioID.erased] }
    }
}

/// A row that is deleted with the film that it refers to.
struct Scene: PersistentModel, Hashable {
    var id: String
    var filmID: ModelID<Film>

    static let table = "scene"
    static let columns = Columns()
    static let film = ToOne<Scene, Film>(columns.filmID)
    static var references: [ModelReference] { [film.reference] }

    struct Columns: ModelColumns {
        let id = Column<Scene, String>("id")
        let filmID = Column<Scene, ModelID<Film>>("filmID")
        var all: [ModelColumn<Scene>] { [id.erased, filmID.erased] }
    }
}

/// A row that keeps the film from being deleted that it refers to.
struct Award: PersistentModel, Hashable {
    var id = UUID()
    var filmID: ModelID<Film>

    static let table = "award"
    static let columns = Columns()
    static var references: [ModelReference] { [ToOne<Award, Film>(columns.filmID).reference] }

    struct Columns: ModelColumns {
        let id = Column<Award, UUID>("id")
        let filmID = Column<Award, ModelID<Film>>("filmID")
        var all: [ModelColumn<Award>] { [id.erased, filmID.erased] }
    }
}

/// A row whose table has a column more than the model.
struct Label: PersistentModel, Hashable {
    var id: Int64
    var text: String

    static let table = "label"
    static let columns = Columns()

    struct Columns: ModelColumns {
        let id = Column<Label, Int64>("id")
        let text = Column<Label, String>("text")
        var all: [ModelColumn<Label>] { [id.erased, text.erased] }
    }
}

/// The same row with all columns.
struct LabelWithRemark: PersistentModel, Hashable {
    var id: Int64
    var text: String
    var remark: String?

    static let table = "label"
    static let columns = Columns()

    struct Columns: ModelColumns {
        let id = Column<LabelWithRemark, Int64>("id")
        let text = Column<LabelWithRemark, String>("text")
        let remark = Column<LabelWithRemark, String?>("remark")
        var all: [ModelColumn<LabelWithRemark>] { [id.erased, text.erased, remark.erased] }
    }
}
