import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsStorage

@Suite struct FileLockTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func attempt(_ calls: FileCalls = .system) throws(OwnFile.Refusal) -> FileLock? {
        try FileLock.attempt(
            scratch("lock"), O_RDWR | O_CREAT, [.oneName, .noOtherUsers], withoutLocks: false, calls: calls)
    }

    @Test("A lock excludes others until its last copy is released")
    func exclusion() throws {
        var lock = try attempt()
        #expect(lock != nil)
        #expect(try attempt() == nil)
        lock = nil
        #expect(try attempt() != nil)
    }

    @Test("A file that was replaced before it was locked is not the lock")
    func replaced() throws {
        var calls = FileCalls.system
        let path = scratch("lock")
        calls.fault = { kind, _ in
            guard kind == .lock else { return nil }
            unlink(path)
            return nil
        }
        #expect(try attempt(calls) == nil)
        #expect(try attempt() != nil)
    }

    @Test("If a file is replaced before it is locked, the new file becomes the lock")
    func replacedOnce() throws {
        var calls = FileCalls.system
        let path = scratch("lock")
        let isFirst = Atomic(true)
        calls.fault = { kind, _ in
            if kind == .lock, isFirst.exchange(false, ordering: .relaxed) { unlink(path) }
            return nil
        }
        let lock = try #require(try attempt(calls))
        #expect(try lock.status.identity == FileStatus(of: path).identity)
        #expect(try attempt() == nil)
    }

    @Test("A lock that cannot be taken is an error, and is not mistaken for one that is held")
    func fault() throws {
        var calls = FileCalls.system
        calls.fault = { kind, _ in kind == .lock ? ENOLCK : nil }
        #expect(throws: OwnFile.Refusal.system(FileError(code: ENOLCK))) { try attempt(calls) }
    }

    @Test("Shared locks exclude only an exclusive one")
    func shared() throws {
        try scratch.write("", "lock")
        chmod(scratch("lock"), 0o600)
        let files = try (0..<2).map { _ in try OpenFile(scratch("lock"), O_RDONLY) }
        for file in files { #expect(try file.lock(isShared: true, withoutLocks: false)) }
        #expect(try attempt() == nil)
        let lock = try FileLock.wait(FileLock.Patience(limit: .zero, pauses: .zero...(.zero))) {
            () throws(OwnFile.Refusal) in try attempt()
        }
        #expect(lock == nil)
        withExtendedLifetime(files) {}
    }

    @Test("A wait attempts again after each pause, until it succeeds or the limit has passed", arguments: [3, 9])
    func waiting(free: Int) async throws {
        var (now, attempts) = (Duration.zero, 0)
        let patience = FileLock.Patience(limit: .seconds(5), pauses: .seconds(1)...(.seconds(1)))
        let lock = try await FileLock.wait(patience, now: { now }) { pause async throws(OwnFile.Refusal) in
            now += pause
        } _: { () async throws(OwnFile.Refusal) -> FileLock? in
            attempts += 1
            return try attempts > free ? attempt() : nil
        }
        #expect((lock != nil) == (free == 3))
        #expect(attempts == (free == 3 ? 4 : 6) && now == .seconds(free == 3 ? 3 : 5))
    }

    @Test("Links, second names and files that others can use are refused")
    func refusals() throws {
        let path = scratch("lock")
        try scratch.write("", "other")
        symlink(scratch("other"), path)
        #expect(throws: OwnFile.Refusal.system(FileError(code: ELOOP))) { try attempt() }
        unlink(path)
        link(scratch("other"), path)
        chmod(path, 0o600)
        #expect(throws: OwnFile.Refusal.otherNames(count: 2)) { try attempt() }
        unlink(scratch("other"))
        chmod(path, 0o640)
        #expect(throws: OwnFile.Refusal.otherUsers) { try attempt() }
        unlink(path)
        mkdir(path, 0o700)
        #expect(throws: OwnFile.Refusal.self) { try attempt() }
    }

    @Test("Code that does not get a lock can read its owner")
    func owner() throws {
        let lock = try #require(try attempt())
        #expect(FileLock.owner(of: scratch("lock"), []) == nil)
        try lock.writeOwner(.system)
        #expect(FileLock.owner(of: scratch("lock"), []) == Int(getpid()))
        try lock.writeOwner(.system)
        #expect(scratch.text("lock") == "\(getpid())\n")
        #expect(FileLock.owner(of: scratch("missing"), []) == nil)
    }

    @Test("The wait for a directory ends after its limit")
    func patience() throws {
        let path = scratch("directory")
        mkdir(path, 0o700)
        let patience = FileLock.Patience(limit: .zero, pauses: .milliseconds(1)...(.milliseconds(1)))
        let lock = try FileLock.wait(directory: path, patience)
        #expect(throws: FileError(code: EAGAIN)) { _ = try FileLock.wait(directory: path, patience) }
        withExtendedLifetime(lock) {}
        #expect(throws: FileError(code: ENOENT)) { _ = try FileLock.wait(directory: scratch("missing"), patience) }
    }

    @Test("Pauses double up to the longest, until the limit")
    func pauses() {
        var patience = FileLock.Patience(limit: .seconds(1), pauses: .milliseconds(5)...(.milliseconds(15)))
        let waits: [Duration] = [.zero, .milliseconds(5), .milliseconds(999), .seconds(1)]
        #expect(
            waits.map { patience.next(after: $0) } == [.milliseconds(5), .milliseconds(10), .milliseconds(15), nil])
    }
}
