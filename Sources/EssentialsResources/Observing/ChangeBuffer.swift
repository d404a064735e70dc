import EssentialsTools

/// Keeps changes until they are read, up to a limit.
final class ChangeBuffer: ChangeReceiver {
    private struct Unread: MailboxContents {
        var changes = Fifo<PendingChange>()
        var missed = 0

        mutating func take() -> PendingChange? {
            guard var change = changes.popFirst() else { return nil }
            change.missed += missed
            missed = 0
            return change
        }
    }

    let reportsProgress: Bool
    private let limit: Int
    private let unread = Mailbox(Unread())

    init(limit: Int, reportsProgress: Bool = false) {
        self.limit = max(1, limit)
        self.reportsProgress = reportsProgress
    }

    func receive(_ change: PendingChange) {
        // Content of the dropped change may be released here, outside the lock.
        _ = unread.change { unread in
            let dropped = unread.changes.count >= limit ? unread.changes.popFirst() : nil
            if let dropped { unread.missed += 1 + dropped.missed }
            unread.changes.append(change)
            return dropped
        }
    }

    func finish() { unread.finish() }

    func next() async -> PendingChange? { await unread.next() }
}
