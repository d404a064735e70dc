import EssentialsStorage
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct RecordWriterTests {
    private let fixture: RecordFixture

    init() throws { fixture = try RecordFixture() }

    @Test("The bytes written so far can be read before the commit", arguments: [0, 10, 5_000, 1_200_000])
    func opened(size: Int) throws {
        let directory = fixture.directory()
        var writer = try directory.begin(fixture.key("a"))
        try pattern(size).withUnsafeBytes { try writer.append($0) }
        let file = try writer.opened()
        #expect(try file.bytes(in: 0..<size) == Data(pattern(size)))
        try pattern(7, 1).withUnsafeBytes { try writer.append($0) }
        let record = try #require(try writer.commit(head: [1]))
        #expect(try record.bytes() == pattern(size) + pattern(7, 1))
        #expect(try fixture.directory().record(for: fixture.key("a"))?.bytes() == pattern(size) + pattern(7, 1))
    }

    @Test("The written bytes can be kept as a file without a name, which takes no space in the directory")
    func detached() throws {
        let directory = fixture.directory(100_000)
        for _ in 0..<3 {
            var writer = try directory.begin(fixture.key("a"), isFile: true)
            try pattern(60_000).withUnsafeBytes { try writer.append($0) }
            #expect(directory.reserved >= 60_000)
            let file = try writer.opened()
            writer.abandon()
            #expect(directory.reserved == 0)
            #expect(fixture.temporaries.isEmpty && fixture.bodies.isEmpty && fixture.records.isEmpty)
            #expect(try file.file.status().linkCount == 0)
            #expect(try file.bytes(in: 0..<60_000) == Data(pattern(60_000)))
        }
    }

    @Test("A removed directory is created again, even by a removal")
    func removedDirectory() throws {
        let (directory, key) = (fixture.directory(), fixture.key("a"))
        for round in 0..<3 {
            try directory.store(key, "\(round)", pattern(5_000))
            try FileManager.default.removeItem(atPath: fixture.path)
            switch round {
            case 0: try directory.invalidate(key)
            case 1: try directory.removeAll(in: RecordScope(partition: 1))
            default: #expect(try directory.record(for: key) == nil)
            }
        }
        #expect(try directory.store(key, "new", pattern(5_000)) != nil)
        #expect(try fixture.directory().record(for: key)?.headText == "new")
        #expect(directory.hasNotedRemovals)
    }

    @Test("Concurrent writers use no space before the evicted files are removed", arguments: [1, 2] as [UInt64])
    func concurrent(seed: UInt64) async throws {
        let (fixture, limit) = (fixture, 400_000)
        let largest = Mutex(0)
        var calls = FileCalls.system
        let size: @Sendable () -> Int = {
            // A file that is renamed meanwhile may be missed, but is never counted twice.
            (fixture.records + fixture.bodies + fixture.temporaries).reduce(0) {
                $0 + ((try? FileStatus(of: fixture.path + "/" + $1).size).map { Int($0 + 4_095) / 4_096 * 4_096 } ?? 0)
            }
        }
        calls.write = { descriptor, bytes in
            // No file grows while the files are measured.
            largest.withLock { largest in
                let written = FileCalls.system.write(descriptor, bytes)
                largest = max(largest, size())
                return written
            }
        }
        let directory = fixture.directory(limit, calls: calls) { $0.allowsLastBlockBeyond = false }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<3 as Range<UInt64> {
                group.addTask {
                    var numbers = SeededNumbers(state: seed &* 7 &+ worker)
                    for _ in 0..<25 {
                        // Each writer has its own keys.
                        let key = fixture.key("\(worker)-\(numbers.next() % 6)")
                        let count = Int(numbers.next() % 150_000)
                        do {
                            var writer = try directory.begin(key, isFile: true)
                            defer { writer.abandon() }
                            for part in stride(from: 0, to: count, by: 30_000) {
                                try pattern(min(30_000, count - part)).withUnsafeBytes { try writer.append($0) }
                            }
                            _ = try writer.commit(head: [UInt8](repeating: 1, count: 200))
                        } catch {
                            #expect((error as? FileError)?.isTooLarge == true, "\(error)")
                        }
                    }
                }
            }
        }
        #expect(directory.reserved == 0)
        #expect(directory.usage.bytes == size())
        #expect(largest.withLock { $0 } <= limit)
        #expect(largest.withLock { $0 } > limit / 2)
    }

    @Test("The directory never hands out more space than it has", arguments: [1, 2, 3, 4] as [UInt64])
    func space(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let directory = fixture.directory(100_000) { $0.allowsLastBlockBeyond = false }
        var writers: [RecordWriter] = []
        /// The space of a body so far, and of the smallest head.
        func blocks(_ size: Int) -> Int { max(size + 4_095, 4_096) / 4_096 * 4_096 + 4_096 }
        for step in 0..<600 {
            let before = directory.reserved
            let key = fixture.key("\(numbers.next() % 20)")
            switch numbers.next() % 5 {
            case 0, 1:
                var writer = try directory.begin(key, isFile: true)
                let bytes = pattern(Int(numbers.next() % 60_000))
                do throws(FileError) {
                    try writer.append(bytes.span.bytes)
                    writers.append(writer)
                } catch {
                    writer.abandon()
                    #expect(error.isTooLarge && blocks(bytes.count) + before > 100_000, "seed \(seed), step \(step)")
                }
            case 2 where !writers.isEmpty:
                var writer = writers.removeFirst()
                do throws(FileError) { _ = try writer.commit(head: []) } catch { #expect(error.isTooLarge) }
            case 3 where !writers.isEmpty:
                var writer = writers.removeFirst()
                writer.abandon()
            default: try directory.invalidate(key)
            }
            let usage = directory.usage
            let reserved = writers.reduce(0) { $0 + blocks(Int($1.size)) }
            let stored = try (fixture.records + fixture.bodies).reduce(0) {
                $0 + (try fixture.bytes($1).count + 4_095) / 4_096 * 4_096
            }
            #expect(directory.reserved == reserved, "seed \(seed), step \(step)")
            #expect(usage.bytes == stored && usage.count == fixture.records.count, "seed \(seed), step \(step)")
            #expect(usage.bytes + reserved <= 100_000, "seed \(seed), step \(step)")
        }
        for var writer in writers { writer.abandon() }
        #expect(directory.reserved == 0 && fixture.temporaries.isEmpty)
    }
}
