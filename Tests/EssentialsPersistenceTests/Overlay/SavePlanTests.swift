import Testing

@testable import EssentialsPersistence

@Suite struct SavePlanTests {
    private static let foreignKeys = [
        ForeignKey(table: "film", column: "studioID", parent: "studio", key: "id"),
        ForeignKey(table: "role", column: "filmID", parent: "film", key: "id"),
    ]

    private static func row(_ names: [String]) -> StoredRow {
        let row = StoredRow(RowLayout(names), Array(repeating: .null, count: names.count))
        guard let row else { preconditionFailure("there is a value for each name") }
        return row
    }

    @Test("Moved rows are updated first, then children are deleted before parents, and inserted after them")
    func order() {
        let film = Self.row(["id", "title", "studioID"])
        let any = Self.row(["id"])
        let writes: [RowKey: SavePlan.Write] = [
            RowKey(table: "studio", id: 1): .delete(base: any), RowKey(table: "film", id: 1): .delete(base: any),
            RowKey(table: "role", id: 1): .delete(base: any), RowKey(table: "role", id: 2): .insert(any),
            RowKey(table: "film", id: 2): .insert(any), RowKey(table: "studio", id: 2): .insert(any),
            RowKey(table: "film", id: 3): .update(film, columns: [1], base: film),
            RowKey(table: "film", id: 4): .update(film, columns: [1, 2], base: film),
            RowKey(table: "film", id: 5): .update(film, columns: [2], base: film),
        ]
        let plan = SavePlan(writes, foreignKeys: Self.foreignKeys)
        #expect(
            plan.steps.map { "\($0.key.table) \($0.key.id)" } == [
                "film 4", "film 5", "role 1", "film 1", "studio 1", "film 3", "studio 2", "film 2", "role 2",
            ])
    }

    @Test("Tables that refer to each other or to themselves are also ordered")
    func circles() {
        let circle = [
            ForeignKey(table: "a", column: "b", parent: "b", key: "id"),
            ForeignKey(table: "b", column: "a", parent: "a", key: "id"),
            ForeignKey(table: "c", column: "parent", parent: "c", key: "id"),
        ]
        let row = Self.row(["id"])
        let keys = ["a", "b", "c"].map { RowKey(table: $0, id: 1) }
        let writes = keys.map { (key: $0, value: SavePlan.Write.insert(row)) }
        let plan = SavePlan(writes, foreignKeys: circle)
        #expect(Set(plan.steps.map(\.key)) == Set(keys))
    }

    @Test("Rows of one table are in the order of their ids, whatever the order of the writes")
    func sameOrder() {
        let ids: [StoredValue] = [.null, -1, 2, 0.5, "a", "b", .blob([]), .blob([1])]
        let row = Self.row(["id"])
        let writes = ids.map { (key: RowKey(table: "t", id: $0), value: SavePlan.Write.insert(row)) }
        for _ in 0..<10 {
            let plan = SavePlan(writes.shuffled(), foreignKeys: [])
            #expect(plan.steps.map(\.key.id) == ids)
        }
    }
}
