import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Blobs: the directory", .timeLimit(.minutes(5)))
struct BlobDirectoryTests {
    @Test("The directory is never over its limit, with any sequence of blobs", arguments: [1, 2, 3] as [UInt64])
    func limit(seed: UInt64) async throws {
        let limit = 6 << 20
        let largest = Mutex(0)
        let directory = BlobDirectory()
        // Each write of the service is followed by a look at the directory.
        var calls = FileCalls.system
        let write = calls.write
        calls.write = { [directory] descriptor, bytes in
            // Nothing grows while the directory is measured.
            largest.withLock { largest in
                let written = write(descriptor, bytes)
                largest = max(largest, directory.size)
                return written
            }
        }
        let fixture = try BlobFixture(in: directory, calls: calls) { $0.maximumBytes = limit }
        var numbers = SeededNumbers(state: seed)
        for index in 0..<12 {
            let size = Int(numbers.next() % (index % 3 == 0 ? 7 << 20 : 1 << 18))
            // The directory is measured at each write, so smaller pieces would take minutes.
            let bytes = BlobFixture.bytes(1 << 14)
            let pieces = (0..<max(1, size >> 14)).map { _ in ScriptedPiece.bytes(bytes) }
            fixture.transport.on(.get, "/v1/\(index)").answer(pieces: pieces, headerFields: [.eTag: "\"1\""])
        }
        let blobs = fixture.blobs
        for round in 0..<6 {
            let chosen = (0..<5).map { _ in Int(numbers.next() % 12) }
            await withTaskGroup(of: Void.self) { group in
                for index in chosen {
                    group.addTask {
                        do {
                            _ = try await blobs.file(at: "\(index)")
                        } catch {
                            #expect((error as? RequestFailure)?.reason == .tooLarge, "seed \(seed), round \(round)")
                        }
                    }
                }
            }
            #expect(fixture.reserved == 0)
            let usage = await blobs.usage
            #expect(usage.bytes == directory.size, "seed \(seed), round \(round)")
        }
        #expect(largest.withLock { $0 } <= limit, "seed \(seed)")
        #expect(largest.withLock { $0 } > limit / 2, "seed \(seed)")
    }

    @Test("The blobs that were used longest ago make room, even after a restart")
    func leastRecentlyUsed() async throws {
        let fixture = try BlobFixture { $0.maximumBytes = 24 << 10 }
        for name in ["a", "b", "c", "d"] { fixture.transport.on(.get, "/v1/\(name)").answer(text: name) }
        for name in ["a", "b", "c", "a"] { _ = try await fixture.blobs.bytes(at: name) }
        _ = try await fixture.blobs.bytes(at: "d")
        #expect(fixture.transport.requestCount == 4)
        for name in ["a", "c", "d"] { _ = try await fixture.blobs.bytes(at: name) }
        #expect(fixture.transport.requestCount == 4)
        let next = try BlobFixture(in: fixture.directory, clock: fixture.clock) { $0.maximumBytes = 24 << 10 }
        next.transport.on(.get, "/v1/b").answer(text: "b")
        _ = try await next.blobs.bytes(at: "b")
        #expect(next.transport.requestCount == 1)
        #expect(await next.blobs.usage.count == 3)
    }

    @Test("The file of a blob that was removed to make room stays as long as it is used")
    func inUse() async throws {
        let fixture = try BlobFixture { $0.maximumBytes = 24 << 10 }
        for name in ["a", "b", "c", "d"] { fixture.transport.on(.get, "/v1/\(name)").answer(text: name) }
        _ = try await fixture.blobs.bytes(at: "a")
        let file = try await fixture.blobs.file(at: "a")
        await fixture.blobs.removeAll()
        for name in ["b", "c", "d"] { _ = try await fixture.blobs.bytes(at: name) }
        #expect(try await file.bytes(in: 0..<1) == Data("a".utf8))
        #expect(await fixture.blobs.usage.count == 3)
    }

    /// A body of many equal pieces, and the number of its bytes that were given out but not yet written.
    private final class Pieces: ResponseBody.Source, Transport {
        struct State {
            var left: Int
            var unwritten = 0
            var largest = 0
        }

        let state: Mutex<State>
        private let piece = BodyChunk([UInt8](repeating: 7, count: 256 << 10))

        init(count: Int) { state = Mutex(State(left: count)) }

        func next() async throws(RequestFailure) -> BodyChunk? {
            state.withLock { state in
                guard state.left > 0 else { return nil }
                state.left -= 1
                state.unwritten += piece.count
                state.largest = max(state.largest, state.unwritten)
                return piece
            }
        }

        func cancel() {}

        func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
            TransportResponse(HTTPResponse(status: .ok, headerFields: [:]), body: ResponseBody(source: self))
        }

        func shutdown() async {}
    }

    @Test("Of a large blob, at most 1 MiB and one piece are in memory at any time, and the rest is on disk")
    func inPieces() async throws {
        let (directory, pieces) = (BlobDirectory(), Pieces(count: 400))
        var calls = FileCalls.system
        let write = calls.write
        calls.write = { descriptor, bytes in
            let written = write(descriptor, bytes)
            pieces.state.withLock { $0.unwritten -= written }
            return written
        }
        let environment = try ConstantEnvironment("https://h/v1/")
        let requests = HTTPDataRequestService(environment: environment, transport: pieces)
        let blobs = try BlobService(
            requests, environment, nil, FileDirectory(directory.path, calls: calls), BlobService.Configuration())
        #expect(try await blobs.file(at: "film").size == 100 << 20)
        let largest = pieces.state.withLock { $0.largest }
        #expect(largest <= BlobBody.memoryLimit + (256 << 10))
        #expect(largest > 0)
    }

    @Test("A blob that is larger than the directory fails as tooLarge, and so does one that announces such a size")
    func tooLarge() async throws {
        let fixture = try BlobFixture { $0.maximumBytes = 2 << 20 }
        let bytes = BlobFixture.bytes(3 << 20)
        fixture.transport.on(.get, "/v1/a").answer(pieces: BlobFixture.pieces(bytes))
        fixture.transport.on(.get, "/v1/b").answer(
            pieces: [.pause(.seconds(1_000))], headerFields: [.contentLength: "3000000"])
        for name in ["a", "b"] {
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.blobs.file(at: name) }
            #expect(failure?.reason == .tooLarge)
        }
        #expect(fixture.directory.names == [])
    }

    @Test("A damaged file is a miss, in this process and in the next", arguments: 0..<6, [false, true])
    func damaged(kind: Int, isNext: Bool) async throws {
        let fixture = try BlobFixture()
        let bytes = BlobFixture.bytes(50_000)
        fixture.transport.on(.get, "/v1/a").answer(data: bytes)
        _ = try await fixture.blobs.bytes(at: "a")
        let directory = fixture.directory
        let (body, record) = (try #require(directory.bodies.first), try #require(directory.records.first))
        switch kind {
        case 0: try directory.write(bytes.prefix(49_999), body)
        case 1: try directory.write(Data(repeating: 0, count: 50_000), body)
        case 2: directory.remove(body)
        case 3: try directory.write(Data("SEentity".utf8), record)
        case 4:
            var changed = try directory.bytes(record)
            changed[changed.count - 1] ^= 1
            try directory.write(changed, record)
        default: directory.remove(record)
        }
        let next = isNext ? try BlobFixture(in: directory, clock: fixture.clock) : fixture
        next.transport.on(.get, "/v1/a").answer(data: bytes)
        #expect(try await next.blobs.bytes(at: "a") == bytes)
        #expect(next.transport.requestCount == (isNext ? 1 : 2))
        for _ in 0..<2 { #expect(try await next.blobs.bytes(at: "a") == bytes) }
        // What a damaged record leaves behind is removed when the directory is counted again.
        let last = try BlobFixture(in: directory, clock: fixture.clock)
        #expect(await last.blobs.usage.count == 1)
        #expect(directory.bodies.count == 1 && directory.records.count == 1)
    }

    @Test("A directory with any bytes in its records gives no blob and no crash", arguments: [1, 2, 3] as [UInt64])
    func randomRecords(seed: UInt64) async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(text: "x")
        _ = try await fixture.blobs.bytes(at: "a")
        let record = try #require(fixture.directory.records.first)
        let original = try fixture.directory.bytes(record)
        var numbers = SeededNumbers(state: seed)
        for _ in 0..<60 {
            var bytes = original
            for _ in 0...(numbers.next() % 4) {
                bytes[Int(numbers.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: numbers.next())
            }
            guard bytes != original else { continue }
            try fixture.directory.write(bytes, record)
            let next = try BlobFixture(in: fixture.directory, clock: fixture.clock)
            next.transport.on(.get, "/v1/a").answer(text: "x")
            #expect(try await next.blobs.bytes(at: "a") == Data("x".utf8), "seed \(seed)")
            #expect(next.transport.requestCount == 1, "seed \(seed)")
        }
    }

    @Test(
        "Two services on one directory find each other's blobs, and a blob that one has removed is loaded by the other")
    func twoProcesses() async throws {
        let (clock, directory) = (ManualClock(), BlobDirectory())
        let (one, two) = (try BlobFixture(in: directory, clock: clock), try BlobFixture(in: directory, clock: clock))
        for fixture in [one, two] { fixture.transport.on(.get, "/v1/a").answer(text: "x") }
        // Both have looked into the directory.
        for fixture in [one, two] { #expect(await fixture.blobs.usage.count == 0) }
        for fixture in [one, two] { _ = try await fixture.blobs.bytes(at: "a") }
        #expect(one.transport.requestCount == 1 && two.transport.requestCount == 0)
        await two.blobs.removeAll()
        #expect(directory.names == [])
        #expect(try await one.blobs.bytes(at: "a") == Data("x".utf8))
        #expect(one.transport.requestCount == 2)
    }

    @Test("Many services that store and remove the same blobs at the same time give whole blobs only")
    func concurrent() async throws {
        let (clock, directory) = (ManualClock(), BlobDirectory())
        let fixtures = try (0..<3).map { _ in
            try BlobFixture(in: directory, clock: clock) { $0.maximumBytes = 100 << 10 }
        }
        for fixture in fixtures {
            for index in 0..<8 {
                fixture.transport.on(.get, "/v1/\(index)").answer(data: BlobFixture.bytes(20_000, seed: UInt64(index)))
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (worker, fixture) in fixtures.enumerated() {
                group.addTask {
                    var numbers = SeededNumbers(state: UInt64(worker))
                    for _ in 0..<100 {
                        let index = numbers.next() % 8
                        if numbers.next() % 10 == 0 { try await fixture.blobs.remove(at: "\(index)") }
                        let bytes = try await fixture.blobs.bytes(at: "\(index)")
                        #expect(bytes == BlobFixture.bytes(20_000, seed: index))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Whether nothing can be written.
    private final class FullDisk: Sendable {
        let value = Atomic(false)
    }

    @Test("A full disk loses no small blob, and makes a large one fail as file")
    func fullDisk() async throws {
        var calls = FileCalls.system
        let (write, isFull) = (calls.write, FullDisk())
        calls.write = { isFull.value.load(ordering: .relaxed) ? -Int(ENOSPC) : write($0, $1) }
        let fixture = try BlobFixture(calls: calls)
        isFull.value.store(true, ordering: .relaxed)
        fixture.transport.on(.get, "/v1/a").answer(text: "x")
        fixture.transport.on(.get, "/v1/large").answer(data: BlobFixture.bytes(2 << 20))
        #expect(try await fixture.blobs.bytes(at: "a") == Data("x".utf8))
        #expect(fixture.blobs.problems.count == 1)
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.blobs.bytes(at: "large") }
        #expect(failure?.reason == .file)
        #expect(fixture.directory.names == [])
        #expect(fixture.reserved == 0)
    }

    @Test("Files that a killed process has left are removed by the next one")
    func leftovers() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(text: "x")
        _ = try await fixture.blobs.bytes(at: "a")
        let body = try #require(fixture.directory.bodies.first)
        let orphan = String(body.dropLast(21)) + "0123456789abcdef.body"
        try fixture.directory.write(Data([1]), orphan)
        try fixture.directory.write(Data([1]), RecordDirectory.temporaryName())
        // Another process writes these bytes, whose name it changes under the lock of the directory only.
        let unfinished = RecordDirectory.temporaryName()
        let held = try FileDirectory(fixture.directory.path).begin("", temporary: unfinished)
        let next = try BlobFixture(in: fixture.directory, clock: fixture.clock)
        #expect(try await next.blobs.bytes(at: "a") == Data("x".utf8))
        #expect(next.transport.requestCount == 0)
        // Counting the directory removes them.
        #expect(await next.blobs.usage.count == 1)
        #expect(fixture.directory.bodies == [body])
        #expect(fixture.directory.names.count == 3 && fixture.directory.names.contains(unfinished))
        withExtendedLifetime(held) {}
    }

    @Test("A directory that is a link fails when the service is created, and nothing is written to its target")
    func link() throws {
        let (directory, target) = (BlobDirectory(), BlobDirectory())
        try FileManager.default.createDirectory(atPath: target.path, withIntermediateDirectories: false)
        #expect(symlink(target.path, directory.path) == 0)
        let failure = #expect(throws: RequestFailure.self) { try BlobFixture(in: directory) }
        #expect(failure?.reason == .file)
        #expect(target.allNames == [])
    }

    @Test("Directory and files are for their user only")
    func permissions() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(text: "x")
        fixture.transport.on(.get, "/v1/large").answer(data: BlobFixture.bytes(2 << 20))
        for name in ["a", "large"] { _ = try await fixture.blobs.bytes(at: name) }
        for name in [""] + fixture.directory.allNames {
            var status = stat()
            #expect(stat(fixture.directory.path + "/" + name, &status) == 0)
            #expect(status.st_mode & 0o777 == (name.isEmpty ? 0o700 : 0o600))
        }
    }
}
