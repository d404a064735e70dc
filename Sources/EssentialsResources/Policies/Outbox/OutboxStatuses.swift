import EssentialsTools

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
typealias OutboxMailbox = Mailbox<UnreadEntries>

/// The newest states of the changed entries.
struct UnreadEntries: MailboxContents {
    static let maximumCount = 10_000

    private var newest: [OutboxEntry.ID: OutboxEntry] = [:]
    /// The entries in the order of their first unread change. Some are dropped already.
    private var order = Fifo<OutboxEntry.ID>()

    mutating func put(_ entry: OutboxEntry) {
        guard newest.updateValue(entry, forKey: entry.id) == nil else { return }
        order.append(entry.id)
        if newest.count > Self.maximumCount { _ = take() }
    }

    mutating func take() -> OutboxEntry? {
        while let id = order.popFirst() {
            if let entry = newest.removeValue(forKey: id) { return entry }
        }
        return nil
    }
}

extension OutboxMailbox {
    convenience init() { self.init(UnreadEntries()) }

    /// Adds a change.
    ///
    /// - Returns: The delivery that is to be made outside of all locks.
    func put(_ entry: OutboxEntry) -> Delivery? { changeHeld { $0.put(entry) }.1 }
}
