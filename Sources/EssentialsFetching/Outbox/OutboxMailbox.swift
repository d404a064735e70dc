import EssentialsTools

/// Keeps the newest state of each changed entry until it is read.
typealias OutboxMailbox = Mailbox<UnreadEntries>

/// The newest states of the changed entries.
struct UnreadEntries: MailboxContents {
    static let maximumCount = 10_000

    private var newest: [OutboxEntry.ID: OutboxEntry] = [:]
    /// The entries in the order of their first unread change. Some of them may already be dropped.
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
    /// - Returns: The delivery, which must be made outside all locks.
    func put(_ entry: OutboxEntry) -> Delivery? { changeHeld { $0.put(entry) }.1 }
}
