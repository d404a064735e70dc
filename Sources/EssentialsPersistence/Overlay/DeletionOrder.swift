/// Sorts deletions so that rows are deleted before the rows that they refer to.
///
/// SQLite limits the length of a chain of rows that one deletion deletes through `ON DELETE`. It also refuses to delete
/// a row while other rows restrict its deletion. So the rows of a chain are deleted from its end.
struct DeletionOrder {
    private(set) var steps: [SavePlan.Step]
    /// See ``SavePlan/circles``.
    private(set) var circles: [RowKey: [String]] = [:]
    private let references: [ModelReference]

    /// - Parameters:
    ///   - steps: The deletions. Tables of children come before those of parents.
    ///   - references: All references of the file.
    init(_ steps: [SavePlan.Step], references: [ModelReference]) {
        self.steps = steps
        let circular = ModelReference.circularTables(references)
        self.references = references.filter { circular.contains($0.table) && circular.contains($0.parent) }
    }

    /// Sorts the deletions in linear time.
    mutating func sort() {
        guard !references.isEmpty else { return }
        let parents = parents()
        var children: [Int] = Array(repeating: 0, count: steps.count)
        for list in parents { for parent in list { children[parent.index] += 1 } }
        var isDone: [Bool] = Array(repeating: false, count: steps.count)
        var order: [Int] = []
        order.reserveCapacity(steps.count)
        for start in steps.indices {
            // A row that still has children is sorted after them, or by `breakCircles` if they are in a circle.
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

    /// Adds the remaining rows. Each of them is in a circle, or a row in a circle refers to it.
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
                        // The row that it refers to is deleted first.
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
    /// The tables whose rows may refer to rows of the same table, directly or through other rows.
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
