import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsStorage

/// Lookups on the caller's own thread. Each instance stands for a process.
@Suite struct RecordResidentTests {
    private let fixture: RecordFixture

    init() throws { fixture = try RecordFixture() }

    /// Whether the system can say what is in its memory.
    private static let isSupported: Bool = {
        guard let scratch = try? ScratchDirectory(), ResidentOpen.isLocal(scratch("")),
            (try? FileCalls.system.open(scratch("file"), O_WRONLY | O_CREAT)) != nil,
            case .file(let file) = ResidentOpen.open(scratch("file"), O_RDONLY)
        else { return false }
        return ResidentRead.bytes(of: file, count: 0) != nil
    }()

    private func directory(calls: FileCalls = .system) -> RecordDirectory {
        fixture.directory(calls: calls) { $0.invalidatesAllPartitions = true }
    }

    private func texts(_ records: [StoredRecord]) throws -> [String] {
        try records.map { try "\($0.name.number) \($0.headText) \($0.bytes()?.count ?? -1) \($0.revision)" }
    }

    /// What a lookup without waiting has found, after another one has brought it into memory.
    private func resident(_ directory: RecordDirectory, _ key: RecordKey) throws -> RecordDirectory.Resident? {
        for _ in 0..<10 {
            _ = try directory.lookup(key)
            if let found = directory.residentLookup(key) { return found }
        }
        return nil
    }

    // MARK: Finding

    @Test("What is in memory is found like by another lookup, and may be replaced", .enabled(if: isSupported))
    func found() throws {
        let (directory, key) = (directory(), fixture.key("a"))
        try directory.store(key, "small", pattern(10), number: 0)
        try directory.store(key, "large", pattern(5_000), number: 2)
        let found = try #require(try resident(directory, key))
        #expect(try texts(found.records) == texts(directory.lookup(key).records))
        var writer = try directory.begin(key, if: found.condition)
        #expect(try writer.commit(head: []) != nil)
        try directory.invalidate(key)
        var late = try directory.begin(key, if: found.condition)
        #expect(try late.commit(head: []) == nil)
        #expect(directory.residentCondition() != nil)
    }

    @Test("A key that was never stored is known to be missing without a call for each of its names")
    func missing() throws {
        let opened = Mutex<[String]>([])
        var calls = FileCalls.system
        calls.openResident = { path, flags in
            opened.withLock { $0.append(path) }
            return ResidentOpen.open(path, flags)
        }
        let directory = directory(calls: calls)
        try directory.store(fixture.key("a"), "a", [])
        let found = directory.residentLookup(fixture.key("b"))
        #expect(found?.records.isEmpty ?? true)
        #expect((found != nil) == Self.isSupported)
        #expect(!opened.withLock { $0.contains { $0.hasSuffix(".record") } })
        // As another process finds it after a restart, with the index.
        try directory.writeIndex()
        let other = self.directory(calls: calls)
        try other.open()
        _ = try other.lookup(fixture.key("a"))
        #expect((other.residentLookup(fixture.key("b")) != nil) == Self.isSupported)
        #expect(!opened.withLock { $0.contains { $0.hasSuffix(".record") } })
    }

    @Test("An index that is older than the last commit of another process hides no record")
    func olderIndex() throws {
        let first = directory()
        try first.store(fixture.key("a"), "a", [])
        try first.writeIndex()
        try directory().store(fixture.key("b"), "b", [])
        let second = directory()
        try second.open()
        _ = try second.lookup(fixture.key("a"))
        let key = fixture.key("b")
        let records = try second.residentLookup(key)?.records ?? second.lookup(key).records
        #expect(records.map(\.headText) == ["b"])
    }

    // MARK: Other processes

    @Test("What another process has stored, replaced, invalidated or removed is seen at once, in any order")
    func otherProcesses() throws {
        var numbers = SeededNumbers(state: 3)
        let instances = [directory(), directory()]
        var count = 0
        for step in 0..<2_000 {
            let writer = instances[Int.random(in: 0...1, using: &numbers)]
            let text = "\(Int.random(in: 0..<6, using: &numbers))"
            let key = fixture.key(text, partition: .random(in: 1...2, using: &numbers))
            switch Int.random(in: 0..<20, using: &numbers) {
            case 0: try writer.removeAll(in: RecordScope(partition: key.name.partition))
            case 1: try writer.removeAll(in: RecordScope()) { $0 == key.bytes }
            case 2, 3: try writer.invalidate(key)
            case 4: if let record = try writer.lookup(key).records.first { writer.remove(record) }
            case 5:
                if let record = try writer.lookup(key).records.first {
                    _ = try writer.replaceHead(of: record, by: Array("head \(step)".utf8))
                }
            case 6: try writer.writeIndex()
            case 7: try writer.sweep()
            default:
                let size = Int.random(in: 0...2_000, using: &numbers)
                try writer.store(key, "\(step)", pattern(size), number: .random(in: 0...3, using: &numbers))
            }
            for number in 0..<6 {
                let key = fixture.key("\(number)", partition: .random(in: 1...2, using: &numbers))
                let expected = try texts(directory().lookup(key).records)
                for instance in instances {
                    guard let found = instance.residentLookup(key) else {
                        _ = try instance.lookup(key)
                        continue
                    }
                    count += 1
                    #expect(try texts(found.records) == expected, "step \(step)")
                }
            }
        }
        #expect(!Self.isSupported || count > 2_000)
    }

    @Test("In another directory under the same path, nothing of the former one is found")
    func otherDirectory() throws {
        let (directory, key) = (directory(), fixture.key("a"))
        try directory.store(key, "a", pattern(10))
        _ = try resident(directory, key)
        #expect(rename(fixture.path, fixture.path + "-moved") == 0)
        #expect(directory.residentLookup(key) == nil)
        try self.directory().store(key, "b", [])
        let records = try directory.residentLookup(key)?.records ?? directory.lookup(key).records
        #expect(records.map(\.headText) == ["b"])
    }

    // MARK: Giving up

    @Test("A file that is not in memory, or an older system, leaves the lookup to a file thread")
    func unknown() throws {
        let isKnown = Mutex(true)
        var calls = FileCalls.system
        calls.openResident = { path, flags in
            isKnown.withLock { $0 } ? ResidentOpen.open(path, flags) : .unknown
        }
        let (directory, key) = (directory(calls: calls), fixture.key("a"))
        try directory.store(key, "a", pattern(10))
        #expect((try resident(directory, key) != nil) == Self.isSupported)
        isKnown.withLock { $0 = false }
        #expect(directory.residentLookup(key) == nil)
        #expect(try directory.lookup(key).records.count == 1)
    }

    @Test("If any call fails, nothing is found without waiting")
    func faults() throws {
        let faulty = FaultyCalls()
        let (directory, key) = (directory(calls: faulty.calls), fixture.key("a"))
        try directory.store(key, "a", pattern(5_000))
        _ = try resident(directory, key)
        for step in 0..<50 {
            faulty.fail(after: step)
            let found = directory.residentLookup(key)
            guard faulty.failed != nil else {
                #expect(step > 5 || !Self.isSupported)
                return
            }
            #expect(found == nil)
            faulty.heal()
        }
        Issue.record("A lookup does not end.")
    }

    @Test("A record with any damaged byte, of any shorter length, or of others is not found")
    func damage() throws {
        let (directory, key) = (directory(), fixture.key("a"))
        try directory.store(key, "head", pattern(50))
        _ = try resident(directory, key)
        let (name, bytes) = (try #require(fixture.records.first), try fixture.bytes(fixture.records[0]))
        for position in bytes.indices {
            var changed = bytes
            changed[position] ^= 0x10
            try fixture.write(changed, name)
            #expect(directory.residentLookup(key) == nil)
            try fixture.write(Array(bytes[..<position]), name)
            #expect(directory.residentLookup(key) == nil)
        }
        try fixture.write(bytes, name)
        #expect((directory.residentLookup(key) != nil) == Self.isSupported)
        #expect(rename(fixture.path + "/" + name, fixture.path + "/other") == 0)
        #expect(symlink(fixture.path + "/other", fixture.path + "/" + name) == 0)
        #expect(directory.residentLookup(key) == nil)
    }

    @Test("Of a body with its own file, damaged, missing and short pieces are not read")
    func bodies() throws {
        let (directory, key) = (directory(), fixture.key("a"))
        let body = pattern(PieceChecksums.pieceSize + 5_000)
        try directory.store(key, "head", body)
        guard let found = try resident(directory, key) else {
            #expect(!Self.isSupported)
            return
        }
        guard case .file(let file) = try #require(found.records.first).body else {
            Issue.record("The body has no file.")
            return
        }
        let range = 10..<(PieceChecksums.pieceSize + 100)
        #expect(file.residentBytes(in: range).map { Array($0) } == Array(body[range]))
        var changed = body
        changed[PieceChecksums.pieceSize + 4_000] ^= 1
        try fixture.write(changed, fixture.bodies[0])
        #expect(file.residentBytes(in: range) == nil)
        #expect(file.residentBytes(in: 0..<100).map { Array($0) } == Array(body[..<100]))
        try fixture.write(Array(body.dropLast()), fixture.bodies[0])
        #expect(directory.residentLookup(key) == nil)
        #expect(file.residentBytes(in: range) == nil)
        unlink(fixture.path + "/" + fixture.bodies[0])
        #expect(directory.residentLookup(key) == nil)
    }

    @Test("The time of a use is written after a minute", .enabled(if: isSupported))
    func times() throws {
        let (directory, key) = (directory(), fixture.key("a"))
        try directory.store(key, "a", [])
        #expect(try #require(try resident(directory, key)).outdated.isEmpty)
        let path = fixture.path + "/" + fixture.records[0]
        let past = [timespec(tv_sec: time(nil) - 100, tv_nsec: 0), timespec(tv_sec: time(nil) - 100, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, path, past, 0) == 0)
        let outdated = try #require(directory.residentLookup(key)).outdated
        #expect(outdated.count == 1)
        directory.noteUse(of: outdated)
        #expect(try FileStatus(of: path).modified.seconds > time(nil) - 50)
        #expect(directory.residentLookup(key)?.outdated.isEmpty == true)
    }

    @Test("Names are opened if they are in memory, and links and foreign file systems are left to others")
    func opening() throws {
        let path = fixture.scratch("file")
        _ = try FileCalls.system.open(path, O_WRONLY | O_CREAT)
        #expect(symlink(path, fixture.scratch("link")) == 0)
        if case .missing = ResidentOpen.open(path, O_RDONLY | O_NOFOLLOW) { Issue.record("missing") }
        guard case .unknown = ResidentOpen.open(fixture.scratch("link"), O_RDONLY | O_NOFOLLOW) else {
            Issue.record("A link was followed.")
            return
        }
        #expect(!ResidentOpen.isLocal("/proc") && !ResidentOpen.isLocal(fixture.scratch("none")))
    }
}
