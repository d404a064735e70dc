import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsStorage

@Suite struct RecordLookupTests {
    private let fixture: RecordFixture

    init() throws { fixture = try RecordFixture() }

    // MARK: Lookups

    @Test("A lookup returns all records of a key, and counts no other record")
    func lookup() throws {
        let key = fixture.key("a")
        for number in [0, 2] as [UInt8] { try fixture.directory().store(key, "\(number)", pattern(10), number: number) }
        try fixture.directory().store(fixture.key("b"), "b", [])
        var calls = FileCalls.system
        calls.fault = { kind, _ in kind == .list ? EIO : nil }
        let directory = fixture.directory(calls: calls)
        #expect(try directory.lookup(key).records.map(\.headText) == ["0", "2"])
        #expect(try directory.lookup(fixture.key("c")).records.isEmpty)
        #expect(throws: FileError(code: EIO)) { try directory.open() }
    }

    @Test("What was looked up before an invalidation or a removal is not stored, even if its writing begins afterwards")
    func condition() throws {
        let (directory, other) = (fixture.directory(), fixture.directory())
        let key = fixture.key("a")
        for round in 0..<4 {
            let condition = try #require(try directory.lookup(key).condition)
            switch round {
            case 0: try other.invalidate(key)
            case 1: try other.removeAll(in: RecordScope(partition: 1))
            case 2: try other.removeAll(in: RecordScope()) { _ in false }
            default: try other.removeAll(in: RecordScope(partition: 2))
            }
            var writer = try directory.begin(key, if: condition)
            try pattern(10).withUnsafeBytes { try writer.append($0) }
            let isStored = try writer.commit(head: []) != nil
            #expect(isStored == (round == 3))
        }
    }

    @Test("On a disk that cannot be written, records are looked up without a condition")
    func readOnly() throws {
        let key = fixture.key("a")
        try fixture.directory().store(key, "head", pattern(5_000))
        unlink(fixture.path + "/.numbers")
        var calls = FileCalls.system
        calls.fault = { kind, _ in kind == .write ? ENOSPC : nil }
        let (records, condition) = try fixture.directory(calls: calls).lookup(key)
        #expect(try records.first?.bytes() == pattern(5_000))
        #expect(condition == nil)
    }

    // MARK: Leases

    private func lease(
        _ directory: RecordDirectory, _ text: String = "a", partition: UInt64 = 1, at seconds: Int = 1_000
    ) throws(FileError) -> RecordLease? {
        try directory.lease(fixture.key(text, partition: partition), for: .seconds(2), now: .seconds(seconds))
    }

    @Test("Only one process at a time has the lease of a key, until it ends it or the time is over")
    func leases() throws {
        let (one, other) = (fixture.directory(), fixture.directory())
        let first = try #require(try lease(one))
        #expect(try lease(other) == nil)
        #expect(try lease(one) == nil)
        #expect(try lease(other, at: 1_001) == nil)
        let second = try #require(try lease(other, at: 1_002))
        // The first lease has ended by itself.
        try one.end(first)
        #expect(try lease(one, at: 1_003) == nil)
        try other.end(second)
        let third = try #require(try lease(one, at: 1_003))
        // The machine was started again.
        #expect(try lease(other, at: 5) != nil)
        try one.end(third)
        #expect(try lease(one, at: 6) == nil)
    }

    @Test("Leases of other keys are independent, even if they have the same place in the file")
    func otherLeases() throws {
        let directory = fixture.directory()
        #expect(try lease(directory) != nil)
        #expect(try lease(directory, partition: 2) != nil)
        #expect(try lease(directory, "b") != nil)
        #expect(try lease(directory) == nil)
    }

    @Test("A lease prevents no commit, and commits and invalidations change no lease")
    func commits() throws {
        let (one, other) = (fixture.directory(), fixture.directory())
        #expect(try lease(one) != nil)
        #expect(try other.store(fixture.key("a"), "head", []) != nil)
        try other.invalidate(fixture.key("a"))
        #expect(try lease(other) == nil)
        #expect(try one.store(fixture.key("a"), "head", []) != nil)
    }

    @Test("If any call fails, a lease fails and the next one succeeds")
    func faults() throws {
        for step in 0..<50 {
            let faulty = FaultyCalls()
            let directory = fixture.directory(calls: faulty.calls)
            try directory.invalidate(fixture.key("b"))
            faulty.fail(after: step)
            let lease = try? lease(directory, at: step * 10)
            guard faulty.failed != nil else {
                #expect(lease != nil)
                return
            }
            faulty.heal()
            if lease == nil { #expect(try self.lease(fixture.directory(), at: step * 10) != nil) }
        }
        Issue.record("Leases do not end.")
    }
}
