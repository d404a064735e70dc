/// Sorts deletions by the rows that refer to each other, children first.
///
/// SQLite limits how many rows one deletion may delete one after the other through `ON DELETE`, and refuses to delete a row
/// while others refer to it that restrict its deletion. So the rows of a chain are deleted from its end.
struct DeletionOrder {
    private(set) var steps: [SavePlan.Step]
    /// See ``SavePlan/circles``.
    private(set) var circles: [RowKey: [String]] = [:]
    private let references: [ModelReference]

    /// - Parameters:
    ///   - steps: Deletions, the tables of children before those of parents.
    ///   - references: All references of the file.
    init(_ steps: [SavePlan.Step], references: [ModelReference]) {
        self.steps = steps
        let circular = ModelReference.circularTables(references)
        self.references = references.filter { circular.contains($0.table) && circular.contains($0.parent) }
    }

    /// Brings the deletions into their order, which takes time in proportion to their number.
    mutating func sort() {
        guard !references.isEmpty else { return }
        let parents = parents()
        var children: [Int] = Array(repeating: 0, count: steps.count)
        for list in parents { for parent in list { children[parent.index] += 1 } }
        var isDone: [Bool] = Array(repeating: false, count: steps.count)
        var order: [Int] = []
        order.reserveCapacity(steps.count)
        for start in steps.indices {
            // A row that has children left is in a circle, or waits for one, when no other row is left before it.
            var ready = children[start] == 0 && !isDone[start] ? [start] : []
            while let index = ready.popLast() {
                isDone[index] = true
                order.append(index)
                for parent in parents[index] where !isDone[parent.index] {
                    children[parent.index] -= 1
                    if children[parent.index] == 0 { ready.append(parent.index) }
                }
            }
        }
        breakCircles(parents, &children, &isDone, &order)
        steps = order.map { steps[$0] }
    }

    /// Adds the rows that are left. Each of them is in a circle, or is referred to from one.
    private mutating func breakCircles(
        _ parents: [[(index: Int, column: String)]], _ children: inout [Int], _ isDone: inout [Bool],
        _ order: inout [Int]
    ) {
        for start in steps.indices where !isDone[start] {
            var ready = [start]
            while let index = ready.popLast() {
                isDone[index] = true
                order.append(index)
                for parent in parents[index] {
                    guard !isDone[parent.index] else {
                        // The row that it refers to was deleted first.
                        if parent.index != index { circles[steps[index].key, default: []].append(parent.column) }
                        continue
                    }
                    children[parent.index] -= 1
                    if children[parent.index] == 0 { ready.append(parent.index) }
                }
            }
        }
    }

    /// The deleted rows that each row refers to.
    private func parents() -> [[(index: Int, column: String)]] {
        struct Target: Hashable {
            let table: String
            let column: String
            let value: StoredValue
        }
        let columns = Dictionary(grouping: references, by: \.parent).mapValues { Set($0.map(\.key)) }
        var targets: [Target: Int] = [:]
        for (index, step) in steps.enumerated() {
            guard case .delete(let base) = step.write else { continue }
            for column in columns[step.key.table] ?? [] {
                guard let value = base[column], !value.isNull else { continue }
                targets[Target(table: step.key.table, column: column, value: value)] = index
            }
        }
        let own = Dictionary(grouping: references, by: \.table)
        return steps.enumerated().map { index, step in
            guard case .delete(let base) = step.write else { return [] }
            return (own[step.key.table] ?? []).compactMap { reference in
                guard let value = base[reference.column], !value.isNull,
                    let parent = targets[Target(table: reference.parent, column: reference.key, value: value)],
                    parent != index
                else { return nil }
                return (parent, reference.column)
            }
        }
    }
}

extension ModelReference {
    /// The tables whose rows may refer, through any number of other rows, to rows of the same table.
    fileprivate static func circularTables(_ references: [ModelReference]) -> Set<String> {
        let parents = Dictionary(grouping: references, by: \.table).mapValues { Set($0.map(\.parent)) }
        return Set(
            parents.keys.filter { table in
                var reached: Set<String> = []
                var next = Array(parents[table] ?? [])
                while let other = next.popLast() {
                    if other == table { return true }
                    if reached.insert(other).inserted { next += parents[other] ?? [] }
                }
                return false
            })
    }
}
