import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsRequests

/// Streamed bodies that are written to files while they arrive.
@Suite("Bodies that wait for the disk", .timeLimit(.minutes(2)))
struct CacheDiskWritingTests {
    private let scratch: ScratchDirectory
    private let url: RequestURL

    init() throws {
        scratch = try ScratchDirectory()
        url = try RequestURL("https://example.com/a")
        try FileThreads.shared.ensureStarted()
    }

    /// A directory that calls a closure before each write.
    private func records(_ wrote: @escaping @Sendable () -> Void) throws -> RecordDirectory {
        var calls = FileCalls.system
        calls.write = { descriptor, bytes in
            wrote()
            return FileCalls.system.write(descriptor, bytes)
        }
        let configuration = DiskResponseStore.configuration(bytes: 1 << 30)
        let records = RecordDirectory(absolute: scratch("cache"), configuration, calls: calls)
        try records.use()
        return records
    }

    private func writer(on lane: DiskLane, _ room: BufferRoom) async throws -> DiskResponseWriter {
        let key = ResponseKey.sample(url)
        let name = RecordKey(RecordName(key: .random(in: .min ... .max), partition: 0, group: 0), key.bytes)
        let condition = try #require(await lane.ticket(name)?.context as? RecordCondition)
        let record = try #require(await lane.begin(name, if: condition))
        let target = DiskResponseWriter.Target(
            response: .sample(load: 1, body: 1), name: name, key: key, replaced: nil)
        return DiskResponseWriter(target, record, on: lane, largest: 1 << 27, in: room)
    }

    @Test("Other work on files gets its turn while a body arrives faster than it is written")
    func turns() async throws {
        let piece = BodyChunk(Data(count: 70_000))
        let fed = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)
        let fedWriter = Mutex<DiskResponseWriter?>(nil)
        let records = try records {
            // Each piece that is written brings another one.
            guard !isOver.load(ordering: .relaxed), fed.add(1, ordering: .relaxed).newValue < 1_000 else { return }
            _ = fedWriter.withLock { $0 }?.append(piece)
        }
        let lane = DiskLane(records, DiskHealth())
        let writer = try await writer(on: lane, BufferRoom(bytes: 1 << 30))
        fedWriter.withLock { $0 = writer }
        #expect(writer.append(piece))
        while fed.load(ordering: .relaxed) == 0 { await Task.yield() }
        _ = await lane.usage()
        isOver.store(true, ordering: .relaxed)
        #expect(fed.load(ordering: .relaxed) < 1_000)
        fedWriter.withLock { $0 = nil }
        #expect(await writer.commit())
    }

    @Test(
        "A body of which too much waits is given up, and so is one if too much of all waits; then there is room again")
    func room() async throws {
        let isHanging = Atomic<Bool>(false)
        let records = try records { while isHanging.load(ordering: .relaxed) { usleep(1_000) } }
        let limit = 4 * DiskResponseWriter.maximumWaiting
        let room = BufferRoom(bytes: limit)
        var writers: [DiskResponseWriter] = []
        for _ in 0..<6 { writers.append(try await writer(on: DiskLane(records, DiskHealth()), room)) }
        let (piece, byte) = (BodyChunk(Data(count: DiskResponseWriter.maximumWaiting / 4)), BodyChunk(Data(count: 1)))
        isHanging.store(true, ordering: .relaxed)
        for writer in writers[..<4] { for _ in 0..<4 { #expect(writer.append(piece)) } }
        #expect(!writers[4].append(byte))
        for writer in writers[..<4] { #expect(!writer.append(byte)) }
        // What waited was dropped, so there is room although the disk still hangs.
        for _ in 0..<4 { #expect(writers[5].append(piece)) }
        isHanging.store(false, ordering: .relaxed)
        for writer in writers[..<5] { #expect(await !writer.commit()) }
        #expect(await writers[5].commit())
        #expect(room.share().take(limit))
    }

    @Test("A piece that comes after the commit is refused, and takes nothing of the body away")
    func late() async throws {
        let isHanging = Atomic<Bool>(false)
        let records = try records { while isHanging.load(ordering: .relaxed) { usleep(1_000) } }
        let lane = DiskLane(records, DiskHealth())
        let writer = try await writer(on: lane, .common)
        isHanging.store(true, ordering: .relaxed)
        let piece = BodyChunk(Data(count: 1 << 20))
        for _ in 0..<3 { #expect(writer.append(piece)) }
        let committing = Task { await writer.commit() }
        while writer.append(BodyChunk(Data(count: 0))) { await Task.yield() }
        isHanging.store(false, ordering: .relaxed)
        #expect(await committing.value)
        #expect(await lane.usage().bytes > 3 << 20)
    }
}
