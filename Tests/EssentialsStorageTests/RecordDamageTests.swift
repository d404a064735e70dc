import EssentialsStorage
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct RecordDamageTests {
    private let fixture: RecordFixture

    init() throws { fixture = try RecordFixture() }

    @Test("Each changed byte of a record's file is found before it is used", arguments: [20, 2_000])
    func changedBytes(size: Int) throws {
        let key = fixture.key("a")
        try fixture.directory().store(key, "head", pattern(size))
        let name = try #require(fixture.records.first)
        let bytes = try fixture.bytes(name)
        let directory = fixture.directory()
        for index in bytes.indices {
            // The bodies of dropped records are removed, so each byte has its own store.
            try fixture.directory().store(key, "head", pattern(size))
            let present = try #require(fixture.records.first)
            var stored = try fixture.bytes(present)
            #expect(stored.count == bytes.count)
            stored[index] ^= UInt8(1 << (index % 8))
            try fixture.write(stored, present)
            #expect(try directory.record(for: key) == nil, "byte \(index)")
        }
        #expect(directory.usage.damaged == bytes.count)
        #expect(fixture.records.isEmpty)
    }

    @Test("Each changed length of a record's file is found")
    func lengths() throws {
        let key = fixture.key("a")
        let directory = fixture.directory()
        try directory.store(key, "head", pattern(50))
        let name = try #require(fixture.records.first)
        let bytes = try fixture.bytes(name)
        for count in bytes.indices {
            try directory.store(key, "head", pattern(50))
            try fixture.write(Array(bytes[..<count]), name)
            #expect(try directory.record(for: key) == nil, "\(count) bytes")
        }
    }

    @Test("Damage of a large body is found before a byte of its piece is returned")
    func bodyDamage() throws {
        let key = fixture.key("a")
        let directory = fixture.directory()
        try directory.store(key, "head", pattern(2_200_000))
        let name = try #require(fixture.bodies.first)
        var bytes = try fixture.bytes(name)
        bytes[1_500_000] ^= 4
        try fixture.write(bytes, name)
        let record = try #require(try directory.record(for: key))
        guard case .file(let file) = record.body else {
            Issue.record("The body is no file.")
            return
        }
        #expect(try file.piece(0) == Data(bytes[..<1_048_576]))
        #expect(try file.piece(1) == nil && file.bytes(in: 1_048_576..<1_048_577) == nil)
        #expect(try file.piece(2) == Data(bytes[2_097_152...]))
        directory.discard(record)
        #expect(try directory.record(for: key) == nil)
        #expect(fixture.names.allSatisfy { !$0.hasSuffix(".record") && !$0.hasSuffix(".body") })
    }

    @Test("A record is not discarded after another one has replaced it")
    func discardLate() throws {
        let directory = fixture.directory()
        let old = try #require(try directory.store(fixture.key("a"), "1", []))
        try directory.store(fixture.key("a"), "2", [])
        directory.discard(old)
        #expect(try directory.record(for: fixture.key("a"))?.headText == "2")
    }

    @Test("A body that is missing, shorter or longer invalidates its record", arguments: [-1, 0, 1, 2_999, 3_001])
    func bodySize(size: Int) throws {
        let directory = fixture.directory()
        try directory.store(fixture.key("a"), "head", pattern(3_000))
        let name = try #require(fixture.bodies.first)
        if size < 0 { unlink(fixture.path + "/" + name) } else { try fixture.write(pattern(size), name) }
        #expect(try directory.record(for: fixture.key("a")) == nil)
        let usage = directory.usage
        #expect(usage.count == 0 && usage.bytes == 0 && usage.damaged == 1)
    }

    @Test("Links, directories and too large files in the place of a record are removed and not read")
    func foreignFiles() throws {
        let directory = fixture.directory()
        try directory.store(fixture.key("a"), "head", [1])
        let name = try #require(fixture.records.first)
        let path = fixture.path + "/" + name
        let other = fixture.scratch("other")
        rename(path, other)
        symlink(other, path)
        #expect(try directory.record(for: fixture.key("a")) == nil)
        #expect(fixture.records.isEmpty)
        #expect(FileManager.default.fileExists(atPath: other))
        try directory.store(fixture.key("a"), "head", [1])
        try fixture.write([UInt8](repeating: 0, count: 20 << 20), name)
        #expect(try directory.record(for: fixture.key("a")) == nil)
        #expect(fixture.records.isEmpty)
    }

    @Test("A record of another format is not found, and is removed")
    func otherFormat() throws {
        try fixture.directory { $0.version = 2 }.store(fixture.key("a"), "head", pattern(3_000))
        #expect(try fixture.directory().record(for: fixture.key("a")) == nil)
        #expect(fixture.records.isEmpty)
        try fixture.directory().sweep()
        #expect(fixture.bodies.isEmpty)
    }

    @Test("A damaged file of removals hides all earlier records, and no later ones")
    func damagedRemovals() throws {
        try fixture.directory().store(fixture.key("a"), "1", [])
        try fixture.directory().removeAll(in: RecordScope(partition: 9))
        try fixture.write([1, 2, 3], ".removals")
        let directory = fixture.directory()
        #expect(try directory.record(for: fixture.key("a")) == nil)
        try directory.store(fixture.key("a"), "2", [])
        #expect(try fixture.directory().record(for: fixture.key("a"))?.headText == "2")
    }

    @Test("Damage of a body that is found several times counts once, and removes no later record")
    func discardTwice() throws {
        let (directory, key) = (fixture.directory(), fixture.key("a"))
        let record = try #require(try directory.store(key, "1", pattern(5_000)))
        for _ in 0..<3 { directory.discard(record) }
        #expect(directory.usage.damaged == 1 && fixture.bodies.isEmpty)
        try directory.store(key, "2", pattern(5_000))
        directory.discard(record)
        #expect(directory.usage.damaged == 1)
        #expect(try directory.record(for: key)?.headText == "2")
    }

    @Test("If a record's head is damaged, its body is removed too")
    func bodyOfDamagedHead() throws {
        let (directory, key) = (fixture.directory(), fixture.key("a"))
        try directory.store(key, "head", pattern(5_000))
        try fixture.write([1, 2, 3], try #require(fixture.records.first))
        #expect(try directory.record(for: key) == nil)
        #expect(fixture.records.isEmpty && fixture.bodies.isEmpty)
    }

    @Test("A record with a damaged body is discarded even if its head was replaced since it was read")
    func discardAfterReplacedHead() throws {
        let (directory, key) = (fixture.directory(), fixture.key("a"))
        let record = try #require(try directory.store(key, "1", pattern(5_000)))
        #expect(try directory.replaceHead(of: record, by: [2]) != nil)
        directory.discard(record)
        #expect(try directory.record(for: key) == nil && directory.usage.damaged == 1)
    }
}
