import Testing

@testable import EssentialsPersistence

@Suite struct QueryTests {
    @Test("A query keeps its filter, order, limit and offset, and is a value")
    func query() {
        let query = Film.where { $0.year < 1930 }.sorted { [$0.year.descending, $0.title.ascending] }.limit(20).offset(
            5)
        let same = Film.all.where { $0.year < 1930 }.offset(5).limit(20)
            .sorted { [$0.year.descending, $0.title.ascending] }
        #expect(query == same)
        #expect(query.limit == 20 && query.offset == 5)
        #expect(query.order.map(\.column) == ["year", "title"])
        #expect(query.order.map(\.isDescending) == [true, false])
        #expect(query != query.limit(nil))
    }

    @Test("Further conditions narrow a query")
    func narrowing() {
        let both = Film.where { $0.year < 1930 }.where { $0.title == "M" }
        #expect(both == Film.where { $0.year < 1930 && $0.title == "M" })
    }

    @Test("A long chain of operators becomes one list, and two negations cancel each other")
    func chains() {
        let columns = Film.columns
        let chain = (0..<1000).reduce(columns.year == -1) { $0 || columns.year == $1 }
        guard case .any(let nodes) = chain.node else { return #expect(Bool(false), "\(chain)") }
        #expect(nodes.count == 1001)
        #expect(!(!(columns.year == 1)) == (columns.year == 1))
        #expect(
            (columns.year == 1 && (columns.year == 2 && columns.year == 3)).node
                == Filter.all([
                    columns.year == 1, columns.year == 2, columns.year == 3,
                ]).node)
    }

    @Test("A relation finds the children of a parent from both sides")
    func relations() {
        let id = ModelID<Studio>()
        #expect(Studio.films.children(of: id) == Film.where { $0.studioID == id })
        #expect(Film.studio.inverse.inverse == Film.studio)
        #expect(Film.studio.isOptional)
        #expect(
            Film.references == [
                ModelReference(table: "film", column: "studioID", parent: "studio", key: "id")
            ])
    }

    @Test("Columns know how they are stored and whether they may hold NULL")
    func columns() {
        let columns = Film.columns.all
        #expect(columns.map(\.storage) == [.blob, .text, .integer, .blob, .text, .text, .text, .blob])
        #expect(columns.map(\.isOptional) == [false, false, false, true, true, false, true, true])
        #expect(Column<Film, [String]?>(json: "tags").isOptional)
    }
}
