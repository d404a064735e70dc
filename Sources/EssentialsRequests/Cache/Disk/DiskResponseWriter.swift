import EssentialsStorage
import EssentialsTools
import EssentialsTransport

/// Writes a response to a directory while its body arrives. The pieces wait in memory for the file thread, up to a limit:
/// the reader of the body never waits for the disk.
final class DiskResponseWriter: ResponseWriter {
    /// How many bytes of one body may wait. Beyond that the response is given up.
    static let maximumWaiting = 16 << 20
    /// How many bytes are written in one turn of a file thread, or one piece.
    private static let maximumWritten = 1 << 20

    struct Target: Sendable {
        let response: StoredResponse
        let name: RecordKey
        let key: ResponseKey
        let replaced: UInt64?
    }

    private struct State {
        var waiting = Fifo<BodyChunk>()
        var waitingBytes = 0
        /// The number of bytes that a file thread writes now.
        var writtenBytes = 0
        var count = 0
        /// Whether a file thread writes, or is going to.
        var isWriting = false
        /// Whether nothing more is appended, because the response was committed, abandoned or given up.
        var hasEnded = false
        /// The record; `nil` while a file thread has it, and after its end.
        var record: RecordWriter?
        /// Provided when no file thread writes any more.
        var idle: OneShot<Void>?
    }

    private let target: Target
    private let lane: DiskLane
    private let largest: Int
    private let room: BufferRoom.Share
    private let state: Mutex<State>

    /// - Parameter room: Where the bytes that wait are counted.
    init(
        _ target: Target, _ record: RecordWriter, on lane: DiskLane, largest: Int,
        in room: BufferRoom = .common
    ) {
        (self.target, self.lane, self.largest) = (target, lane, largest)
        self.room = room.share()
        state = Mutex(State(record: record))
    }

    deinit {
        // Nothing holds the writer, so no file thread has the record.
        let record = state.withLock { $0.record.take() }
        if var record { record.abandon() }
    }

    func append(_ bytes: BodyChunk) -> Bool {
        let (isAppended, begins, dropped) = state.withLock { state -> (Bool, Bool, Fifo<BodyChunk>) in
            // What was appended before the commit is still written.
            guard !state.hasEnded else { return (false, false, Fifo()) }
            guard bytes.count <= largest - state.count,
                bytes.count <= Self.maximumWaiting - state.waitingBytes - state.writtenBytes, room.take(bytes.count)
            else { return (false, false, drop(&state)) }
            state.waiting.append(bytes)
            state.waitingBytes += bytes.count
            state.count += bytes.count
            defer { state.isWriting = true }
            return (true, !state.isWriting, Fifo())
        }
        withExtendedLifetime(dropped) {}
        if begins { Task.detached { [self] in await lane.write(for: self) } }
        return isAppended
    }

    /// The next pieces to write, with the record; `nil` if there are none.
    func takePieces() -> (pieces: [BodyChunk], record: RecordWriter)? {
        let (taken, idle) = state.withLock { state -> ((pieces: [BodyChunk], record: RecordWriter)?, OneShot<Void>?) in
            guard !state.waiting.isEmpty, let record = state.record.take() else {
                state.isWriting = false
                return (nil, state.idle.take())
            }
            var pieces: [BodyChunk] = []
            repeat {
                guard let piece = state.waiting.popFirst() else { break }
                pieces.append(piece)
                state.writtenBytes += piece.count
            } while state.writtenBytes < Self.maximumWritten
            state.waitingBytes -= state.writtenBytes
            return ((pieces, record), nil)
        }
        idle?.provide(())
        return taken
    }

    /// Gives the record back after a write.
    ///
    /// - Parameter record: `nil` if the write has failed.
    func giveBack(_ record: RecordWriter?) {
        let dropped = state.withLock { state in
            state.record = record
            room.giveBack(state.writtenBytes)
            state.writtenBytes = 0
            return record == nil ? drop(&state) : Fifo()
        }
        withExtendedLifetime(dropped) {}
    }

    /// Drops the pieces that wait. Nothing more is appended.
    ///
    /// - Returns: The pieces, which are released without the lock.
    private func drop(_ state: inout State) -> Fifo<BodyChunk> {
        room.giveBack(state.waitingBytes)
        defer { (state.hasEnded, state.waiting, state.waitingBytes) = (true, Fifo(), 0) }
        return state.waiting
    }

    func commit() async -> Bool {
        let isWanted = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        await waitUntilIdle()
        guard let record = state.withLock({ $0.record.take() }) else { return false }
        guard isWanted else {
            await lane.abandon(record)
            return false
        }
        return await lane.commit(record, target) != nil
    }

    func abandon() {
        let dropped = state.withLock { drop(&$0) }
        withExtendedLifetime(dropped) {}
        Task.detached { [self] in
            await waitUntilIdle()
            if let record = state.withLock({ $0.record.take() }) { await lane.abandon(record) }
        }
    }

    private func waitUntilIdle() async {
        let idle = state.withLock { state -> OneShot<Void>? in
            guard state.isWriting else { return nil }
            let idle = state.idle ?? OneShot<Void>()
            state.idle = idle
            return idle
        }
        await idle?.value()
    }
}

extension DiskLane {
    /// Writes the pieces that wait, until none is left. Other work on files gets its turn in between, however fast they arrive.
    func write(for writer: DiskResponseWriter) async {
        while let (pieces, record) = writer.takePieces() {
            var record = record
            let isWritten = append(pieces, to: &record)
            if !isWritten { record.abandon() }
            writer.giveBack(isWritten ? record : nil)
            await Task.yield()
        }
    }

    func commit(_ record: RecordWriter, _ target: DiskResponseWriter.Target) -> StoredRecord? {
        var record = record
        return commit(&record, target.response, target.name, target.key, replacing: target.replaced)
    }

    func abandon(_ record: RecordWriter) {
        var record = record
        record.abandon()
    }
}
