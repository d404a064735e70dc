import EssentialsStorage
import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

/// Records that are stored in one piece and one file.
@Suite struct RecordPutTests {
    private let fixture: RecordFixture

    init() throws { fixture = try RecordFixture() }

    /// A directory in which no body has its own file.
    private func directory(_ maximumBytes: Int = 1 << 20, calls: FileCalls = .system) -> RecordDirectory {
        fixture.directory(maximumBytes, calls: calls) { $0.largestInlineBody = $0.maximumRecordBytes }
    }

    private func put(
        _ text: String, _ body: [UInt8], partition: UInt64 = 1, in directory: RecordDirectory
    ) throws(FileError) {
        try directory.put(fixture.key(text, partition: partition), head: Array("head".utf8), body: body.span.bytes)
    }

    @Test("A record that is put is found with all its bytes, and is the only file", arguments: [0, 1, 20_000, 900_000])
    func roundTrip(size: Int) throws {
        try put("a", pattern(size), in: directory())
        let record = try #require(try directory().record(for: fixture.key("a")))
        #expect(record.headText == "head")
        #expect(try record.bytes() == pattern(size))
        #expect(fixture.names.count == 1)
        try directory().invalidate(fixture.key("a"))
        #expect(fixture.names.isEmpty)
    }

    @Test("A record replaces one whose body has its own file, and that file is removed")
    func replaces() throws {
        let directory = fixture.directory()
        try directory.store(fixture.key("a"), "old", pattern(5_000))
        try put("a", pattern(10), in: directory)
        #expect(try directory.record(for: fixture.key("a"))?.bytes() == pattern(10))
        #expect(fixture.bodies.isEmpty && fixture.records.count == 1)
    }

    @Test("A record that cannot be written displaces neither its predecessor nor others")
    func fullDisk() throws {
        try put("a", pattern(40_000), in: directory(100_000))
        try put("b", pattern(40_000), in: directory(100_000))
        var calls = FileCalls.system
        calls.write = { _, _ in -Int(ENOSPC) }
        let full = directory(100_000, calls: calls)
        #expect(throws: FileError(code: ENOSPC)) { try put("a", pattern(90_000), in: full) }
        for text in ["a", "b"] { #expect(try full.record(for: fixture.key(text)) != nil) }
        #expect(fixture.names.count == 2)
    }

    @Test("The record that was put last is never evicted for space, however large it is")
    func stays() throws {
        let directory = directory(100_000)
        for number in 0..<20 { try put("\(number)", pattern(3_000), in: directory) }
        for _ in 0..<4 { for number in 0..<20 { _ = try directory.record(for: fixture.key("\(number)")) } }
        for size in [20_000, 90_000] {
            try put("large", pattern(size), in: directory)
            #expect(try directory.record(for: fixture.key("large"))?.size == Int64(size))
            #expect(directory.usage.bytes <= 100_000)
        }
    }

    @Test("A record that is larger than the maximum is refused")
    func tooLarge() throws {
        let directory = directory(10_000)
        #expect(directory.canHold(fixture.key("a"), head: 4, body: 9_000))
        #expect(!directory.canHold(fixture.key("a"), head: 4, body: 10_000))
        #expect(throws: FileError(code: EFBIG)) { try put("a", pattern(10_000), in: directory) }
        #expect(fixture.names.isEmpty)
    }

    @Test("The head of a record that fills the directory is replaced, and the record stays")
    func replaceHead() throws {
        let directory = directory(100_000)
        try put("a", pattern(90_000), in: directory)
        let record = try #require(try directory.record(for: fixture.key("a")))
        #expect(try directory.replaceHead(of: record, by: Array("new".utf8)) != nil)
        let renewed = try #require(try directory.record(for: fixture.key("a")))
        #expect(renewed.headText == "new")
        #expect(try renewed.bytes() == pattern(90_000))
    }

    @Test("A removed directory is created again")
    func removedDirectory() throws {
        let directory = directory()
        try put("a", [1], in: directory)
        try FileManager.default.removeItem(atPath: fixture.path)
        try put("b", [2], in: directory)
        #expect(try directory.record(for: fixture.key("a")) == nil)
        #expect(try directory.record(for: fixture.key("b"))?.bytes() == [2])
    }

    @Test("A condition on keys is evaluated without reading more of a file than its key")
    func condition() throws {
        for text in ["a1", "a2", "b1"] { try put(text, pattern(9_000), in: directory()) }
        // The rest of the files is damaged.
        for name in fixture.records { try fixture.write(Array(try fixture.bytes(name).prefix(200)), name) }
        let directory = directory()
        try directory.removeAll(in: RecordScope(partition: 1)) { $0.first == UInt8(ascii: "a") }
        #expect(fixture.records == [fixture.key("b1").name.text])
    }

    @Test("A removal by condition of more records than are recorded one by one keeps the others of their scope")
    func manyByCondition() throws {
        let directory = directory(64 << 20)
        for number in 0..<4_200 { try put("a\(number)", [1], in: directory) }
        try put("b", [2], in: directory)
        try directory.removeAll(in: RecordScope(partition: 1)) { $0.first == UInt8(ascii: "a") }
        #expect(fixture.records.count == 1)
        for directory in [directory, self.directory(64 << 20)] {
            #expect(try directory.record(for: fixture.key("b"))?.bytes() == [2])
        }
    }

    @Test("Two directories that record removals at the same time lose none of them")
    func twoNotes() async throws {
        let fixture = fixture
        var calls = FileCalls.system
        calls.unlink = { $0.hasSuffix(".record") ? EPERM : FileCalls.system.unlink($0) }
        for number in 0..<60 { try put("\(number)", [1], in: directory()) }
        await withTaskGroup(of: Void.self) { group in
            for part in [0..<30, 30..<60] {
                let directory = directory(calls: calls)
                group.addTask {
                    for number in part {
                        #expect(throws: FileError(code: EPERM)) { try directory.invalidate(fixture.key("\(number)")) }
                    }
                    #expect(directory.hasNotedRemovals)
                }
            }
        }
        let other = directory(calls: calls)
        for number in 0..<60 { #expect(try other.record(for: fixture.key("\(number)")) == nil) }
        #expect(fixture.records.count == 60)
    }

    @Test("A removal in a directory that cannot be opened hides the record, and is reported as unwritten")
    func unusable() throws {
        try put("a", [1], in: directory())
        var calls = FileCalls.system
        let faulty = FaultyDirectory()
        calls.fault = { kind, _ in faulty.isBroken && (kind == .list || kind == .lock) ? EIO : nil }
        let directory = directory(calls: calls)
        #expect(throws: FileError(code: EIO)) { try directory.invalidate(fixture.key("a")) }
        #expect(!directory.hasNotedRemovals)
        faulty.heal()
        #expect(try directory.record(for: fixture.key("a")) == nil)
    }

    private final class FaultyDirectory: Sendable {
        private let broken = Mutex(true)

        var isBroken: Bool { broken.withLock { $0 } }

        func heal() { broken.withLock { $0 = false } }
    }

    @Test("A sweep removes the files of earlier formats, and no other program's file")
    func outdated() throws {
        try put("a", [1], in: directory())
        for name in ["1.old", "2.old", "3.new"] { try Data([1]).write(to: URL(filePath: fixture.path + "/" + name)) }
        symlink(fixture.path + "/3.new", fixture.path + "/4.old")
        let directory = fixture.directory { $0.isOutdated = { $0.hasSuffix(".old") } }
        #expect(directory.usage.count == 1)
        #expect(fixture.names.filter { !$0.hasSuffix(".record") } == ["3.new", "4.old"])
    }
}
