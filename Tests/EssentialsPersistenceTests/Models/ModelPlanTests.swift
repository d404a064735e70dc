import Testing

@testable import EssentialsPersistence

/// A model of the table of films. Each type of tag makes another model type.
private struct Tagged<Tag>: PersistentModel {
    var id: Int64
    var title: String

    static var table: String { "film" }
    static var columns: MappedColumns<Tagged> { ["title": \.title, "id": \.id] }
}

@Suite("The positions of a model's columns in its rows") struct ModelPlanTests {
    private let layout = RowLayout(["id", "year", "title"])

    @Test("Each model of a table has its own plan, which is created once")
    func several() throws {
        let first = try layout.plans.plan(of: Tagged<Int>.self, layout)
        let second = try layout.plans.plan(of: Tagged<Bool>.self, layout)
        #expect(first.columns.map(\.index) == [2, 0])
        #expect(first.key == 0 && second.key == 0)
        #expect(try layout.plans.plan(of: Tagged<Int>.self, layout) === first)
        #expect(try layout.plans.plan(of: Tagged<Bool>.self, layout) === second)
        #expect(layout.plans.count == 2)
    }

    @Test("A layout keeps a bounded number of plans, and all models work")
    func bounded() throws {
        func use<Tag>(_ tag: Tag.Type) throws {
            let coder = try ModelCoder<Tagged<Tag>>(layout)
            let row = try coder.row(Tagged(id: 7, title: "M"))
            #expect(row.values == [7, .null, "M"])
        }
        func nest<Tag>(_ tag: Tag.Type, depth: Int) throws {
            try use(tag)
            if depth > 0 { try nest([Tag].self, depth: depth - 1) }
        }
        for _ in 0..<2 { try nest(Int.self, depth: 2 * ModelPlans.maximum) }
        #expect(layout.plans.count == ModelPlans.maximum)
    }

    @Test("A layout that lacks a column is refused each time")
    func missing() throws {
        let layout = RowLayout(["id", "name"])
        for _ in 0..<2 {
            let failure = #expect(throws: PersistenceFailure.self) { try ModelCoder<Tagged<Int>>(layout) }
            #expect(failure?.reason == .schemaMismatch)
            #expect(failure?.message.contains("title") == true)
        }
        #expect(layout.plans.count == 0)
    }
}
