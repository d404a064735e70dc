/// The writes that bring pending rows into a file, in order.
package struct SavePlan: Sendable, Hashable {
    package enum Write: Sendable, Hashable {
        case insert(StoredRow)
        /// The new row, the changed columns, and the row that must exist.
        case update(StoredRow, columns: [Int], base: StoredRow)
        /// The row that must exist.
        case delete(base: StoredRow)
    }

    package struct Step: Sendable, Hashable {
        package let key: RowKey
        package let write: Write
    }

    package let steps: [Step]
    /// The indices of the deletions among the steps. Updates and insertions may follow.
    package let deletions: Range<Int>
    /// For each deleted row in a circle of references, the columns that refer to a row that is deleted earlier. Without
    /// these values, a deletion does not cascade to other rows of the circle.
    package let circles: [RowKey: [String]]

    /// Orders writes: updates of columns that refer to other rows, deletions from children to parents, other updates,
    /// and insertions from parents to children.
    ///
    /// The first group prevents a cascading deletion from deleting a row that has been moved to another parent. Within
    /// each group, rows are sorted by table and id. Deletions in tables that refer to themselves or to each other in a
    /// circle are sorted by their rows. Insertions into such tables need deferred foreign keys.
    ///
    /// - Parameter foreignKeys: All foreign keys of the file.
    package init(_ writes: some Sequence<(key: RowKey, value: Write)>, foreignKeys: [ForeignKey]) {
        let all = foreignKeys.flatMap(\.references)
        let ranks = Self.ranks(all)
        let referring = Dictionary(grouping: all, by: \.table).mapValues { Set($0.map(\.column)) }
        // Most rows of a save differ only in their ids.
        var places: [Place: [Step]] = [:]
        for (key, write) in writes {
            let rank = ranks[key.table] ?? 0
            let place =
                switch write {
                case .update(let row, let columns, _):
                    Place(group: Self.refers(columns, of: row, referring[key.table]) ? 0 : 2, rank: 0, table: key.table)
                case .delete: Place(group: 1, rank: -rank, table: key.table)
                case .insert: Place(group: 3, rank: rank, table: key.table)
                }
            places[place, default: []].append(Step(key: key, write: write))
        }
        let sorted = places.sorted { $0.key < $1.key }.flatMap { place in
            place.value.sorted { $0.key.id.precedes($1.key.id) }
        }
        let first = sorted.firstIndex(where: \.isDeletion) ?? sorted.endIndex
        let end = sorted[first...].firstIndex { !$0.isDeletion } ?? sorted.endIndex
        var order = DeletionOrder(Array(sorted[first..<end]), references: foreignKeys.compactMap(\.reference))
        order.sort()
        steps = sorted[..<first] + order.steps + sorted[end...]
        deletions = first..<end
        circles = order.circles
    }

    /// The position of a write in the order, apart from its id.
    private struct Place: Hashable, Comparable {
        let group: Int
        let rank: Int
        let table: String

        static func < (one: Place, other: Place) -> Bool {
            (one.group, one.rank, one.table) < (other.group, other.rank, other.table)
        }
    }

    /// Whether one of the columns refers to other rows.
    private static func refers(_ columns: [Int], of row: StoredRow, _ referring: Set<String>?) -> Bool {
        guard let referring else { return false }
        let names = row.layout.names
        return columns.contains { names.indices.contains($0) && referring.contains(names[$0]) }
    }

    /// The length of the longest chain of references from each table, not counting circles.
    private static func ranks(_ references: [ModelReference]) -> [String: Int] {
        var ranks: [String: Int] = [:]
        // A chain that is longer than the number of references is a circle.
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

    package var isInsertion: Bool {
        if case .insert = write { return true }
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
