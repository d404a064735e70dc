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
