import Synchronization

/// The entries of an outbox: those that are there, then each one that changes.
///
/// ```swift
/// for await entry in outbox.statuses {
///     if case .failed(let failure) = entry.state { show(failure.message) }
/// }
/// ```
///
/// A reader that is slower than the changes finds only the newest state of each entry. At most 10,000 entries wait for a
/// reader; beyond that the oldest changes are dropped, and ``Outbox/entries`` has the whole truth. There can be any number
/// of readers. The sequence ends when the calling task is cancelled or the outbox is closed, and never throws.
public struct OutboxStatuses: AsyncSequence, Sendable {
    /// An entry with its state.
    public typealias Element = OutboxEntry
    /// The sequence never fails.
    public typealias Failure = Never

    let core: OutboxCore

    /// Begins with the entries that are there.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: OutboxReader(core)) }

    /// Reads the entries.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: OutboxReader

        /// The next change; `nil` at the end.
        public mutating func next() async -> OutboxEntry? { await next(isolation: #isolation) }

        /// The next change; `nil` at the end. A `for` loop calls this method.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> OutboxEntry? {
            await reader.mailbox.next()
        }
    }
}

/// The place of one reader. It leaves the outbox when the reader is gone.
private final class OutboxReader: Sendable {
    let mailbox = OutboxMailbox()
    private let core: OutboxCore
    private let number: Int

    init(_ core: OutboxCore) {
        self.core = core
        number = core.add(mailbox)
    }

    deinit { core.removeReader(number) }
}

/// Keeps the newest state of each changed entry until it is read.
final class OutboxMailbox: Sendable {
    typealias Waiter = CheckedContinuation<OutboxEntry?, Never>

    private struct State {
        var newest: [OutboxEntry.ID: OutboxEntry] = [:]
        /// The entries in the order of their first unread change. Some are dropped already.
        var order: [OutboxEntry.ID] = []
        var first = 0
        var waiter: Waiter?
        var isFinished = false

        mutating func take() -> OutboxEntry? {
            while first < order.count {
                let id = order[first]
                first += 1
                if first * 2 > order.count {
                    order.removeFirst(first)
                    first = 0
                }
                if let entry = newest.removeValue(forKey: id) { return entry }
            }
            return nil
        }
    }

    static let maximumCount = 10_000

    private let state = Mutex(State())

    /// Adds a change.
    ///
    /// - Returns: What is to be called outside of all locks.
    func put(_ entry: OutboxEntry) -> (() -> Void)? {
        let waiter = state.withLock { state -> Waiter? in
            if let waiter = state.waiter.take() { return waiter }
            if state.newest.updateValue(entry, forKey: entry.id) == nil {
                state.order.append(entry.id)
                if state.newest.count > Self.maximumCount { _ = state.take() }
            }
            return nil
        }
        guard let waiter else { return nil }
        return { waiter.resume(returning: entry) }
    }

    func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            return state.waiter.take()
        }
        waiter?.resume(returning: nil)
    }

    func next() async -> OutboxEntry? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (entry, earlier, isReady) = state.withLock { state -> (OutboxEntry?, Waiter?, Bool) in
                    if Task.isCancelled { return (nil, nil, true) }
                    if let entry = state.take() { return (entry, nil, true) }
                    if state.isFinished { return (nil, nil, true) }
                    // Two tasks must not read with one iterator. If they do, the earlier one ends.
                    defer { state.waiter = continuation }
                    return (nil, state.waiter, false)
                }
                earlier?.resume(returning: nil)
                if isReady { continuation.resume(returning: entry) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiter.take() }
            waiter?.resume(returning: nil)
        }
    }
}
