import Testing

@testable import EssentialsPersistence

@Suite struct ConflictRulesTests {
    /// The expected outcome of a change.
    enum Expected: Sendable {
        case mine, theirs, merged, conflict, nothing
    }

    private static func row(_ a: Int64, _ b: Int64) -> StoredRow { OverlayRows.row(1, a, b) }
    private static let base = row(0, 0)
    private static let update = OverlayEntry.updated(row(1, 0), base: base)
    private static let delete = OverlayEntry.deleted(base: base)
    private static let insert = OverlayEntry.inserted(row(1, 0))

    /// The change, the row now, and the expectations for `fail`, `mine`, `theirs` and `mergeColumns`.
    private static let table: [(OverlayEntry, StoredRow?, [Expected])] = [
        (update, base, [.mine, .mine, .mine, .mine]),
        (update, row(0, 2), [.conflict, .mine, .theirs, .merged]),
        (update, row(2, 0), [.conflict, .mine, .theirs, .conflict]),
        (update, row(2, 2), [.conflict, .mine, .theirs, .conflict]),
        (update, row(1, 2), [.conflict, .mine, .theirs, .merged]),
        (update, row(1, 0), [.nothing, .nothing, .nothing, .nothing]),
        (update, nil, [.conflict, .mine, .theirs, .conflict]),
        (delete, base, [.mine, .mine, .mine, .mine]),
        (delete, row(2, 0), [.conflict, .mine, .theirs, .conflict]),
        (delete, nil, [.nothing, .nothing, .nothing, .nothing]),
        (insert, nil, [.mine, .mine, .mine, .mine]),
        (insert, row(2, 0), [.conflict, .mine, .theirs, .conflict]),
        (insert, row(1, 0), [.nothing, .nothing, .nothing, .nothing]),
    ]

    @Test("The outcome of a change follows from the present row and the policy", arguments: table)
    func outcome(entry: OverlayEntry, theirs: StoredRow?, expected: [Expected]) {
        for (policy, expected) in zip([ConflictPolicy.fail, .mine, .theirs, .mergeColumns], expected) {
            let outcome = ConflictRules.outcome(of: entry, at: OverlayRows.key(1), theirs: theirs) { _ in
                .policy(policy)
            }
            switch expected {
            case .mine: #expect(outcome == .apply(entry.row), "\(policy)")
            case .theirs, .nothing: #expect(outcome == .keep, "\(policy)")
            case .merged: #expect(outcome == .apply(Self.row(1, 2)), "\(policy)")
            case .conflict:
                guard case .conflict(let conflict) = outcome else {
                    Issue.record("\(policy): \(outcome)")
                    continue
                }
                #expect(conflict.base == entry.base && conflict.mine == entry.row && conflict.theirs == theirs)
                #expect(conflict.change == entry.change && conflict.id == 1 && conflict.table == "t")
            }
        }
    }

    @Test("A conflict names the columns that both have changed to different values")
    func columns() {
        func columns(_ entry: OverlayEntry, _ theirs: StoredRow?) -> [String]? {
            let outcome = ConflictRules.outcome(of: entry, at: OverlayRows.key(1), theirs: theirs) { _ in
                .policy(.fail)
            }
            if case .conflict(let conflict) = outcome { return conflict.columns }
            return nil
        }
        #expect(columns(Self.update, Self.row(2, 0)) == ["a"])
        #expect(columns(Self.update, Self.row(0, 2)) == [])
        #expect(columns(.updated(Self.row(1, 1), base: Self.base), Self.row(2, 2)) == ["a", "b"])
        #expect(columns(Self.delete, Self.row(2, 0)) == [])
    }

    @Test("A closure decides each real conflict, with its own row if it likes, and no other change")
    func closure() {
        var calls = 0
        func outcome(_ entry: OverlayEntry, _ theirs: StoredRow?) -> ConflictRules.Outcome {
            ConflictRules.outcome(of: entry, at: OverlayRows.key(1), theirs: theirs) { _ in
                calls += 1
                return .row(Self.row(7, 7))
            }
        }
        #expect(outcome(Self.update, Self.base) == .apply(Self.row(1, 0)))
        #expect(outcome(Self.delete, nil) == .keep)
        #expect(calls == 0)
        #expect(outcome(Self.update, Self.row(2, 0)) == .apply(Self.row(7, 7)))
        #expect(outcome(Self.update, Self.row(7, 7)) == .keep)
        #expect(calls == 2)
    }
}
