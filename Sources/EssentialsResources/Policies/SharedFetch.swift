import Dispatch
import EssentialsRequests
import Synchronization

extension Emissions {
    /// The same values for everyone: one fetch, which begins now.
    ///
    /// ```swift
    /// let coins = service.coins().shared()
    /// async let list: Void = list.show(coins)
    /// async let total: Void = total.show(coins)
    /// ```
    ///
    /// An iteration that begins later first receives the latest value that has been emitted, and the end or the failure
    /// if the fetch has ended. Values that were fetched with credentials are left out after these were cleared or replaced by
    /// others. The fetch is cancelled when the returned sequence, its copies and all of their iterations are released.
    public func shared() -> Emissions<Value> { Emissions(SharedFetch(source)) }
}

/// A fetch that has begun, and its values for any number of iterations.
private final class SharedFetch: EmissionSource, Sendable {
    private let board = EmissionBoard()
    private let task: Task<Void, Never>
    let callbackQueue: DispatchQueue

    init(_ source: any EmissionSource) {
        callbackQueue = source.callbackQueue
        task = Task { [board] in
            let run = source.begin()
            do throws(RequestFailure) {
                while let emission = try await run.next() { board.post(emission) }
                board.end(with: nil)
            } catch {
                board.end(with: error)
            }
        }
    }

    deinit { task.cancel() }

    func begin() -> any EmissionRun { SharedRun(self, board) }
}

/// One iteration of a shared fetch.
private final class SharedRun: EmissionRun {
    private let fetch: SharedFetch
    private let board: EmissionBoard
    private var position: Int
    private var hasEnded = false

    init(_ fetch: SharedFetch, _ board: EmissionBoard) {
        self.fetch = fetch
        self.board = board
        position = board.latest
    }

    func next() async throws(RequestFailure) -> FetchEmission? {
        while !hasEnded {
            switch await board.item(at: position) {
            case .emission(let emission):
                position += 1
                // Whoever iterates now may be another user than the one for whom the fetch has begun.
                if emission.operation?.isForFormerCredentials != true { return emission }
            case .end(let failure):
                hasEnded = true
                if let failure { throw failure }
            }
        }
        return nil
    }
}

/// The values of a shared fetch. A fetch emits two at most.
private final class EmissionBoard: Sendable {
    enum Item: Sendable {
        case emission(FetchEmission)
        case end(RequestFailure?)
    }

    private struct State {
        var items: [Item] = []
        var hasEnded = false
        var waiters: [UInt64: CheckedContinuation<Item?, Never>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    func post(_ emission: FetchEmission) { add(.emission(emission), isEnd: false) }

    func end(with failure: RequestFailure?) { add(.end(failure), isEnd: true) }

    private func add(_ item: Item, isEnd: Bool) {
        let waiters = state.withLock { state in
            state.items.append(item)
            state.hasEnded = isEnd
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(returning: item) }
    }

    /// The position of the latest value, or of the first one if there is none yet.
    var latest: Int {
        state.withLock { state in max(0, state.items.count - (state.hasEnded ? 2 : 1)) }
    }

    /// The item at a position. All who wait, wait for the next one.
    func item(at position: Int) async -> Item {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let item = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Item?, Never>) in
                let (item, waits) = state.withLock { state -> (Item?, Bool) in
                    if position < state.items.count { return (state.items[position], false) }
                    guard !Task.isCancelled else { return (nil, false) }
                    state.waiters[waiter] = continuation
                    return (nil, true)
                }
                if !waits { continuation.resume(returning: item) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume(returning: nil)
        }
        return item ?? .end(RequestFailure(.cancelled, "The fetch was cancelled."))
    }
}
