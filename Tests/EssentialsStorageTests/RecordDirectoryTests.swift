import EssentialsStorage
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct RecordDirectoryTests {
    private let fixture: RecordFixture

    init() throws { fixture = try RecordFixture() }

    @Test("A record is found by its key with head and body, small or large", arguments: [0, 1, 999, 1_001, 2_500_000])
    func roundTrip(size: Int) throws {
        let body = pattern(size)
        try fixture.directory().store(fixture.key("a"), "head", body)
        let record = try #require(try fixture.directory().record(for: fixture.key("a")))
        #expect(record.headText == "head" && record.size == Int64(size))
        #expect(try record.bytes() == body)
        #expect(fixture.bodies.count == (size > 1_000 ? 1 : 0))
        #expect(try fixture.directory().record(for: fixture.key("b")) == nil)
        #expect(fixture.temporaries.isEmpty)
    }

    @Test("Directory and files can be used only by their user")
    func permissions() throws {
        try fixture.directory().store(fixture.key("a"), "head", pattern(2_000))
        #expect(try FileStatus(of: fixture.path).permissions == 0o700)
        for name in fixture.names {
            #expect(try FileStatus(of: fixture.path + "/" + name).permissions == 0o600, "\(name)")
        }
    }

    @Test("A directory that is a link, a file, or writable for others is refused")
    func foreignDirectory() throws {
        let target = fixture.scratch("target")
        mkdir(target, 0o700)
        symlink(target, fixture.path)
        #expect(throws: FileError(code: ELOOP)) { try fixture.directory().store(fixture.key("a"), "head", []) }
        unlink(fixture.path)
        for mode in [0o770, 0o702] as [mode_t] {
            mkdir(fixture.path, 0o700)
            chmod(fixture.path, mode)
            #expect(throws: FileError(code: EPERM)) { try fixture.directory().store(fixture.key("a"), "head", []) }
            rmdir(fixture.path)
        }
        try fixture.scratch.write("x", "records")
        #expect(throws: FileError(code: ENOTDIR)) { try fixture.directory().store(fixture.key("a"), "head", []) }
    }

    @Test("On request a body has its own file, which contains only its bytes")
    func bodyFile() throws {
        try fixture.directory().store(fixture.key("a"), "head", Array("text".utf8), isFile: true)
        let name = try #require(fixture.bodies.first)
        #expect(try fixture.bytes(name) == Array("text".utf8))
        #expect(try fixture.directory().record(for: fixture.key("a"))?.bytes() == Array("text".utf8))
    }

    @Test("Several records have one key")
    func numbers() throws {
        let directory = fixture.directory()
        for number in 0..<4 as Range<UInt8> {
            try directory.store(fixture.key("a"), "\(number)", pattern(2_000, number), number: number)
        }
        #expect(try fixture.directory().records(for: fixture.key("a")).map(\.headText) == ["0", "1", "2", "3"])
        #expect(throws: FileError(code: EFBIG)) { try directory.store(fixture.key("a"), "4", [], number: 4) }
        try directory.invalidate(fixture.key("a"))
        #expect(try fixture.directory().records(for: fixture.key("a")).isEmpty)
        #expect(fixture.records.isEmpty && fixture.bodies.isEmpty)
    }

    @Test("Two keys with the same hash are distinguished")
    func equalNames() throws {
        let directory = fixture.directory()
        try directory.store(fixture.key("a"), "head", [1])
        let other = RecordKey(fixture.key("a").name, Array("other".utf8))
        #expect(try directory.record(for: other) == nil)
        #expect(try directory.record(for: fixture.key("a")) != nil)
    }

    @Test("A body is appended in pieces, and its parts are checked before they are read")
    func pieces() throws {
        let directory = fixture.directory()
        let body = pattern(3_000_000)
        var writer = try directory.begin(fixture.key("a"))
        var position = 0
        for size in [1, 998, 1, 1, 100_000, 1 << 20, 3_000_000] {
            let end = min(position + size, body.count)
            try body[position..<end].withUnsafeBytes { try writer.append($0) }
            position = end
        }
        #expect(writer.size == 3_000_000)
        #expect(fixture.temporaries.count == 1)
        let record = try #require(try writer.commit(head: []))
        guard case .file(let file) = record.body else {
            Issue.record("The body is no file.")
            return
        }
        for range in [0..<1, 1_048_575..<1_048_577, 2_999_999..<3_000_000, 5..<2_500_000, 7..<7] {
            #expect(try file.bytes(in: range) == Data(body[range]), "\(range)")
        }
        #expect(try file.bytes(in: 0..<3_000_001) == nil)
    }

    @Test("A record that is not committed is never found")
    func abandoned() throws {
        let directory = fixture.directory()
        var writer = try directory.begin(fixture.key("a"))
        try pattern(5_000).withUnsafeBytes { try writer.append($0) }
        #expect(try directory.record(for: fixture.key("a")) == nil)
        writer.abandon()
        #expect(fixture.temporaries.isEmpty && fixture.bodies.isEmpty)
    }

    // MARK: Heads

    @Test("A head is replaced without touching the body", arguments: [10, 5_000])
    func replaceHead(size: Int) throws {
        let directory = fixture.directory()
        let old = try #require(try directory.store(fixture.key("a"), "old", pattern(size)))
        let before = try fixture.bodies.map { try fixture.inode($0) }
        let new = try #require(try directory.replaceHead(of: old, by: Array("a longer head".utf8)))
        #expect(new.id == old.id && new.revision != old.revision)
        #expect(try fixture.bodies.map { try fixture.inode($0) } == before)
        for record in [new, try #require(try fixture.directory().record(for: fixture.key("a")))] {
            #expect(record.headText == "a longer head")
            #expect(try record.bytes() == pattern(size))
        }
    }

    @Test("A head is not replaced after another head, another body or a removal")
    func replaceLate() throws {
        let (directory, other) = (fixture.directory(), fixture.directory())
        let key = fixture.key("a")
        let first = try #require(try directory.store(key, "1", pattern(10)))
        #expect(try other.replaceHead(of: first, by: [2]) != nil)
        #expect(try directory.replaceHead(of: first, by: [3]) == nil)
        let second = try #require(try directory.record(for: key))
        try other.store(key, "4", pattern(20))
        #expect(try directory.replaceHead(of: second, by: [5]) == nil)
        let third = try #require(try directory.record(for: key))
        try other.removeAll(in: RecordScope(partition: 1))
        #expect(try directory.replaceHead(of: third, by: [6]) == nil)
        #expect(fixture.records.isEmpty)
    }

    // MARK: Commits

    @Test("A record is not stored if its key was invalidated since it was begun, even if no record existed before")
    func invalidatedMeanwhile() throws {
        let (directory, other) = (fixture.directory(), fixture.directory())
        for body in [pattern(10), pattern(5_000)] {
            var writer = try directory.begin(fixture.key("a"))
            try body.withUnsafeBytes { try writer.append($0) }
            try other.invalidate(fixture.key("a"))
            #expect(try writer.commit(head: []) == nil)
        }
        #expect(fixture.records.isEmpty && fixture.bodies.isEmpty && fixture.temporaries.isEmpty)
        #expect(try directory.store(fixture.key("a"), "head", []) != nil)
    }

    @Test("A record of a scope that was removed since it was begun is not stored")
    func removedMeanwhile() throws {
        let scopes = [
            RecordScope(), RecordScope(partition: 1), RecordScope(group: 1), RecordScope(partition: 1, group: 1),
        ]
        let (directory, other) = (fixture.directory(), fixture.directory())
        for scope in scopes {
            var writer = try directory.begin(fixture.key("a"))
            try other.removeAll(in: scope)
            #expect(try writer.commit(head: []) == nil)
        }
        var writer = try directory.begin(fixture.key("a"))
        try other.removeAll(in: RecordScope(partition: 2))
        try other.removeAll(in: RecordScope(partition: 1, group: 2))
        #expect(try writer.commit(head: []) != nil)
    }

    @Test("An invalidation is noticed even if the open file of numbers was replaced")
    func replacedNumbers() throws {
        let (directory, other) = (fixture.directory(), fixture.directory())
        try directory.store(fixture.key("a"), "head", [])
        unlink(fixture.path + "/.numbers")
        var writers = [try directory.begin(fixture.key("a")), try other.begin(fixture.key("a"))]
        try fixture.directory().invalidate(fixture.key("a"))
        for index in writers.indices { #expect(try writers[index].commit(head: []) == nil) }
        #expect(fixture.records.isEmpty)
    }

    @Test("The loss of the numbers file only prevents running commits")
    func lostNumbers() throws {
        let directory = fixture.directory()
        var writer = try directory.begin(fixture.key("a"))
        unlink(fixture.path + "/.numbers")
        #expect(try writer.commit(head: []) == nil)
        #expect(try directory.store(fixture.key("a"), "head", []) != nil)
    }

    // MARK: Removal

    @Test("Removing a scope removes its records, and no others")
    func removeScope() throws {
        let directory = fixture.directory()
        for partition in 0..<3 as Range<UInt64> {
            for group in 0..<3 as Range<UInt64> {
                try directory.store(
                    fixture.key("a", partition: partition, group: group), "head", pattern(3_000, UInt8(partition)))
            }
        }
        try fixture.directory().removeAll(in: RecordScope(partition: 1))
        try fixture.directory().removeAll(in: RecordScope(group: 2))
        for partition in 0..<3 as Range<UInt64> {
            for group in 0..<3 as Range<UInt64> {
                let record = try directory.record(for: fixture.key("a", partition: partition, group: group))
                #expect((record != nil) == (partition != 1 && group != 2))
            }
        }
        #expect(fixture.records.count == 4 && fixture.bodies.count == 4)
    }

    @Test("A removal by condition removes only the records whose keys fulfil it")
    func removeByKey() throws {
        let directory = fixture.directory()
        for text in ["a1", "a2", "b1"] { try directory.store(fixture.key(text), text, []) }
        try directory.removeAll(in: RecordScope(partition: 1)) { $0.first == UInt8(ascii: "a") }
        #expect(try directory.record(for: fixture.key("a1")) == nil)
        #expect(try directory.record(for: fixture.key("b1")) != nil)
        #expect(fixture.records.count == 1)
        #expect(try directory.store(fixture.key("a1"), "new", []) != nil)
        #expect(try fixture.directory().record(for: fixture.key("a1"))?.headText == "new")
    }

    @Test("A record that could not be removed is not read by any process until it is stored again")
    func keptFile() throws {
        try fixture.directory().store(fixture.key("a"), "old", pattern(3_000))
        var calls = FileCalls.system
        calls.unlink = { $0.hasSuffix(".record") ? EPERM : FileCalls.system.unlink($0) }
        let directory = fixture.directory(calls: calls)
        #expect(throws: FileError(code: EPERM)) { try directory.removeAll(in: RecordScope(partition: 1)) }
        #expect(directory.hasNotedRemovals && fixture.records.count == 1)
        #expect(try directory.record(for: fixture.key("a")) == nil)
        #expect(try directory.store(fixture.key("a"), "new", []) != nil)
        #expect(try fixture.directory().record(for: fixture.key("a"))?.headText == "new")
    }

    @Test("Removing a scope removes the body of a record that cannot be removed, and unused bodies")
    func removedBodies() throws {
        var calls = FileCalls.system
        calls.unlink = { $0.hasSuffix(".record") ? EPERM : FileCalls.system.unlink($0) }
        let directory = fixture.directory(calls: calls)
        let (one, other) = (fixture.key("a"), fixture.key("b", partition: 2))
        try directory.store(one, "old", pattern(3_000))
        try directory.store(other, "other", pattern(3_000))
        let kept = RecordBodyName(fixture.key("c", partition: 2).name, 1).text
        for name in [RecordBodyName(fixture.key("c").name, 1).text, kept] {
            try Data([1]).write(to: URL(filePath: fixture.path + "/" + name))
        }
        #expect(throws: FileError(code: EPERM)) { try directory.removeAll(in: RecordScope(partition: 1)) }
        #expect(fixture.records.count == 2 && fixture.bodies.count == 2 && fixture.bodies.contains(kept))
        #expect(try directory.record(for: one) == nil)
        #expect(try directory.record(for: other)?.bytes() == pattern(3_000))
    }
}
