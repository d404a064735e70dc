import Testing

@testable import EssentialsPersistence

@Suite struct OverlayMachineTests {
    private let key = OverlayRows.key(1)
    private let stored = OverlayRows.row(1, 0, 0)

    private func machine(_ depth: Int) throws -> OverlayMachine {
        try OverlayMachine(levels: Array(repeating: OverlayLevel(), count: depth))
    }

    /// A machine of another depth with the levels of this one.
    private func upper(_ machine: OverlayMachine, _ depth: Int) throws -> OverlayMachine {
        try OverlayMachine(levels: Array(machine.levels.prefix(depth)))
    }

    @Test("A scope sees the nearest entry, and the file's row if there is no entry")
    func finding() throws {
        var root = try machine(1)
        #expect(root.find(key) == .stored)
        try root.update(OverlayRows.row(1, 1, 0), at: key, stored: stored)
        var child = try OverlayMachine(levels: root.levels + [OverlayLevel()])
        #expect(child.find(key) == .pending(OverlayRows.row(1, 1, 0), level: 1))
        try child.delete(key, stored: stored)
        #expect(child.find(key) == .deleted(level: 2))
        #expect(try upper(child, 1).find(key) == .pending(OverlayRows.row(1, 1, 0), level: 1))
        child.rollback()
        #expect(child.find(key) == .pending(OverlayRows.row(1, 1, 0), level: 1))
    }

    @Test("A visible row cannot be created, and an invisible one cannot be changed or deleted")
    func failures() throws {
        var machine = try machine(2)
        let exists = #expect(throws: PersistenceFailure.self) {
            try machine.create(stored, at: key, stored: stored)
        }
        #expect(exists?.reason == .constraint && exists?.ids == [1] && exists?.model == "t")
        let update = #expect(throws: PersistenceFailure.self) { try machine.update(stored, at: key, stored: nil) }
        #expect(update?.reason == .notFound)
        try machine.delete(key, stored: stored)
        let delete = #expect(throws: PersistenceFailure.self) { try machine.delete(key, stored: stored) }
        #expect(delete?.reason == .notFound)
        #expect(machine.levels[1].count == 1)
    }

    @Test("If the parent has no entry for an id, a save to it moves the entry with its base")
    func moving() throws {
        var machine = try machine(2)
        try machine.update(OverlayRows.row(1, 1, 0), at: key, stored: stored)
        try machine.saveToParent { _ in .policy(.fail) }
        #expect(machine.levels[0].entry(key) == .updated(OverlayRows.row(1, 1, 0), base: stored))
        #expect(machine.levels[1].isEmpty)
    }

    @Test("If the parent changed a row meanwhile, the save is a conflict and changes nothing")
    func parentConflict() throws {
        var child = try machine(2)
        try child.update(OverlayRows.row(1, 1, 0), at: key, stored: stored)
        var parent = try upper(child, 1)
        try parent.update(OverlayRows.row(1, 2, 0), at: key, stored: stored)
        child = try OverlayMachine(levels: [parent.levels[0], child.levels[1]])
        let versions = child.versions
        let failure = #expect(throws: PersistenceFailure.self) { try child.saveToParent { _ in .policy(.fail) } }
        #expect(failure?.reason == .conflict)
        #expect(failure?.conflicts.first?.columns == ["a"])
        #expect(child.versions == versions)
        try child.saveToParent { _ in .policy(.mine) }
        #expect(child.levels[0].entry(key) == .updated(OverlayRows.row(1, 1, 0), base: stored))
    }

    @Test("All levels fold into one with the file's base, and a row that ends unchanged is not written")
    func folding() throws {
        var machine = try machine(1)
        try machine.update(OverlayRows.row(1, 1, 0), at: key, stored: stored)
        machine = try OverlayMachine(levels: machine.levels + [OverlayLevel()])
        try machine.delete(key, stored: stored)
        machine = try OverlayMachine(levels: machine.levels + [OverlayLevel()])
        try machine.create(OverlayRows.row(1, 3, 0), at: key, stored: stored)
        let folded = try machine.folded { _ in .policy(.fail) }
        #expect(folded.entry(key) == .updated(OverlayRows.row(1, 3, 0), base: stored))
        try machine.update(stored, at: key, stored: stored)
        #expect(try machine.folded { _ in .policy(.fail) }.isEmpty)
        machine.saved()
        #expect(machine.levels.allSatisfy { $0.isEmpty })
    }

    @Test("A failure has at most 100 conflicts")
    func manyConflicts() throws {
        var child = try machine(2)
        var parent = try machine(1)
        for id in 0..<500 as Range<Int64> {
            try child.create(OverlayRows.row(id, 1, 0), at: OverlayRows.key(id), stored: nil)
            try parent.create(OverlayRows.row(id, 2, 0), at: OverlayRows.key(id), stored: nil)
        }
        child = try OverlayMachine(levels: [parent.levels[0], child.levels[1]])
        let failure = #expect(throws: PersistenceFailure.self) { try child.folded { _ in .policy(.fail) } }
        #expect(failure?.conflicts.count == 100)
        #expect(failure?.model == "t")
    }

    @Test("There are at most 16 levels, and at least one")
    func depth() throws {
        _ = try machine(16)
        #expect(throws: PersistenceFailure.self) { try machine(17) }
        #expect(throws: PersistenceFailure.self) { try machine(0) }
    }
}
