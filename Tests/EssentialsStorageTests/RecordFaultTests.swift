import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsStorage

/// In each operation, one system call after another fails. Afterwards the directory is used without failures, by the
/// same instance and by a new one.
@Suite struct RecordFaultTests {
    private let fixture: RecordFixture

    init() throws { fixture = try RecordFixture() }

    /// Runs an operation repeatedly, with each of its calls failing in turn.
    ///
    /// - Parameters:
    ///   - prepare: Creates the state of the directory before the operation.
    ///   - check: Checks the directory afterwards; `isDone` says whether the operation ended without a failure.
    private func withEachFailure(
        _ code: Int32 = EIO, prepare: (RecordDirectory) throws -> Void,
        _ operation: (RecordDirectory) throws -> Void,
        check: (_ directory: RecordDirectory, _ isDone: Bool, _ place: String) throws -> Void
    ) throws -> Set<FileCalls.Kind> {
        var failed: Set<FileCalls.Kind> = []
        for step in 0..<300 {
            let faulty = FaultyCalls(code)
            let directory = fixture.directory(calls: faulty.calls)
            try prepare(directory)
            faulty.fail(after: step)
            var isDone = true
            do { try operation(directory) } catch is FileError { isDone = false }
            let kind = faulty.failed
            faulty.heal()
            try check(directory, isDone, "step \(step), \(kind.map { "\($0)" } ?? "no failure")")
            guard let kind else { return failed }
            failed.insert(kind)
            try? FileManager.default.removeItem(atPath: fixture.path)
        }
        Issue.record("The operation does not end.")
        return failed
    }

    private func both(_ directory: RecordDirectory) -> [RecordDirectory] { [directory, fixture.directory()] }

    @Test(
        "A failed call leaves the old record or the new one",
        arguments: [[10, 20], [5_000, 20], [10, 5_000], [5_000, 6_000]])
    func store(sizes: [Int]) throws {
        let key = fixture.key("a")
        let failed = try withEachFailure {
            try $0.store(key, "old", pattern(sizes[0]))
        } _: {
            try $0.store(key, "new", pattern(sizes[1], 1))
        } check: { directory, isDone, place throws in
            for directory in both(directory) {
                let record = try #require(try directory.record(for: key), "\(place)")
                #expect(!isDone || record.headText == "new", "\(place)")
                let isOld = record.headText == "old"
                #expect(try record.bytes() == pattern(sizes[isOld ? 0 : 1], isOld ? 0 : 1), "\(place)")
            }
            try directory.sweep()
            #expect(fixture.records.count == 1 && fixture.bodies.count <= 1, "\(place)")
            let usage = directory.usage
            #expect(usage.count == 1, "\(place)")
        }
        #expect(failed.isSuperset(of: [.open, .write, .rename, .lock, .permissions, .read, .status]))
    }

    @Test("A failed call during a put leaves the old record or the new one", arguments: [10, 5_000])
    func put(size: Int) throws {
        let key = fixture.key("a")
        let failed = try withEachFailure {
            try $0.store(key, "old", pattern(size))
        } _: {
            try $0.put(key, head: Array("new".utf8), body: pattern(20, 1).span.bytes)
        } check: { directory, isDone, place throws in
            for directory in both(directory) {
                let record = try #require(try directory.record(for: key), "\(place)")
                let isOld = record.headText == "old"
                #expect(!isDone || !isOld, "\(place)")
                #expect(try record.bytes() == pattern(isOld ? size : 20, isOld ? 0 : 1), "\(place)")
            }
            try directory.sweep()
            #expect(fixture.records.count == 1 && fixture.temporaries.isEmpty, "\(place)")
        }
        #expect(failed.isSuperset(of: [.open, .write, .rename, .lock, .permissions, .status]))
    }

    @Test("A failed call leaves the old head or the new one, and the body", arguments: [10, 5_000])
    func replaceHead(size: Int) throws {
        let key = fixture.key("a")
        _ = try withEachFailure {
            try $0.store(key, "old", pattern(size))
        } _: { directory in
            guard let record = try directory.record(for: key) else { throw FileError(code: ENOENT) }
            _ = try directory.replaceHead(of: record, by: Array("new".utf8))
        } check: { directory, isDone, place throws in
            for directory in both(directory) {
                let record = try #require(try directory.record(for: key), "\(place)")
                #expect(record.headText == "new" || !isDone && record.headText == "old", "\(place)")
                #expect(try record.bytes() == pattern(size), "\(place)")
            }
        }
    }

    @Test("A failed call during reading loses nothing")
    func read() throws {
        let key = fixture.key("a")
        _ = try withEachFailure {
            try $0.store(key, "head", pattern(5_000))
        } _: {
            _ = try $0.record(for: key)
        } check: { directory, _, place throws in
            for directory in both(directory) {
                #expect(try directory.record(for: key)?.bytes() == pattern(5_000), "\(place)")
            }
        }
    }

    @Test("A failed call while opening a directory is an error, and the next try succeeds")
    func open() throws {
        let key = fixture.key("a")
        for step in 0..<50 {
            try fixture.directory().store(key, "head", pattern(5_000))
            let faulty = FaultyCalls()
            let directory = fixture.directory(calls: faulty.calls)
            faulty.fail(after: step)
            _ = try? directory.record(for: key)
            guard faulty.failed != nil else { return }
            #expect(try directory.record(for: key)?.bytes() == pattern(5_000))
        }
        Issue.record("Opening does not end.")
    }

    @Test("If any call fails, an invalidation removes the record or throws, and later records can be stored")
    func invalidate() throws {
        let key = fixture.key("a")
        _ = try withEachFailure {
            try $0.store(key, "old", pattern(5_000))
        } _: {
            try $0.invalidate(key)
        } check: { directory, isDone, place throws in
            for directory in both(directory) {
                // A failure of the operation means that the record may still exist.
                if isDone { #expect(try directory.record(for: key) == nil, "\(place)") }
            }
            #expect(try directory.store(key, "new", []) != nil, "\(place)")
            #expect(try fixture.directory().record(for: key)?.headText == "new", "\(place)")
        }
    }

    @Test(
        "If any call fails, this process reads no removed record, nor do others once the removal is written"
    )
    func removeAll() throws {
        let (key, other) = (fixture.key("a"), fixture.key("b", partition: 2))
        let failed = try withEachFailure {
            try $0.store(key, "old", pattern(5_000))
            try $0.store(other, "other", pattern(5_000))
        } _: {
            try $0.removeAll(in: RecordScope(partition: 1))
        } check: { directory, isDone, place throws in
            #expect(try directory.record(for: key) == nil, "\(place)")
            if isDone || directory.hasNotedRemovals {
                #expect(try fixture.directory().record(for: key) == nil, "\(place)")
            }
            for directory in both(directory) {
                #expect(try directory.record(for: other)?.bytes() == pattern(5_000), "\(place)")
            }
            try directory.removeAll(in: RecordScope(partition: 1))
            #expect(directory.hasNotedRemovals && fixture.records.count == 1, "\(place)")
            #expect(try directory.store(key, "new", []) != nil, "\(place)")
            #expect(try fixture.directory().record(for: key)?.headText == "new", "\(place)")
        }
        #expect(failed.isSuperset(of: [.unlink, .list, .sync, .rename]))
    }

    @Test("A full disk is an error, loses no record, and releases the reserved space")
    func fullDisk() throws {
        let isFull = Flag()
        var calls = FileCalls.system
        calls.write = { isFull.value.load(ordering: .relaxed) ? -Int(ENOSPC) : FileCalls.system.write($0, $1) }
        let directory = fixture.directory(100_000, calls: calls)
        try directory.store(fixture.key("a"), "head", pattern(5_000))
        isFull.value.store(true, ordering: .relaxed)
        for _ in 0..<20 {
            #expect(throws: FileError(code: ENOSPC)) { try directory.store(fixture.key("b"), "head", pattern(40_000)) }
        }
        isFull.value.store(false, ordering: .relaxed)
        #expect(fixture.temporaries.isEmpty && fixture.records.count == 1)
        #expect(try directory.store(fixture.key("b"), "head", pattern(40_000)) != nil)
        #expect(try directory.record(for: fixture.key("a"))?.bytes() == pattern(5_000))
    }

    private final class Flag: Sendable { let value = Atomic(false) }
}
