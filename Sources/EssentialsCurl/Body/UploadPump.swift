import EssentialsTools
import EssentialsTransport
import FoundationEssentials

/// Reads the source of a streamed request body, slightly ahead of the engine.
///
/// It reads nothing before the engine requests the first piece, and nothing beyond the announced length.
final class UploadPump: Sendable {
    /// The source pauses when this number of bytes waits to be sent, and resumes when half of them are left. Resuming
    /// it for each small piece would take most of its time.
    static let readAhead = 512 << 10

    /// The result of the engine's request for a piece.
    enum Supply {
        case piece(Data)
        case later
        case end
    }

    private struct State {
        var pieces = Fifo<Data>()
        /// The number of bytes in the waiting pieces, and in all pieces so far.
        var waiting = 0
        var supplied = 0
        var isWanted = false
        /// Whether the engine waits to be notified of a piece.
        var isMissed = false
        var isEnded = false
        var isStopped = false
        var waiter: Waiter<Void>?
        var task: Task<Void, Never>?
        var failure: (any Error)?
    }

    private let state = Mutex(State())
    private let length: Int
    private let open: @Sendable () -> RequestBody.Source

    /// - Parameter length: The length of the body, or `nil` if it is unknown.
    init(length: Int?, open: @escaping @Sendable () -> RequestBody.Source) {
        self.length = length ?? .max
        self.open = open
    }

    /// The source's error, if it threw one.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// Starts reading.
    ///
    /// - Parameters:
    ///   - resume: Notifies the engine of a piece that it waits for.
    ///   - fail: Notifies the engine that the source has thrown an error.
    func start(resume: @escaping @Sendable () -> Void, fail: @escaping @Sendable () -> Void) {
        let task = Task {
            let source = open()
            do {
                while await demand() {
                    let piece = try await source()
                    if let piece, piece.isEmpty { continue }
                    if supply(piece) { resume() }
                    if piece == nil { return }
                }
            } catch {
                state.withLock { $0.failure = error }
                fail()
            }
        }
        let isStopped = state.withLock { state in
            state.task = task
            return state.isStopped
        }
        if isStopped { task.cancel() }
    }

    /// Returns the next piece, if there is one. Engine thread.
    ///
    /// - Parameter waits: Whether the engine has nothing else to send, so that it is notified of the next piece.
    func take(waits: Bool) -> Supply {
        let (supply, waiter) = state.withLock { state in
            let piece = state.pieces.popFirst()
            state.waiting -= piece?.count ?? 0
            let isRead = state.isEnded || state.supplied >= length
            if piece == nil, waits, !isRead { state.isMissed = true }
            let supply = piece.map { Supply.piece($0) } ?? (isRead ? .end : .later)
            guard state.waiting <= Self.readAhead / 2, !isRead else {
                return (supply, Waiter<Void>?.none)
            }
            state.isWanted = true
            return (supply, state.waiter.take())
        }
        waiter?.resume()
        return supply
    }

    /// Stops reading, because the exchange has ended. Engine thread.
    func stop() {
        let (waiter, task) = state.withLock { state in
            state.isStopped = true
            state.pieces = Fifo()
            return (state.waiter.take(), state.task.take())
        }
        task?.cancel()
        waiter?.resume()
    }

    /// Waits until a piece is wanted, and returns whether the exchange still runs.
    private func demand() async -> Bool {
        await withWaiter { continuation in
            let resumesNow = state.withLock { state in
                let isReady = state.isWanted || state.isStopped
                if !isReady { state.waiter = continuation }
                return isReady
            }
            if resumesNow { continuation.resume() }
        }
        return state.withLock { !$0.isStopped }
    }

    /// Keeps a piece, or the end, for the engine, and returns whether the engine waits for it.
    private func supply(_ piece: Data?) -> Bool {
        state.withLock { state in
            guard !state.isStopped else { return false }
            if let piece {
                state.pieces.append(piece)
                state.waiting += piece.count
                state.supplied += piece.count
                if state.waiting >= Self.readAhead || state.supplied >= length { state.isWanted = false }
            } else {
                state.isEnded = true
            }
            defer { state.isMissed = false }
            return state.isMissed
        }
    }
}
