import EssentialsHTTP
import EssentialsStorage
import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("The keys with which caches hash header fields")
struct FingerprintKeyFileTests {
    private func cache(_ directory: ModelDirectory) throws -> FileEntityCache {
        try FileEntityCache(directory: directory.path)
    }

    @Test("The cache of a directory has a permanent key, in a file for its user only, and other caches have other keys")
    func stays() async throws {
        let (directory, other) = (ModelDirectory(), ModelDirectory())
        let first = try cache(directory)
        #expect(directory.names == [])
        let key = first.fingerprintKey
        #expect(directory.names == ["fingerprint.key"])
        var status = stat()
        #expect(stat(directory.path + "/fingerprint.key", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(status.st_nlink == 1)
        #expect(first.fingerprintKey == key)
        #expect(try cache(directory).fingerprintKey == key)
        #expect(try cache(other).fingerprintKey != key)
        #expect(await first.usage.count == 0)
    }

    @Test("Caches of one directory that begin at once agree on a key")
    func race() async throws {
        for _ in 0..<20 {
            let directory = ModelDirectory()
            let keys = await withTaskGroup(of: FingerprintKey?.self) { group in
                for _ in 0..<8 { group.addTask { try? FileEntityCache(directory: directory.path).fingerprintKey } }
                return await group.reduce(into: Set<FingerprintKey?>()) { $0.insert($1) }
            }
            #expect(keys.count == 1)
            #expect(directory.names == ["fingerprint.key"])
        }
    }

    @Test("A damaged file is replaced", arguments: [0, 1, 15])
    func damaged(size: Int) throws {
        let directory = ModelDirectory()
        let key = try cache(directory).fingerprintKey
        try directory.write(Data(repeating: 7, count: size), "fingerprint.key")
        let replaced = try cache(directory).fingerprintKey
        #expect(replaced != key)
        #expect(try cache(directory).fingerprintKey == replaced)
        #expect(try directory.read("fingerprint.key").count == FingerprintKey.size)
    }

    @Test("A cache that cannot use its key file has another key, and touches nothing")
    func unusable() throws {
        let directory = ModelDirectory()
        let key = try cache(directory).fingerprintKey
        let path = directory.path + "/fingerprint.key"
        // A link could lead to a file that others know.
        #expect(rename(path, directory.path + "/other") == 0)
        #expect(symlink("other", path) == 0)
        let linked = try cache(directory)
        #expect(linked.fingerprintKey != key)
        #expect(linked.fingerprintKey == linked.fingerprintKey)
        #expect(directory.names == ["fingerprint.key", "other"])
        let missing = try FileEntityCache(directory: "/proc/self/no-directory")
        #expect(missing.fingerprintKey == missing.fingerprintKey)
    }

    @Test("Caches over other caches have the same keys, and caches without a key share that of all or of the process")
    func others() throws {
        let directory = ModelDirectory()
        let files = try cache(directory)
        let models = ModelCache(over: files)
        #expect(models.fingerprintKey == files.fingerprintKey)
        #expect(ObservedCache(models).fingerprintKey == files.fingerprintKey)
        #expect(MemoryEntityCache().fingerprintKey == .process)
        #expect(ModelCache().fingerprintKey == .process)
        #expect(PlainCache().fingerprintKey == .common)
        #expect(TroubledCache().fingerprintKey == .common)
    }

    @Test("Without hard links caches of one directory agree on a key too")
    func withoutLinks() async throws {
        var calls = FileCalls.system
        calls.link = { _, _ in EPERM }
        for _ in 0..<20 {
            let directory = ModelDirectory()
            let files = try FileDirectory(directory.path, calls: calls)
            let keys = await withTaskGroup(of: FingerprintKey?.self) { group in
                for _ in 0..<8 { group.addTask { try? FileEntityCache(files, 1 << 20).fingerprintKey } }
                return await group.reduce(into: Set<FingerprintKey?>()) { $0.insert($1) }
            }
            #expect(keys.count == 1)
            #expect(try keys == [cache(directory).fingerprintKey])
            #expect(directory.names == ["fingerprint.key"])
        }
    }

    /// How many writes fail.
    private final class Failures: Sendable {
        let left = Mutex(2)
    }

    @Test("A fault at the first use is counted, and a later use has the key of the file")
    func fault() async throws {
        let (directory, failures) = (ModelDirectory(), Failures())
        var calls = FileCalls.system
        let write = calls.write
        calls.write = { descriptor, bytes in
            let fails = failures.left.withLock { left in
                defer { left = max(left - 1, 0) }
                return left > 0
            }
            return fails ? -Int(EIO) : write(descriptor, bytes)
        }
        let files = try FileEntityCache(FileDirectory(directory.path, calls: calls), 1 << 20)
        let models = ModelCache(over: files)
        let own = files.fingerprintKey
        #expect(files.fingerprintKey == own)
        #expect(models.problems.count == 2)
        let key = files.fingerprintKey
        #expect(key != own && files.fingerprintKey == key)
        #expect(try cache(directory).fingerprintKey == key)
        #expect(models.problems.count == 2)
    }
}
