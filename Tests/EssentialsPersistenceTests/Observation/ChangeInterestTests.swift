import Testing

@testable import EssentialsPersistence

/// The changes that make an observation read again.
struct ChangeInterestTests {
    private let id = ModelID<Film>()
    private let other = ModelID<Film>()

    private func isAwoken(_ query: Query<Film>, by change: PersistenceChange) -> Bool {
        ChangeInterest(query.node).includes(change)
    }

    private func change(of id: ModelID<Film>) -> PersistenceChange {
        PersistenceChange(["film": .ids([.blob(id.bytes)])])
    }

    @Test("A query by ids depends only on the rows with these ids")
    func ids() {
        let queries = [
            Film.where { $0.id == id }, Film.where { $0.id.isIn([id]) }, Film.where { $0.id == id && $0.year < 1930 },
            Film.where { $0.id == id || $0.id.isIn([id]) }, Film.where { $0.id == id }.limit(1),
        ]
        for query in queries {
            #expect(isAwoken(query, by: change(of: id)))
            #expect(!isAwoken(query, by: change(of: other)))
            #expect(isAwoken(query, by: PersistenceChange(["film": .unknown])))
            #expect(isAwoken(query, by: .unknown))
            #expect(!isAwoken(query, by: PersistenceChange(["studio": .unknown])))
        }
    }

    @Test("A query that can find other rows depends on all rows of its tables")
    func tables() {
        let studios = Studio.where { $0.name == "Ufa" }.values { $0.id }
        let queries = [
            Film.all, Film.where { !($0.id == id) }, Film.where { $0.id == id || $0.year < 1930 },
            Film.where { $0.id != id }, Film.where { $0.id == id && $0.studioID.isIn(studios) },
            Film.where { $0.id == id && $0.year.isIn(Film.all.values { $0.year }) },
        ]
        for query in queries { #expect(isAwoken(query, by: change(of: other))) }
        #expect(isAwoken(queries[4], by: PersistenceChange(["studio": .ids([1])])))
        #expect(!isAwoken(queries[0], by: PersistenceChange(["studio": .ids([1])])))
    }

    @Test("A query with SQL depends on every table")
    func text() {
        let query = Film.where { $0.id == id && .sql("EXISTS (SELECT 1 FROM studio)") }
        #expect(isAwoken(query, by: PersistenceChange(["studio": .ids([1])])))
    }

    @Test("An id that is a text may equal others in its column's collation, so all rows count")
    func collations() {
        let query = Country.where { $0.id == "de" }
        #expect(ChangeInterest(query.node).includes(PersistenceChange(["country": .ids(["DE"])])))
    }

    @Test("A call by ids depends only on the rows with these ids, and a unit of work on every table")
    func calls() {
        let call = PersistenceCall.find(Film.self, id: id)
        #expect(ChangeInterest(call.plan).includes(change(of: id)))
        #expect(!ChangeInterest(call.plan).includes(change(of: other)))
        #expect(ChangeInterest(PersistenceCall.read { _ in }.plan).includes(change(of: other)))
    }
}

private struct Country: PersistentModel {
    var id: String

    static let table = "country"
    static let columns = Columns()

    struct Columns: ModelColumns {
        let id = Column<Country, String>("id")
        var all: [ModelColumn<Country>] { [id.erased] }
    }
}
