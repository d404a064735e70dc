import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// A streamed body that is stored while it is read. The reader decides about the pace.
final class StoringBody: ResponseBody.Source {
    private let pieces: StoredPieces

    init(_ pieces: StoredPieces) { self.pieces = pieces }

    deinit { pieces.leave() }

    func next() async throws(RequestFailure) -> BodyChunk? { try await pieces.nextForReader() }
    func cancel() { pieces.leave() }
    func abandon() { pieces.abandon() }
    var ending: ResponseEnding? { pieces.ending }
}

/// The pieces of a body, which are stored together when the last one was read.
final class StoredPieces: Sendable {
    /// Where the body is stored, and on which conditions.
    struct Target: Sendable {
        let writer: any ResponseWriter
        /// The maximum number of bytes.
        let limit: Int
        let submission: Submission
        /// The announced length; `nil` if it is not known.
        let expected: Int?
        /// The place among the bodies that are stored at the same time.
        let place: Place
    }

    private struct State {
        /// `nil` if the body is not stored, or was stored.
        var target: Target?
        /// The number of bytes that were read.
        var count = 0
        var isRead = false
        /// Whether a piece is being read.
        var isReading = false
        /// Whether the reader wants no more.
        var hasLeft = false
    }

    private let source: any ResponseBody.Source
    private let clock: any Clock<Duration>
    private let state: Mutex<State>

    init(_ source: any ResponseBody.Source, _ target: Target, _ clock: any Clock<Duration>) {
        (self.source, self.clock) = (source, clock)
        state = Mutex(State(target: target))
    }

    /// The next piece for the reader, who may have left.
    func nextForReader() async throws(RequestFailure) -> BodyChunk? {
        let hasLeft = state.withLock { state in
            state.isReading = !state.hasLeft
            return state.hasLeft
        }
        if hasLeft {
            throw RequestFailure(
                .cancelled, "The request was cancelled while its body was being read.", phase: .receiving)
        }
        defer { state.withLock { $0.isReading = false } }
        return try await next()
    }

    private func next() async throws(RequestFailure) -> BodyChunk? {
        let chunk: BodyChunk?
        do throws(RequestFailure) {
            chunk = try await source.next()
        } catch {
            giveUp()
            throw error
        }
        if let chunk { add(chunk) } else { await store() }
        return chunk
    }

    private func add(_ chunk: BodyChunk) {
        let isAdded = state.withLock { state in
            guard let target = state.target else { return true }
            guard chunk.count <= target.limit - state.count else { return false }
            state.count += chunk.count
            // Under the lock, so that nothing is appended after the end. It does not wait.
            return target.writer.append(chunk)
        }
        if !isAdded { giveUp() }
    }

    private func store() async {
        let (target, count) = take(isRead: true)
        guard let target else { return }
        guard target.expected.map({ $0 == count }) ?? true, target.submission.mayStore else {
            return target.writer.abandon()
        }
        _ = await target.writer.commit()
    }

    private func take(isRead: Bool = false) -> (Target?, Int) {
        state.withLock { state in
            if isRead { state.isRead = true }
            return (state.target.take(), state.count)
        }
    }

    private func giveUp() { take().0?.writer.abandon() }

    func abandon() {
        giveUp()
        source.abandon()
    }

    /// The reader wants no more. If little is missing, the rest is read nevertheless, as the transport would do in order to
    /// keep the connection.
    func leave() {
        let (isFirst, missing) = state.withLock { state -> (Bool, Int?) in
            guard !state.hasLeft, !state.isRead else { return (false, nil) }
            state.hasLeft = true
            // A reader that still waits for a piece is ended by the source.
            guard !state.isReading else { return (true, nil) }
            return (true, state.target?.expected.map { $0 - state.count })
        }
        guard isFirst else { return }
        guard let missing, (0...BodyDrain.limit).contains(missing) else {
            giveUp()
            return source.cancel()
        }
        Task.detached { [self] in
            await withTaskGroup { group in
                // It ends too when the rest proves to be longer.
                group.addTask { [self] in while (try? await next()) != nil, state.withLock({ $0.target != nil }) {} }
                group.addTask { [clock] in try? await clock.sleep(for: BodyDrain.time, tolerance: nil) }
                await group.next()
                group.cancelAll()
                // Nothing is left unless the time is over.
                if !state.withLock({ $0.isRead }) { abandon() }
            }
        }
    }

    var ending: ResponseEnding? { source.ending }
}

/// Limits how many streamed bodies are stored at the same time.
final class CacheWriters: Sendable {
    /// The maximum number.
    static let maximum = 64

    private let count = Atomic<Int>(0)

    /// A place, which is left when it is released; `nil` if there is none.
    func enter() -> Place? {
        guard count.add(1, ordering: .relaxed).newValue <= Self.maximum else {
            count.subtract(1, ordering: .relaxed)
            return nil
        }
        return Place { [self] in count.subtract(1, ordering: .relaxed) }
    }
}
