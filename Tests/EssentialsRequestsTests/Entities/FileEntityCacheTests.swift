import EssentialsHTTP
import EssentialsStorage
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Entity cache in files", .timeLimit(.minutes(5)))
struct FileEntityCacheTests {
    private func key(_ number: Int, partition: EntityPartition = .shared) -> EntityKey {
        EntityKey(url: "https://h/\(number)", stage: "raw", partition: partition)
    }

    private func entity(_ bytes: Int = 10, _ byte: UInt8 = 1) -> StoredEntity {
        StoredEntity(
            body: Data(repeating: byte, count: bytes), mediaType: "text/plain",
            date: Date(timeIntervalSinceReferenceDate: 5))
    }

    @Test("The cache in files does what every cache does")
    func conformance() async throws {
        let directories = Mutex<[CacheDirectory]>([])
        try await CacheConformance {
            let directory = CacheDirectory()
            directories.withLock { $0.append(directory) }
            return try directory.cache()
        }.check()
    }

    @Test("Another process finds what was stored, and directory and files are for their user only")
    func nextProcess() async throws {
        let directory = CacheDirectory()
        try await directory.cache().store(entity(), for: key(1))
        #expect(directory.names.count == 1)
        #expect(directory.mode() == 0o700)
        #expect(directory.names.first.map { directory.mode($0) } == 0o600)
        #expect(try await directory.cache().entity(for: key(1)) == entity())
        #expect(try FileEntityCache(directory: directory.path).isPersistent)
    }

    @Test("The names are the same in every process, and the hash is that of its published vectors")
    func names() {
        let vectors: [(String, UInt128)] = [
            ("", 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d), ("a", 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964),
            ("foobar", 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18),
        ]
        for (text, hash) in vectors { #expect(StableHash.name(of: text.utf8) == hash) }
        let name = RecordKey(key(1)).name
        #expect(RecordName(name.text) == name)
        for other in ["", "x", "+" + name.text.dropFirst(), name.text.uppercased(), name.text + "x"] {
            #expect(RecordName(other) == nil)
        }
        #expect(RecordDirectory.isTemporary(RecordDirectory.temporaryName()))
    }

    @Test("The files that were not used since go first, also after the process was started again")
    func order() async throws {
        let directory = CacheDirectory()
        let cache = try directory.cache(4 * 4_096)
        for number in 0..<4 { try await cache.store(entity(), for: key(number)) }
        #expect(try await cache.entity(for: key(0)) != nil)
        try await cache.store(entity(5_000), for: key(4))
        #expect(try await cache.entity(for: key(1)) == nil)
        #expect(try await cache.entity(for: key(2)) == nil)
        #expect(await cache.usage == .init(count: 3, bytes: 4 * 4_096, damaged: 0))
        #expect(directory.names.count == 3)
        // Less space at the next start: what was used last stays.
        _ = try await cache.entity(for: key(0))
        let smaller = try directory.cache(4_096)
        #expect(await smaller.usage.count == 1)
        #expect(try await smaller.entity(for: key(0)) != nil)
        #expect(directory.names.count == 1)
    }

    @Test("An entity that is larger than the cache is not kept, and removes the one before")
    func tooLarge() async throws {
        let directory = CacheDirectory()
        let cache = try directory.cache(10_000)
        try await cache.store(entity(), for: key(1))
        try await cache.store(entity(20_000), for: key(1))
        #expect(try await cache.entity(for: key(1)) == nil)
        #expect(directory.names.isEmpty)
        try await cache.store(entity(9_800), for: key(2))
        #expect(try await cache.entity(for: key(2)) != nil)
    }

    @Test("A file that is cut off, longer or damaged in any byte is removed and is no entity")
    func damage() async throws {
        let directory = CacheDirectory()
        let cache = try directory.cache()
        try await cache.store(entity(), for: key(1))
        let name = try #require(directory.names.first)
        let whole = try directory.bytes(name)
        var damaged: [Data] = [whole + [0], Data(), Data(repeating: 0xff, count: 200)]
        for count in stride(from: 0, to: whole.count, by: 7) { damaged.append(whole.prefix(count)) }
        for index in whole.indices {
            var data = whole
            data[index] ^= 1 << UInt8(index % 8)
            damaged.append(data)
        }
        for data in damaged {
            try directory.write(data, name)
            #expect(try await cache.entity(for: key(1)) == nil)
            #expect(directory.names.isEmpty)
        }
        #expect(await cache.usage.damaged == damaged.count)
        try directory.write(whole, name)
        #expect(try await cache.entity(for: key(1)) == entity())
    }

    @Test("Bytes chosen at random never trap, with a valid checksum or without one")
    func fuzz() {
        let whole = EntityBytes.bytes(of: entity(), for: key(1)) ?? []
        for seed in 1...5_000 as ClosedRange<UInt64> {
            var numbers = SeededNumbers(state: seed)
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                bytes[Int.random(in: 8..<bytes.count, using: &numbers)] = .random(in: 0...255, using: &numbers)
            }
            if Bool.random(using: &numbers) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &numbers)) }
            if bytes.count >= EntityBytes.format.headerSize {
                // As if the writer had made these bytes, with parts that begin and end by chance.
                let rest = Array(bytes[EntityBytes.format.headerSize...])
                let places = [0, rest.count] + (0..<2).map { _ in Int.random(in: 0...rest.count, using: &numbers) }
                let ends = places.sorted()
                bytes = EntityBytes.format.bytes(of: (0..<3).map { Array(rest[ends[$0]..<ends[$0 + 1]]) })
            }
            _ = EntityBytes.read(bytes)
            bytes.withUnsafeBytes { bytes in
                _ = EntityKey(bytes: bytes)
                _ = StoredEntity(head: bytes, body: Data())
            }
        }
    }

    @Test("An entity that was stored last stays, however large it is and however often the others were used")
    func newest() async throws {
        let directory = CacheDirectory()
        let cache = try directory.cache(16 * 4_096)
        for number in 0..<16 { try await cache.store(entity(), for: key(number)) }
        for _ in 0..<4 { for number in 0..<16 { _ = try await cache.entity(for: key(number)) } }
        for bytes in [20_000, 60_000, 60_000] {
            try await cache.store(entity(bytes), for: key(99))
            #expect(try await cache.entity(for: key(99))?.body.count == bytes)
            #expect(directory.byteCount <= 16 * 4_096)
        }
        let confirmation = EntityConfirmation(date: Date(timeIntervalSinceReferenceDate: 50))
        try await cache.revalidated(key(99), by: confirmation)
        #expect(try await cache.entity(for: key(99)) == entity(60_000).revalidated(by: confirmation))
    }

    @Test("The files of earlier versions are not read, and the first use removes them")
    func earlierVersion() async throws {
        let directory = CacheDirectory()
        try FileDirectory(directory.path).make()
        let name = EntityHashes(key(1)).keyText + "-0123456789abcdef-0123456789abcdef.entity"
        let others = [name + "x", "x.entity", name.uppercased(), ".entity-12"]
        let bytes = Data(try #require(EntityBytes.bytes(of: entity(), for: key(1))))
        for name in [name, ".entity-12.tmp"] + others { try directory.write(bytes, name) }
        // The earlier format of removals.
        try directory.write(Data("SEremove".utf8), CacheDirectory.removals)
        let cache = try directory.cache()
        #expect(try await cache.entity(for: key(1)) == nil)
        #expect(directory.names == others.sorted())
        try await cache.store(entity(), for: key(1))
        #expect(try await directory.cache().entity(for: key(1)) == entity())
    }

    @Test("A file with the name of a key and the content of another one is a miss, and stays")
    func collision() async throws {
        let directory = CacheDirectory()
        let cache = try directory.cache()
        try await cache.store(entity(10, 2), for: key(2))
        let bytes = try directory.bytes(CacheDirectory.name(of: key(2)))
        try directory.write(bytes, CacheDirectory.name(of: key(1)))
        #expect(try await cache.entity(for: key(1)) == nil)
        #expect(directory.names.count == 2)
        #expect(await cache.usage.damaged == 0)
    }

    @Test("Other files, links and directories in the directory are neither read nor removed")
    func foreignFiles() async throws {
        let directory = CacheDirectory()
        let cache = try directory.cache()
        try await cache.store(entity(), for: key(1))
        try directory.write(Data("x".utf8), "notes.txt")
        let target = directory.path + "/notes.txt"
        try FileManager.default.createSymbolicLink(
            atPath: directory.path + "/" + CacheDirectory.name(of: key(2)), withDestinationPath: target)
        let again = try directory.cache()
        #expect(await again.usage.count == 1)
        #expect(try await again.entity(for: key(2)) == nil)
        try await again.removeAll(in: .everything)
        #expect(directory.names == ["notes.txt"])
        #expect(try directory.bytes("notes.txt") == Data("x".utf8))
    }

    @Test("A full disk and a read-only one are faults that leave the entity before, and no temporary file")
    func fullDisk() async throws {
        for code in [ENOSPC, EROFS, EDQUOT] {
            let directory = CacheDirectory()
            try await directory.cache().store(entity(), for: key(1))
            var calls = FileCalls.system
            calls.write = { _, _ in -Int(code) }
            let cache = try directory.cache(calls: calls)
            let failure = await #expect(throws: RequestFailure.self) {
                try await cache.store(entity(99), for: key(1))
            }
            #expect(failure?.reason == .file)
            #expect((failure?.underlying as? SystemError)?.code == code)
            #expect(try await cache.entity(for: key(1)) == entity())
            #expect(directory.names.count == 1)
        }
    }

    @Test("Files are written on the threads for files, whatever task calls the cache")
    func threads() async throws {
        let directory = CacheDirectory()
        let names = Mutex<Set<String>>([])
        var calls = FileCalls.system
        let write = calls.write
        calls.write = { descriptor, bytes in
            let name = FileManager.default.contents(atPath: "/proc/thread-self/comm") ?? Data()
            names.withLock { _ = $0.insert(String(decoding: name, as: UTF8.self)) }
            return write(descriptor, bytes)
        }
        let cache = try directory.cache(calls: calls)
        try await cache.store(entity(), for: key(1))
        await withTaskGroup(of: Void.self) { group in
            for number in 2..<20 { group.addTask { try? await cache.store(entity(), for: key(number)) } }
        }
        #expect(names.withLock { $0 } == ["essentials-file\n"])
        #expect(directory.names.count == 19)
    }

    @Test("A directory that is none, or that cannot be created, is a fault; one that was removed is created again")
    func directories() async throws {
        let directory = CacheDirectory()
        let cache = try directory.cache()
        try await cache.store(entity(), for: key(1))
        try FileManager.default.removeItem(atPath: directory.path)
        #expect(try await cache.entity(for: key(1)) == nil)
        try await cache.store(entity(), for: key(1))
        #expect(try await cache.entity(for: key(1)) == entity())

        let file = directory.path + "/" + (try #require(directory.names.first))
        for path in [file, file + "/below"] {
            let none = try FileEntityCache(directory: path)
            await #expect(throws: RequestFailure.self) { try await none.store(entity(), for: key(1)) }
        }
        #expect(throws: RequestFailure.self) { try FileEntityCache(directory: "") }
    }

    @Test("A directory that is a link, or that others can write to, is refused and stays as it is")
    func refusedDirectory() async throws {
        let (directory, target) = (CacheDirectory(), CacheDirectory())
        try FileDirectory(target.path).make()
        try FileManager.default.createSymbolicLink(atPath: directory.path, withDestinationPath: target.path)
        for (path, mode) in [(directory.path, 0o700 as mode_t), (target.path, 0o720), (target.path, 0o702)] {
            chmod(target.path, mode)
            let cache = try FileEntityCache(directory: path)
            let failure = await #expect(throws: RequestFailure.self) { try await cache.store(entity(), for: key(1)) }
            #expect(failure?.reason == .file)
            await #expect(throws: RequestFailure.self) { try await cache.entity(for: key(1)) }
            #expect(await cache.usage == .init(count: 0, bytes: 0, damaged: 0))
            #expect(target.allNames == [])
        }
    }

    @Test("Two processes with one directory find each other's files, and what one removes the other does not find")
    func twoProcesses() async throws {
        let directory = CacheDirectory()
        let (one, other) = (try directory.cache(), try directory.cache())
        #expect(try await other.entity(for: key(1)) == nil)
        try await one.store(entity(), for: key(1))
        #expect(try await other.entity(for: key(1)) == entity())
        try await other.remove(key(1))
        #expect(try await one.entity(for: key(1)) == nil)
        #expect(await one.usage.count == 0)
        try await one.store(entity(), for: key(2, partition: "p"))
        try await other.removeAll(in: EntityScope(partition: "p"))
        #expect(try await one.entity(for: key(2, partition: "p")) == nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, cache) in [one, other].enumerated() {
                group.addTask { [self] in
                    for round in 0..<50 {
                        try await cache.store(entity(3_000, UInt8(number * 50 + round)), for: key(3))
                        let found = try await cache.entity(for: key(3))
                        #expect(found.map { Set($0.body).count == 1 } == true)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("The file that another process is writing stays, and what a killed one has left is removed")
    func abandoned() async throws {
        let directory = CacheDirectory()
        try await directory.cache().store(entity(), for: key(1))
        let (left, written) = (RecordDirectory.temporaryName(), RecordDirectory.temporaryName())
        try directory.write(Data("x".utf8), left)
        let file = try OpenFile(directory.path + "/" + written, O_WRONLY | O_CREAT)
        #expect(try file.lock(withoutLocks: true))
        #expect(await (try directory.cache()).usage.count == 1)
        #expect(!directory.names.contains(left))
        #expect(directory.names.contains(written))
        withExtendedLifetime(file) {}
    }

    @Test("A process that is killed while it writes leaves whole entities, and the next start works", arguments: 1...4)
    func killed(round: Int) async throws {
        let directory = CacheDirectory()
        let path = directory.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
            let cache = try FileEntityCache(directory: path, maximumBytes: 64 << 20)
            let stored = Atomic(0)
            // Kills the process while the file thread writes.
            Task.detached {
                while stored.load(ordering: .relaxed) < round * 3 { await Task.yield() }
                kill(getpid(), SIGKILL)
            }
            for number in 0... {
                let body = Data(repeating: UInt8(truncatingIfNeeded: number), count: 2 << 20)
                try await cache.store(
                    StoredEntity(body: body, date: Date(timeIntervalSinceReferenceDate: 0)),
                    for: EntityKey(url: "https://h/\(number % 4)", stage: "raw"))
                stored.add(1, ordering: .relaxed)
            }
        }
        let cache = try directory.cache(64 << 20)
        var found = 0
        for number in 0..<4 {
            guard let entity = try await cache.entity(for: key(number)) else { continue }
            found += 1
            #expect(Set(entity.body).count == 1 && entity.body.count == 2 << 20)
        }
        #expect(found >= min(round * 3, 4) - 1)
        #expect(await cache.usage.damaged == 0)
        #expect(directory.names.allSatisfy { !RecordDirectory.isTemporary($0) })
    }
}
