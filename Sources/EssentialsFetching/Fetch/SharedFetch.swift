import Dispatch
import EssentialsRequests
import EssentialsTools

extension Emissions {
    /// One fetch, which begins now, and whose values are shared by all iterations.
    ///
    /// ```swift
    /// let coins = service.coins().shared()
    /// async let list: Void = list.show(coins)
    /// async let total: Void = total.show(coins)
    /// ```
    ///
    /// An iteration that begins later first receives the latest emitted value, and the end or the failure if the fetch
    /// has ended. The fetch is cancelled when the returned sequence, its copies and all of their iterations are
    /// released.
    ///
    /// An iteration that begins in another environment or for another account than the fetch receives neither values
    /// nor a failure. After credentials were cleared or replaced, values are left out that may have been received with
    /// credentials, or were read from a cache. A failure is left out too, because it can contain a response.
    public func shared() -> Emissions<Value> { Emissions(SharedFetch(source)) }
}

/// A fetch that has begun, and its values for any number of iterations.
private final class SharedFetch: EmissionSource, Sendable {
    private let source: any EmissionSource
    private let board = EmissionBoard()
    private let task: Task<Void, Never>

    var callbackQueue: DispatchQueue { source.callbackQueue }

    init(_ source: any EmissionSource) {
        self.source = source
        // It begins on this thread, in the current environment and with the current credentials.
        task = Task.immediate { [board] in
            let run = source.beginShared()
            do throws(RequestFailure) {
                while let emission = try await run.next() { board.post(emission) }
                board.end(with: nil)
            } catch {
                board.end(with: FetchEnd(failure: error, operation: run.operation))
            }
        }
    }

    deinit { task.cancel() }

    func begin() -> any EmissionRun { SharedRun(self, board) }

    func beginReading() -> FetchOperation? { source.beginReading() }
}

/// One iteration of a shared fetch.
private final class SharedRun: EmissionRun {
    private let fetch: SharedFetch
    private let board: EmissionBoard
    /// The operation of the iteration; `nil` for a test double.
    let operation: FetchOperation?
    private var position: Int
    private var hasEnded = false

    init(_ fetch: SharedFetch, _ board: EmissionBoard) {
        self.fetch = fetch
        self.board = board
        operation = fetch.beginReading()
        position = board.latest
    }

    func next() async throws(RequestFailure) -> FetchEmission? {
        while !hasEnded {
            switch await board.item(at: position) {
            case .emission(let emission):
                position += 1
                // The reader may be in another environment, or use another account, than the fetch.
                if emission.isFor(operation) { return emission }
            case .end(let end):
                hasEnded = true
                if let end, end.isFor(operation) { throw end.failure }
            case .cancelled:
                hasEnded = true
                throw RequestFailure(.cancelled, "The fetch was cancelled.")
            }
        }
        return nil
    }
}

/// The failure that ended a shared fetch.
private struct FetchEnd: Sendable {
    let failure: RequestFailure
    let operation: FetchOperation?

    /// Whether an operation may receive the failure, which can contain a response.
    func isFor(_ reader: FetchOperation?) -> Bool { operation?.isOpen(to: reader, mayBePersonal: true) ?? true }
}

/// The values of a shared fetch. A fetch emits at most two values.
private final class EmissionBoard: Sendable {
    enum Item: Sendable {
        case emission(FetchEmission)
        case end(FetchEnd?)
        /// The waiting task was cancelled.
        case cancelled
    }

    /// The items, followed by the one for which readers wait, unless the fetch has ended.
    private let items = Mutex([OneShot<Item>()])

    func post(_ emission: FetchEmission) { add(.emission(emission), isEnd: false) }

    func end(with end: FetchEnd?) { add(.end(end), isEnd: true) }

    private func add(_ item: Item, isEnd: Bool) {
        let awaited = items.withLock { items in
            defer { if !isEnd { items.append(OneShot()) } }
            return items[items.count - 1]
        }
        awaited.provide(item)
    }

    /// The position of the latest value, or of the first one if there is none yet.
    var latest: Int { items.withLock { max(0, $0.count - 2) } }

    /// The item at a position, which is at most that of the awaited item. There is no item after the end.
    func item(at position: Int) async -> Item {
        let item = items.withLock { $0[position] }
        return await item.valueUnlessCancelled() ?? .cancelled
    }
}
