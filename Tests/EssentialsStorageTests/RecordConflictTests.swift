import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsStorage

/// Tests with another instance, which represents another process and changes the directory meanwhile, and tests in
/// which the shared files are lost or cannot be used.
@Suite struct RecordConflictTests {
    private let fixture: RecordFixture

    init() throws { fixture = try RecordFixture() }

    private func isWhole() -> Bool {
        fixture.bodies.allSatisfy { body in fixture.records.contains { body.hasPrefix($0.dropLast(7)) } }
    }

    // MARK: Others

    @Test("A record that another process has replaced leaves no body when it is removed or evicted")
    func replacedByOthers() throws {
        let (one, other) = (fixture.directory(), fixture.directory())
        for key in ["a", "b"].map({ fixture.key($0) }) {
            try one.store(key, "1", pattern(5_000))
            try other.store(key, "2", pattern(6_000))
        }
        try one.invalidate(fixture.key("a"))
        #expect(fixture.bodies.count == 1 && isWhole())
        one.evict(bytes: 1 << 30)
        #expect(fixture.bodies.isEmpty && fixture.records.isEmpty)
    }

    @Test("A record that is stored while others are evicted or removed keeps its body", .timeLimit(.minutes(5)))
    func atOnce() async throws {
        let directory = fixture.directory(60_000)
        await withTaskGroup { group in
            for number in 0..<4 {
                group.addTask { [fixture] in
                    for round in 0..<150 {
                        let key = fixture.key("\((number + round) % 5)")
                        switch round % 7 {
                        case 5: try? directory.invalidate(key)
                        case 6: try? directory.removeAll(in: RecordScope(partition: UInt64(round % 2)))
                        default: _ = try? directory.store(key, "head", pattern(round % 2 == 0 ? 9_000 : 100))
                        }
                        await Task.yield()
                    }
                }
            }
        }
        #expect(isWhole())
        #expect(directory.hasNotedRemovals && fixture.temporaries.isEmpty)
        let usage = directory.usage
        #expect(usage.count == fixture.records.count && usage.damaged == 0)
        for number in 0..<5 {
            if let record = try directory.record(for: fixture.key("\(number)")) { #expect(try record.bytes() != nil) }
        }
    }

    @Test("Several processes together stay near the maximum")
    func manyProcesses() throws {
        let directories = (0..<4).map { _ in fixture.directory(100_000) }
        for round in 0..<200 {
            try directories[round % 4].store(fixture.key("\(round)"), "head", pattern(2_000))
        }
        let bytes = fixture.bodies.count * 8_192
        #expect(bytes <= 200_000)
    }

    @Test("A record that was just stored stays, even if the process then counts the records of others")
    func newest() throws {
        let (one, other) = (fixture.directory(64 << 10), fixture.directory(64 << 10))
        for round in 0..<40 {
            for (number, directory) in [one, other].enumerated() {
                let key = fixture.key("\(number)-\(round % 9)")
                try directory.store(key, "head", pattern(7_000))
                #expect(try fixture.directory(1 << 30).record(for: key) != nil, "round \(round), \(number)")
            }
        }
    }

    // MARK: A removed directory

    @Test("A removed directory is created again, whatever is called first", arguments: 0..<4)
    func removedDirectory(call: Int) throws {
        let directory = fixture.directory()
        try directory.store(fixture.key("a"), "head", pattern(5_000))
        try FileManager.default.removeItem(atPath: fixture.path)
        switch call {
        case 0: try directory.invalidate(fixture.key("a"))
        case 1: try directory.removeAll(in: RecordScope(partition: 1))
        case 2: try directory.sweep()
        default: #expect(try directory.record(for: fixture.key("a")) == nil)
        }
        #expect(directory.hasNotedRemovals)
        #expect(try directory.store(fixture.key("a"), "new", pattern(5_000)) != nil)
        #expect(try fixture.directory().record(for: fixture.key("a"))?.headText == "new")
    }

    // MARK: Shared files

    @Test("If the removals file is lost, no earlier record is read, even after new removals")
    func lostRemovals() throws {
        let directory = fixture.directory()
        try directory.removeAll(in: RecordScope(partition: 5))
        try directory.store(fixture.key("a"), "old", pattern(5_000))
        unlink(fixture.path + "/.removals")
        #expect(try directory.record(for: fixture.key("a")) == nil)
        for number in 0..<10 { try directory.removeAll(in: RecordScope(partition: UInt64(number + 5))) }
        #expect(try directory.record(for: fixture.key("a")) == nil)
        #expect(try fixture.directory().record(for: fixture.key("a")) == nil)
        try directory.store(fixture.key("a"), "new", [])
        #expect(try fixture.directory().record(for: fixture.key("a"))?.headText == "new")
    }

    @Test("A removals file that is unreadable for a moment loses no record", arguments: [EMFILE, EIO])
    func unreadableRemovals(code: Int32) throws {
        let fails = Flag()
        var calls = FileCalls.system
        calls.fault = { kind, path in
            fails.value.load(ordering: .relaxed) && kind == .open && path.hasSuffix(".removals") ? code : nil
        }
        let directory = fixture.directory(calls: calls)
        try directory.store(fixture.key("a"), "head", [])
        try fixture.directory().removeAll(in: RecordScope(partition: 9))
        fails.value.store(true, ordering: .relaxed)
        #expect(throws: FileError(code: code)) { try directory.record(for: fixture.key("a")) }
        fails.value.store(false, ordering: .relaxed)
        #expect(try directory.record(for: fixture.key("a"))?.headText == "head")
    }

    @Test("A removal that cannot be written hides its records from this process, and no others")
    func unwrittenRemoval() throws {
        let fails = Flag()
        var calls = FileCalls.system
        calls.fault = { kind, path in
            fails.value.load(ordering: .relaxed) && kind == .rename && path.hasSuffix(".removals") ? ENOSPC : nil
        }
        calls.unlink = {
            fails.value.load(ordering: .relaxed) && $0.hasSuffix(".record") ? EPERM : FileCalls.system.unlink($0)
        }
        let directory = fixture.directory(calls: calls)
        let (key, other) = (fixture.key("a"), fixture.key("b", partition: 2))
        try directory.store(key, "old", pattern(5_000))
        var writer = try directory.begin(key)
        fails.value.store(true, ordering: .relaxed)
        #expect(throws: FileError(code: EPERM)) { try directory.removeAll(in: RecordScope(partition: 1)) }
        #expect(!directory.hasNotedRemovals)
        #expect(try directory.record(for: key) == nil)
        #expect(try writer.commit(head: []) == nil)
        #expect(try directory.store(key, "new", []) == nil)
        // Other records are stored with a number that all processes know.
        #expect(try directory.store(other, "other", []) != nil)
        #expect(try fixture.directory().record(for: other)?.headText == "other")
        fails.value.store(false, ordering: .relaxed)
        #expect(try directory.store(key, "new", []) != nil)
        #expect(directory.hasNotedRemovals)
        #expect(try fixture.directory().record(for: key)?.headText == "new")
        #expect(try fixture.directory().record(for: other)?.headText == "other")
    }

    @Test("Nothing is written to a directory that is a link, not even by a removal")
    func link() throws {
        let target = fixture.scratch("target")
        mkdir(target, 0o700)
        symlink(target, fixture.path)
        let directory = fixture.directory()
        #expect(throws: FileError(code: ELOOP)) { try directory.invalidate(fixture.key("a")) }
        #expect(throws: FileError(code: ELOOP)) { try directory.removeAll(in: RecordScope()) }
        #expect(!directory.hasNotedRemovals)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
    }

    @Test("A removal by condition does not touch an unfinished removal of another process")
    func unfinishedByOthers() throws {
        var calls = FileCalls.system
        calls.unlink = { $0.hasSuffix(".record") ? EPERM : FileCalls.system.unlink($0) }
        let directory = fixture.directory()
        for text in ["a", "b"] { try directory.store(fixture.key(text), text, []) }
        #expect(throws: FileError(code: EPERM)) {
            try fixture.directory(calls: calls).removeAll(in: RecordScope(partition: 1))
        }
        // No record fulfils the condition.
        try directory.removeAll(in: RecordScope(partition: 1)) { $0 == Array("c".utf8) }
        for text in ["a", "b"] {
            #expect(try directory.record(for: fixture.key(text)) == nil)
            #expect(try fixture.directory().record(for: fixture.key(text)) == nil)
        }
    }

    @Test("A stopped process that has the lock delays a removal of many records only once", .timeLimit(.minutes(5)))
    func lockedDirectory() throws {
        let directory = fixture.directory()
        for number in 0..<200 { try directory.store(fixture.key("\(number)"), "head", []) }
        let lock = try FileLock.wait(directory: fixture.path)
        let start = ContinuousClock.now
        #expect(throws: FileError(code: EAGAIN)) { try directory.removeAll(in: RecordScope()) }
        // Recording the removal, the records and the bodies each wait for the lock for one second.
        #expect(ContinuousClock.now - start < .seconds(20))
        withExtendedLifetime(lock) {}
        #expect(try directory.record(for: fixture.key("1")) == nil)
    }

    @Test("A file of numbers that others can read, or that is too large, is created again")
    func foreignNumbers() throws {
        let directory = fixture.directory()
        try directory.store(fixture.key("a"), "1", [])
        chmod(fixture.path + "/.numbers", 0o644)
        #expect(try directory.store(fixture.key("a"), "2", []) != nil)
        try fixture.write(pattern(1 << 20), ".numbers")
        #expect(try directory.store(fixture.key("a"), "3", []) != nil)
        try directory.invalidate(fixture.key("a"))
        #expect(fixture.records.isEmpty)
    }

    @Test("A record whose old file cannot be read is replaced")
    func unreadableRecord() throws {
        try fixture.directory().store(fixture.key("a"), "old", pattern(5_000))
        var calls = FileCalls.system
        calls.fault = { kind, path in kind == .open && path.hasSuffix(".record") ? EIO : nil }
        #expect(try fixture.directory(calls: calls).store(fixture.key("a"), "new", pattern(7_000)) != nil)
        #expect(try fixture.directory().record(for: fixture.key("a"))?.bytes() == pattern(7_000))
        try fixture.directory().sweep()
        #expect(fixture.bodies.count == 1)
    }

    @Test("A sweep removes files of a former layout, and temporary ones that no process is writing")
    func formerFiles() throws {
        let directory = fixture.directory {
            $0.isOutdated = { $0.hasSuffix(".entity") || $0.hasPrefix(".entity-") }
        }
        mkdir(fixture.path, 0o700)
        for name in ["1-2-3.entity", ".entity-9.tmp", "note.txt"] {
            try Data([1]).write(to: URL(filePath: fixture.path + "/" + name))
        }
        try directory.store(fixture.key("a"), "head", [])
        let left = fixture.names.filter { ![".numbers", ".removals"].contains($0) && !$0.hasSuffix(".record") }
        #expect(left == ["note.txt"])
    }

    private final class Flag: Sendable { let value = Atomic(false) }
}
