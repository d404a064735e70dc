@testable import EssentialsPersistence

/// The models of the examples of persistence.
enum FilmModels {
    struct Film: PersistentModel {
        var id = ModelID<Film>()
        var title = ""
        var year = 0
        var views = 0
        var minutes = 0
        var note: String?
        var studioID: ModelID<Studio>?
        var directorID: ModelID<Director>?

        init(title: String, year: Int) { (self.title, self.year) = (title, year) }
        init(_ line: Substring) throws { title = String(line) }

        static let table = "film"
        static let columns: MappedColumns<Film> = [
            "id": \.id, "title": \.title, "year": \.year, "views": \.views, "minutes": \.minutes, "note": \.note,
            "studioID": \.studioID, "directorID": \.directorID,
        ]
        static let studio = ToOne<Film, Studio>(columns.studioID)
        static let director = ToOne<Film, Director>(columns.directorID)
    }

    struct Studio: PersistentModel {
        var id = ModelID<Studio>()
        var name = ""
        var countryID: ModelID<Country>?
        static let table = "studio"
        static let columns: MappedColumns<Studio> = ["id": \.id, "name": \.name, "countryID": \.countryID]
        static let films = ToMany<Studio, Film>(Film.studio)
        static let country = ToOne<Studio, Country>(columns.countryID)
    }

    struct Director: PersistentModel {
        var id = ModelID<Director>()
        static let table = "director"
        static let columns: MappedColumns<Director> = ["id": \.id]
    }

    struct Country: PersistentModel {
        var id = ModelID<Country>()
        static let table = "country"
        static let columns: MappedColumns<Country> = ["id": \.id]
    }
}
