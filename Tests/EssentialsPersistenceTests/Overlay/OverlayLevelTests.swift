import Testing

@testable import EssentialsPersistence

@Suite struct OverlayLevelTests {
    private static let base = OverlayRows.row(1, 0, 0)
    private static let one = OverlayRows.row(1, 1, 0)
    private static let two = OverlayRows.row(1, 2, 0)
    private let key = OverlayRows.key(1)

    /// The row below, the rows placed one after another, and the final entry.
    private static let transitions: [(StoredRow?, [StoredRow?], OverlayEntry?)] = [
        (nil, [one], .inserted(one)), (base, [one], .updated(one, base: base)), (base, [nil], .deleted(base: base)),
        (nil, [one, two], .inserted(two)), (nil, [one, nil], nil), (base, [one, two], .updated(two, base: base)),
        (base, [one, base], nil), (base, [one, nil], .deleted(base: base)),
        (base, [nil, two], .updated(two, base: base)), (base, [nil, base], nil), (base, [base], nil), (nil, [nil], nil),
    ]

    @Test("An entry follows from the row below and the last row placed", arguments: transitions)
    func transition(below: StoredRow?, rows: [StoredRow?], expected: OverlayEntry?) throws {
        var level = OverlayLevel()
        for row in rows { try level.place(row, at: key, below: below) }
        #expect(level.entry(key) == expected)
        #expect(level.count == (expected == nil ? 0 : 1))
        #expect(level.byteCount == (expected?.byteCount ?? 0))
        #expect(level.pendingTables == (expected == nil ? [] : ["t"]))
        #expect(level.hasDeletions(in: "t") == (expected?.isDeletion == true))
    }

    @Test("The first base stays when the row below changes")
    func firstBase() throws {
        var level = OverlayLevel()
        try level.place(Self.one, at: key, below: Self.base)
        try level.place(OverlayRows.row(1, 3, 3), at: key, below: Self.two)
        #expect(level.entry(key) == .updated(OverlayRows.row(1, 3, 3), base: Self.base))
    }

    @Test("A row beyond a limit fails and changes nothing")
    func limits() throws {
        var limits = OverlayLimits()
        limits.rows = 2
        var level = OverlayLevel(limits: limits)
        try level.place(OverlayRows.row(1, 0, 0), at: OverlayRows.key(1), below: nil)
        try level.place(OverlayRows.row(2, 0, 0), at: OverlayRows.key(2), below: nil)
        let version = level.version
        let failure = #expect(throws: PersistenceFailure.self) {
            try level.place(OverlayRows.row(3, 0, 0), at: OverlayRows.key(3), below: nil)
        }
        #expect(failure?.reason == .limit)
        #expect(level.count == 2 && level.version == version)
        try level.place(OverlayRows.row(2, 1, 1), at: OverlayRows.key(2), below: nil)
        try level.place(nil, at: OverlayRows.key(2), below: nil)
        try level.place(OverlayRows.row(3, 0, 0), at: OverlayRows.key(3), below: nil)
    }

    @Test("The bytes of rows have a limit too")
    func byteLimit() throws {
        var limits = OverlayLimits()
        limits.bytes = 1000
        var level = OverlayLevel(limits: limits)
        var row = OverlayRows.row(1, 0, 0)
        row.values[1] = .blob(Array(repeating: 0, count: 1000))
        #expect(throws: PersistenceFailure.self) { try level.place(row, at: key, below: nil) }
        #expect(level.isEmpty)
        try level.place(Self.one, at: key, below: nil)
    }

    @Test("A level knows whether rows are deleted, after every kind of change")
    func deletions() throws {
        var limits = OverlayLimits()
        limits.rows = 2
        var level = OverlayLevel(limits: limits)
        try level.place(nil, at: key, below: Self.base)
        #expect(level.hasDeletions(in: "t") && !level.hasDeletions(in: "u"))
        // One row more than the limit, so that the others stay unchanged.
        let changes: [OverlayLevel.Change] = [(key, nil), (OverlayRows.key(2), .inserted(Self.one))]
        let others = (3...4).map { (key: OverlayRows.key($0), entry: OverlayEntry?.some(.deleted(base: Self.base))) }
        #expect(throws: PersistenceFailure.self) { try level.apply(changes + others) }
        #expect(level.hasDeletions(in: "t") && level.count == 1 && level.byteCount == Self.base.byteCount)
        try level.apply(changes)
        #expect(!level.hasDeletions(in: "t"))
        try level.place(nil, at: key, below: Self.base)
        #expect(level.discard([key]) == 1 && !level.hasDeletions(in: "t"))
        try level.place(nil, at: key, below: Self.base)
        level.rollback()
        #expect(!level.hasDeletions(in: "t"))
    }

    @Test("The log names the rows that were changed since a version")
    func log() throws {
        var level = OverlayLevel()
        try level.place(Self.one, at: key, below: nil)
        let version = level.version
        #expect(level.changes(since: version) == [])
        try level.place(OverlayRows.row(2, 0, 0), at: OverlayRows.key(2), below: nil)
        try level.place(nil, at: OverlayRows.key(2), below: nil)
        #expect(level.changes(since: version) == [OverlayRows.key(2)])
        level.rollback()
        #expect(level.changes(since: version) == [OverlayRows.key(1), OverlayRows.key(2)])
        #expect(level.changes(since: level.version + 1) == nil)
    }

    @Test("Changes that the log has forgotten are unknown")
    func forgotten() throws {
        var level = OverlayLevel()
        let start = level.version
        for step in 0..<ChangeLog.capacity * 3 {
            try level.place(OverlayRows.row(1, Int64(step), 1), at: key, below: nil)
        }
        #expect(level.changes(since: start) == nil)
        #expect(level.changes(since: level.version - 100) == [key])
        for id in 0..<Int64(ChangeLog.capacity + 1) {
            try level.place(OverlayRows.row(id, -1, 1), at: OverlayRows.key(id), below: nil)
        }
        let version = level.version
        level.rollback()
        #expect(level.version > version)
        #expect(level.changes(since: version) == nil)
        #expect(level.changes(since: level.version) == [])
    }

    @Test("Discarding drops pending rows only, and counts only these")
    func discard() throws {
        var level = OverlayLevel()
        for id in 1...3 as ClosedRange<Int64> {
            try level.place(OverlayRows.row(id, 0, 0), at: OverlayRows.key(id), below: nil)
        }
        #expect(level.discard([OverlayRows.key(1), OverlayRows.key(3), OverlayRows.key(9)]) == 2)
        #expect(level.entries(in: "t").count == 1)
        #expect(level.count == 1)
        #expect(level.byteCount == OverlayEntry.inserted(OverlayRows.row(2, 0, 0)).byteCount)
    }
}
