import EssentialsHTTP
import EssentialsTools

/// The changes of a resource: each event with the state after it, beginning with `attached`.
///
/// ```swift
/// for await change in cart.changes() {
///     print(change.event, change.state.version)
/// }
/// ```
///
/// Changes that the reader has not taken yet are buffered up to a limit. Beyond it the oldest are dropped, and the next
/// element says how many were missed. The sequence ends when the calling task is cancelled or the service is closed, and
/// never throws. Its reader keeps the resource alive and counts as an observer.
public struct ResourceChanges<Content: Sendable>: AsyncSequence, Sendable {
    /// A change.
    public typealias Element = ResourceChange<Content>
    /// The sequence never fails.
    public typealias Failure = Never

    let resource: Resource<Content>
    let limit: Int
    let loading: ObserverLoading
    let refresh: ResourceRefresh?
    let reportsProgress: Bool

    /// Begins with the event `attached`.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Reads the changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let reader: ChangeReader<Content>

        fileprivate init(_ changes: ResourceChanges) {
            reader = ChangeReader(changes)
            if changes.loading == .ifNeeded { changes.resource.loadForObserver() }
        }

        /// The next change; `nil` at the end.
        public mutating func next() async -> ResourceChange<Content>? { await next(isolation: #isolation) }

        /// The next change; `nil` at the end. A `for` loop calls this method.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ResourceChange<Content>? {
            await reader.next()
        }
    }
}

/// The place of one reader. It leaves the resource when the reader is gone.
final class ChangeReader<Content: Sendable>: Sendable {
    private let resource: Resource<Content>
    private let receiver: ChangeBuffer
    private let number: UInt64
    #if DEBUG
        private let mark = LiveMark(.reader)
    #endif

    init(_ changes: ResourceChanges<Content>) {
        resource = changes.resource
        receiver = ChangeBuffer(limit: changes.limit, reportsProgress: changes.reportsProgress)
        _ = resource.state
        number = resource.core.add(receiver, refreshing: changes.refresh, resource.service)
        // Closing the service ends the observers that it finds, so one that comes later ends itself.
        if resource.service.isClosed { receiver.finish() }
        resource.service.readCachesForObserver(of: resource.core)
    }

    deinit { resource.handle.remove(observer: number) }

    func next() async -> ResourceChange<Content>? {
        while let change = await receiver.next() {
            if let change = resource.change(change) { return change }
        }
        return nil
    }
}

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
        // Content of the dropped change may end here, outside the lock.
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
