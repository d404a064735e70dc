import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsStorage

@Suite struct RecordIndexTests {
    private let fixture: RecordFixture
    private static let name = ".index"

    init() throws { fixture = try RecordFixture() }

    /// An instance that fails if it lists the directory.
    private func unlisted(_ maximumBytes: Int = 16 << 20) -> RecordDirectory {
        var calls = FileCalls.system
        calls.fault = { kind, _ in kind == .list ? EIO : nil }
        return fixture.directory(maximumBytes, calls: calls)
    }

    private func fill(_ directory: RecordDirectory) throws {
        for number in 0..<9 {
            try directory.store(
                fixture.key("\(number)"), "head", pattern(number % 2 == 0 ? 100 : 5_000), number: UInt8(number % 4))
        }
    }

    @Test("A directory with an index has the same counts without listing its files")
    func counts() throws {
        let directory = fixture.directory()
        try fill(directory)
        let usage = directory.usage
        #expect(throws: FileError(code: EIO)) { try unlisted().open() }
        try directory.writeIndex()
        let other = unlisted()
        try other.open()
        #expect(other.usage == usage && usage.count == 9)
        #expect(try fixture.bytes(Self.name).count == RecordIndex.size(for: 9))
        // Bodies are known too, so that they are removed with their records.
        for number in 0..<9 { try other.invalidate(fixture.key("\(number)")) }
        #expect(fixture.records.isEmpty && fixture.bodies.isEmpty && other.usage.bytes == 0)
    }

    @Test("Uses that an index has counted still keep a record after a new start")
    func uses() throws {
        let directory = fixture.directory()
        try fill(directory)
        for _ in 0..<3 { _ = try directory.record(for: fixture.key("0")) }
        try directory.writeIndex()
        // Without the index, this would be the least recently used record.
        for number in 1..<9 { _ = try directory.record(for: fixture.key("\(number)"), number: UInt8(number % 4)) }
        let other = unlisted(20_000)
        #expect(other.usage.bytes <= 20_000)
        #expect(try other.record(for: fixture.key("0")) != nil)
        #expect(try other.record(for: fixture.key("1"), number: 1) == nil)
    }

    @Test("A damaged, shorter, longer or unreadable index changes no counts")
    func damage() throws {
        let directory = fixture.directory()
        try fill(directory)
        try directory.writeIndex()
        let (usage, bytes) = (directory.usage, try fixture.bytes(Self.name))
        for position in bytes.indices {
            var changed = bytes
            changed[position] ^= 1
            #expect(RecordIndex(bytes: changed) == nil)
        }
        for changed in [[], Array(bytes.dropLast()), bytes + [0], pattern(bytes.count)] {
            try fixture.write(changed, Self.name)
            #expect(throws: FileError(code: EIO)) { try unlisted().open() }
            #expect(fixture.directory().usage == usage)
        }
        unlink(fixture.path + "/" + Self.name)
        symlink(fixture.path + "/.numbers", fixture.path + "/" + Self.name)
        #expect(fixture.directory().usage == usage)
    }

    @Test("An outdated index neither hides nor invents a record, and a sweep corrects it")
    func outdated() throws {
        let directory = fixture.directory()
        try fill(directory)
        try directory.writeIndex()
        try directory.invalidate(fixture.key("0"))
        try directory.store(fixture.key("1"), "new", pattern(9_000), number: 1)
        try directory.store(fixture.key("new"), "head", pattern(5_000))
        let usage = directory.usage
        try Data([1]).write(to: URL(filePath: fixture.path + "/.record-12.tmp"))
        let other = fixture.directory()
        try other.open()
        #expect(other.usage != usage)
        #expect(try other.record(for: fixture.key("0")) == nil)
        #expect(try other.record(for: fixture.key("1"), number: 1)?.bytes() == pattern(9_000))
        #expect(try other.record(for: fixture.key("new"))?.bytes() == pattern(5_000))
        try other.sweep()
        #expect(other.usage == usage && fixture.temporaries.isEmpty)
    }

    @Test("If any call fails, the old index or the new one stays")
    func faults() throws {
        for step in 0..<30 {
            try? FileManager.default.removeItem(atPath: fixture.path)
            let faulty = FaultyCalls()
            let directory = fixture.directory(calls: faulty.calls)
            try directory.store(fixture.key("a"), "head", [])
            try directory.writeIndex()
            try directory.store(fixture.key("b"), "head", [])
            faulty.fail(after: step)
            let isWritten = (try? directory.writeIndex()) != nil
            guard faulty.failed != nil else {
                #expect(isWritten && unlisted().usage.count == 2)
                return
            }
            #expect(unlisted().usage.count == (isWritten ? 2 : 1))
            #expect(fixture.temporaries.isEmpty)
        }
        Issue.record("Writing the index does not end.")
    }
}
