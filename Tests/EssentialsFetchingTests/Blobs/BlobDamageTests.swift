import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Blobs: damage", .timeLimit(.minutes(5)))
struct BlobDamageTests {
    private static let size = (3 << 20) + 5

    /// Changes a bit of a file in place, so that its size and its time of change stay.
    private static func flip(_ path: String, at position: Int, bit: UInt8 = 1) throws {
        let file = open(path, O_RDWR)
        try #require(file >= 0)
        defer { close(file) }
        var (status, byte) = (stat(), UInt8(0))
        try #require(fstat(file, &status) == 0 && pread(file, &byte, 1, off_t(position)) == 1)
        byte ^= bit
        try #require(pwrite(file, &byte, 1, off_t(position)) == 1)
        let times = [status.st_atim, status.st_mtim]
        try #require(futimens(file, times) == 0)
    }

    /// A service that has stored a large blob.
    private static func stored(_ bytes: Data) async throws -> (fixture: BlobFixture, path: String) {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(pieces: BlobFixture.pieces(bytes))
        _ = try await fixture.blobs.file(at: "a")
        return (fixture, fixture.directory.path + "/" + (try #require(fixture.directory.bodies.first)))
    }

    @Test("A changed byte of a large blob is never returned: the blob is loaded again", arguments: [false, true])
    func bytes(isNext: Bool) async throws {
        let bytes = BlobFixture.bytes(Self.size)
        var (fixture, path) = try await Self.stored(bytes)
        var numbers = SeededNumbers(state: 7)
        var positions = [0, (1 << 20) - 1, 1 << 20, (3 << 20) - 1, 3 << 20, Self.size - 1]
        for _ in 0..<6 { positions.append(Int.random(in: 0..<Self.size, using: &numbers)) }
        for position in positions {
            try Self.flip(path, at: position, bit: 1 << UInt8.random(in: 0...7, using: &numbers))
            if isNext {
                fixture = try BlobFixture(in: fixture.directory, clock: fixture.clock)
                fixture.transport.on(.get, "/v1/a").answer(pieces: BlobFixture.pieces(bytes))
            }
            let before = fixture.transport.requestCount
            #expect(try await fixture.blobs.bytes(at: "a") == bytes, "byte \(position)")
            #expect(fixture.transport.requestCount == before + 1, "byte \(position)")
            #expect(fixture.directory.bodies.count == 1)
            path = fixture.directory.path + "/" + (try #require(fixture.directory.bodies.first))
        }
    }

    @Test("Parts of a file are checked before they are returned, each MiB separately")
    func ranges() async throws {
        let bytes = BlobFixture.bytes(Self.size)
        let (fixture, path) = try await Self.stored(bytes)
        let file = try await fixture.blobs.file(at: "a")
        let (mib, end) = (Int64(1) << 20, Int64(Self.size))
        for range in [
            0..<end, 5..<6, (mib - 1)..<(mib + 1), mib..<(2 * mib), 3..<(2 * mib + 7), (3 * mib)..<end, end..<end,
        ] {
            #expect(try await file.bytes(in: range) == bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        }
        try Self.flip(path, at: (1 << 20) + 9)
        #expect(try await file.bytes(in: 0..<mib) == bytes.prefix(1 << 20))
        #expect(try await file.bytes(in: (2 * mib)..<end) == bytes.suffix(Self.size - 2 << 20))
        for range in [mib..<(mib + 1), (mib - 1)..<(mib + 1), 0..<end, (2 * mib - 1)..<(2 * mib)] {
            let failure = await #expect(throws: RequestFailure.self) { try await file.bytes(in: range) }
            #expect(failure?.reason == .file && failure?.message.contains("damaged") == true)
        }
        // The next use loads it again.
        #expect(try await fixture.blobs.file(at: "a").bytes(in: 0..<end) == bytes)
        #expect(fixture.transport.requestCount == 2)
        #expect(await fixture.blobs.usage.damaged == 1)
        #expect(fixture.directory.bodies.count == 1)
    }

    @Test("A damaged file of an earlier response does not remove the blob that has replaced it")
    func replaced() async throws {
        let bytes = BlobFixture.bytes(Self.size)
        let (fixture, path) = try await Self.stored(bytes)
        let old = try await fixture.blobs.file(at: "a")
        let held = open(path, O_RDWR)
        defer { close(held) }
        try await fixture.blobs.remove(at: "a")
        _ = try await fixture.blobs.file(at: "a")
        try Self.flip("/proc/self/fd/\(held)", at: 3)
        await #expect(throws: RequestFailure.self) { try await old.bytes(in: 0..<10) }
        #expect(try await fixture.blobs.bytes(at: "a") == bytes)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("The file of a blob that is not stored is checked too", arguments: [100, Self.size])
    func unstored(size: Int) async throws {
        let (fixture, bytes) = (try BlobFixture(), BlobFixture.bytes(size))
        fixture.transport.on(.get, "/v1/a").answer(
            pieces: BlobFixture.pieces(bytes), headerFields: [.cacheControl: "no-store"])
        let file = try await fixture.blobs.file(at: "a")
        #expect(try await file.bytes(in: 0..<Int64(size)) == bytes)
        try Self.flip(file.path, at: size - 1)
        let failure = await #expect(throws: RequestFailure.self) { try await file.bytes(in: 0..<Int64(size)) }
        #expect(failure?.reason == .file)
    }

    @Test("Checksums do not depend on the parts in which the bytes arrive", arguments: [1, 2, 3] as [UInt64])
    func parts(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        let size = [0, 1, 4_095, 4_096, 1 << 20, (1 << 20) + 1, (2 << 20) + 12_345][Int(seed * 2) % 7]
        let bytes = BlobFixture.bytes(size, seed: seed)
        var running = RunningChecksums()
        bytes.withUnsafeBytes { all in
            var position = 0
            while position < all.count {
                let end = min(all.count, position + Int.random(in: 0...30_000, using: &numbers))
                running.append(UnsafeRawBufferPointer(rebasing: all[position..<end]))
                position = end
            }
        }
        #expect(running.finished == PieceChecksums(of: bytes))
        #expect(running.finished.sums.count == PieceChecksums.count(for: Int64(size)))
    }

    @Test("A changed, missing or additional byte gives other checksums")
    func eachByte() {
        let bytes = BlobFixture.bytes(4_200)
        let checksums = PieceChecksums(of: bytes)
        for index in 0..<bytes.count {
            var changed = bytes
            changed[index] ^= 0x80
            #expect(PieceChecksums(of: changed) != checksums)
        }
        #expect(PieceChecksums(of: bytes.dropLast()) != checksums)
        #expect(PieceChecksums(of: bytes + [0]) != checksums)
        #expect(PieceChecksums.count(for: .max) > 0 && PieceChecksums.count(for: .min) == 0)
    }
}
