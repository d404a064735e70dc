/// The writes that bring pending rows into a file, in the order in which they are made.
package struct SavePlan: Sendable, Hashable {
    package enum Write: Sendable, Hashable {
        case insert(StoredRow)
        /// The new row, the columns that change, and the row that must be there.
        case update(StoredRow, columns: [Int], base: StoredRow)
        /// The row that must be there.
        case delete(base: StoredRow)
    }

    package struct Step: Sendable, Hashable {
        package let key: RowKey
        package let write: Write
    }

    package let steps: [Step]
    /// The deleted rows that refer to a row which is deleted before them, because the rows refer to each other in a circle,
    /// with the columns that do. Without these values a deletion cascades to no other row of the circle.
    package let circles: [RowKey: [String]]

    /// Orders writes: first updates of columns that refer to other rows, so that a cascading deletion does not take a row
    /// that has been moved away, then deletions from children to parents, other updates, and insertions from parents to
    /// children. Within each group, rows are sorted by table and id; deletions of tables that refer to themselves, or to each
    /// other in a circle, are sorted by their rows. Insertions of such tables need deferred foreign keys.
    package init(_ writes: [RowKey: Write], references: [ModelReference]) {
        let ranks = Self.ranks(references)
        let referring = Dictionary(grouping: references, by: \.table).mapValues { Set($0.map(\.column)) }
        func position(_ step: Step) -> (group: Int, rank: Int) {
            let rank = ranks[step.key.table] ?? 0
            switch step.write {
            case .update(let row, let columns, _):
                let moved = columns.contains { column in
                    row.layout.names.indices.contains(column)
                        && referring[step.key.table]?.contains(row.layout.names[column]) == true
                }
                return (moved ? 0 : 2, 0)
            case .delete: return (1, -rank)
            case .insert: return (3, rank)
            }
        }
        let placed = writes.map { key, write in
            let step = Step(key: key, write: write)
            return (step: step, position: position(step))
        }
        let sorted = placed.sorted { one, other in
            if one.position != other.position { return one.position < other.position }
            if one.step.key.table != other.step.key.table { return one.step.key.table < other.step.key.table }
            return one.step.key.id.precedes(other.step.key.id)
        }.map(\.step)
        let first = sorted.firstIndex(where: \.isDeletion) ?? sorted.endIndex
        let end = sorted[first...].firstIndex { !$0.isDeletion } ?? sorted.endIndex
        var order = DeletionOrder(Array(sorted[first..<end]), references: references)
        order.sort()
        steps = sorted[..<first] + order.steps + sorted[end...]
        circles = order.circles
    }

    /// The number of steps from each table to the tables that refer to nothing, as far as there is no circle.
    private static func ranks(_ references: [ModelReference]) -> [String: Int] {
        var ranks: [String: Int] = [:]
        // A longer chain than there are references is a circle.
        for _ in 0...references.count {
            var isSettled = true
            for reference in references where reference.table != reference.parent {
                let rank = (ranks[reference.parent] ?? 0) + 1
                if rank > ranks[reference.table] ?? 0 {
                    ranks[reference.table] = rank
                    isSettled = false
                }
            }
            if isSettled { break }
        }
        return ranks
    }
}

extension SavePlan.Step {
    fileprivate var isDeletion: Bool {
        if case .delete = write { return true }
        return false
    }
}

extension StoredValue {
    /// Whether the value comes first in an order by kinds and bytes.
    package func precedes(_ other: StoredValue) -> Bool {
        switch (self, other) {
        case (.integer(let one), .integer(let other)): one < other
        case (.real(let one), .real(let other)): one < other
        case (.text(let one), .text(let other)): one.utf8.lexicographicallyPrecedes(other.utf8)
        case (.blob(let one), .blob(let other)): one.lexicographicallyPrecedes(other)
        default: kind < other.kind
        }
    }

    private var kind: Int {
        switch self {
        case .null: 0
        case .integer: 1
        case .real: 2
        case .text: 3
        case .blob: 4
        }
    }
}
