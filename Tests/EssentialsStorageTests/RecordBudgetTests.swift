import EssentialsStorage
import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@Suite struct RecordBudgetTests {
    private let fixture: RecordFixture

    init() throws { fixture = try RecordFixture() }

    /// The space that the files take on the disk, in whole blocks.
    private var byteCount: Int {
        get throws {
            try (fixture.records + fixture.bodies).reduce(0) {
                $0 + (try fixture.bytes($1).count + 4_095) / 4_096 * 4_096
            }
        }
    }

    @Test("The files never take more than the maximum, even with large bodies")
    func bytes() throws {
        let directory = fixture.directory(100_000)
        for number in 0..<60 {
            try directory.store(fixture.key("\(number)"), "head", pattern(number % 3 == 0 ? 20_000 : 500))
            #expect(try byteCount <= 100_000)
        }
        #expect(try directory.usage.bytes == byteCount)
        #expect(fixture.bodies.allSatisfy { body in fixture.records.contains { body.hasPrefix($0.dropLast(7)) } })
    }

    @Test("There are never more records than the maximum")
    func count() throws {
        let directory = fixture.directory { $0.maximumCount = 5 }
        for number in 0..<20 { try directory.store(fixture.key("\(number)"), "head", []) }
        #expect(fixture.records.count == 5)
    }

    @Test("A record that is too large is refused in every way of storing, and leaves no file")
    func tooLarge() throws {
        let directory = fixture.directory(100_000) { $0.maximumRecordBytes = 50_000 }
        #expect(throws: FileError(code: EFBIG)) { try directory.store(fixture.key("a"), "head", pattern(50_001)) }
        var writer = try directory.begin(fixture.key("a"))
        try pattern(40_000).withUnsafeBytes { try writer.append($0) }
        #expect(throws: FileError(code: EFBIG)) { try pattern(20_000).withUnsafeBytes { try writer.append($0) } }
        writer.abandon()
        #expect(fixture.records.isEmpty && fixture.bodies.isEmpty && fixture.temporaries.isEmpty)
        // All space was released.
        for number in 0..<3 { try directory.store(fixture.key("\(number)"), "head", pattern(40_000)) }
        #expect(directory.usage.count == 2)
    }

    @Test("Records that are being written count, so that several of them stay within the maximum together")
    func reserved() throws {
        let directory = fixture.directory(100_000)
        var writers = [try directory.begin(fixture.key("a")), try directory.begin(fixture.key("b"))]
        try pattern(60_000).withUnsafeBytes { try writers[0].append($0) }
        #expect(throws: FileError(code: EFBIG)) { try pattern(60_000).withUnsafeBytes { try writers[1].append($0) } }
        writers[0].abandon()
        try pattern(60_000).withUnsafeBytes { try writers[1].append($0) }
        #expect(try writers[1].commit(head: []) != nil)
    }

    @Test("A later start counts the existing records and removes the least recently used ones")
    func laterStart() throws {
        do {
            let directory = fixture.directory()
            for number in 0..<10 {
                try directory.store(fixture.key("\(number)"), "head", pattern(3_000))
                // Times of files can be as coarse as a tick of the kernel.
                usleep(15_000)
            }
            _ = try directory.record(for: fixture.key("0"))
        }
        let directory = fixture.directory(50_000)
        #expect(directory.usage.bytes <= 50_000)
        #expect(try directory.record(for: fixture.key("0")) != nil)
        #expect(try directory.record(for: fixture.key("1")) == nil)
        #expect(try directory.record(for: fixture.key("9")) != nil)
        #expect(fixture.records.count == fixture.bodies.count)
    }

    @Test("A sweep counts the records of other processes, and keeps all of them within the maximum")
    func sweep() throws {
        let (one, other) = (fixture.directory(60_000), fixture.directory(60_000))
        for number in 0..<7 {
            try one.store(fixture.key("a\(number)"), "head", pattern(500))
            try other.store(fixture.key("b\(number)"), "head", pattern(2_000))
        }
        try one.sweep()
        #expect(try byteCount <= 60_000)
        #expect(try one.usage.bytes == byteCount)
    }

    @Test("A sweep removes files that killed processes have left, but no file in use")
    func leftovers() throws {
        let directory = fixture.directory()
        try directory.store(fixture.key("a"), "head", pattern(2_000))
        var writer = try directory.begin(fixture.key("b"))
        try pattern(5_000).withUnsafeBytes { try writer.append($0) }
        let body = try #require(fixture.bodies.first)
        // The body of a record whose head was never written, a second body of a record, and a temporary file.
        for name in [
            RecordBodyName(fixture.key("c").name, 1).text, RecordBodyName(fixture.key("a").name, 1).text,
            ".record-12.tmp",
        ] {
            try Data([1]).write(to: URL(filePath: fixture.path + "/" + name))
        }
        try directory.sweep()
        #expect(fixture.bodies == [body] && fixture.temporaries.count == 1)
        #expect(try writer.commit(head: []) != nil)
        #expect(try fixture.directory().record(for: fixture.key("b"))?.bytes() == pattern(5_000))
        #expect(try fixture.directory().record(for: fixture.key("a"))?.bytes() == pattern(2_000))
    }

    @Test("Other programs' files in the directory stay")
    func others() throws {
        let directory = fixture.directory(50_000)
        try directory.store(fixture.key("a"), "head", [])
        for name in ["note.txt", "x.record", "x.body", ".record-x"] {
            try Data([1]).write(to: URL(filePath: fixture.path + "/" + name))
        }
        try directory.sweep()
        try directory.removeAll(in: RecordScope())
        let left = fixture.names.filter { ![".numbers", ".removals"].contains($0) }
        #expect(left == [".record-x", "note.txt", "x.body", "x.record"])
    }

    @Test("Open bodies can be read after their record was replaced or evicted")
    func openBody() throws {
        let directory = fixture.directory()
        let record = try #require(try directory.store(fixture.key("a"), "head", pattern(5_000)))
        try directory.store(fixture.key("a"), "head", pattern(5_000, 1))
        #expect(fixture.bodies.count == 1)
        try directory.invalidate(fixture.key("a"))
        #expect(try record.bytes() == pattern(5_000))
    }

    @Test("A record whose last block is beyond the maximum is kept if it fits alone, unless only whole blocks count")
    func lastBlock() throws {
        for isAllowed in [true, false] {
            let directory = fixture.directory(40_000) { $0.allowsLastBlockBeyond = isAllowed }
            let key = fixture.key("a")
            if isAllowed {
                #expect(try directory.store(key, "head", pattern(39_000)) != nil)
                try directory.invalidate(key)
            } else {
                #expect(throws: FileError(code: EFBIG)) { try directory.store(key, "head", pattern(39_000)) }
                #expect(fixture.records.isEmpty && fixture.bodies.isEmpty && fixture.temporaries.isEmpty)
                #expect(try directory.store(key, "head", pattern(30_000)) != nil)
                #expect(try byteCount <= 40_000)
            }
        }
    }

    @Test("A sweep removes files of an earlier format if they are not locked")
    func outdated() throws {
        try fixture.directory().store(fixture.key("a"), "head", pattern(2_000))
        for name in ["1.old", "2.old", "3.older"] {
            try Data([1]).write(to: URL(filePath: fixture.path + "/" + name))
        }
        let held = try OpenFile(fixture.path + "/2.old", O_RDWR)
        #expect(try held.lock(withoutLocks: true))
        let directory = fixture.directory { $0.isOutdated = { $0.hasSuffix(".old") } }
        #expect(try directory.record(for: fixture.key("a")) != nil)
        #expect(fixture.names.filter { $0.contains(".old") } == ["2.old", "3.older"])
        #expect(directory.usage.damaged == 0)
        withExtendedLifetime(held) {}
    }

    @Test("If every body is a file, a start finds unused bodies and removes them without reading a record")
    func startWithoutReading() throws {
        let one = fixture.directory { $0.largestInlineBody = 0 }
        for number in 0..<10 { try one.store(fixture.key("\(number)"), "head", pattern(number * 1_000 + 1)) }
        #expect(fixture.bodies.count == 10)
        let names = [RecordBodyName(fixture.key("0").name, 1).text, RecordBodyName(fixture.key("x").name, 1).text]
        for name in names { try Data([1]).write(to: URL(filePath: fixture.path + "/" + name)) }
        let opened = Mutex<[String]>([])
        var calls = FileCalls.system
        calls.fault = { kind, path in
            if kind == .open, path.hasSuffix(".record") { opened.withLock { $0.append(path) } }
            return nil
        }
        let next = fixture.directory(calls: calls) { $0.largestInlineBody = 0 }
        #expect(try next.usage.bytes == byteCount)
        #expect(fixture.bodies.count == 10 && !fixture.bodies.contains { names.contains($0) })
        // Only the record with two bodies, and the missing record of the other body, are opened.
        #expect(Set(opened.withLock { $0 }).count == 2)
        for number in 0..<10 {
            #expect(try next.record(for: fixture.key("\(number)"))?.bytes() == pattern(number * 1_000 + 1))
        }
    }
}
