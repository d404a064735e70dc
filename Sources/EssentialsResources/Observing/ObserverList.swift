import EssentialsTools

/// Receives the changes of a resource. It is called without a lock, by one thread at a time.
protocol ChangeReceiver: AnyObject, Sendable {
    /// Receives a change.
    func receive(_ change: PendingChange)
    /// Whether the receiver has requested the progress of loads.
    var reportsProgress: Bool { get }
    /// Whether the receiver can end its observation by itself; see ``sweep()``. Such a receiver does not keep the
    /// service alive.
    var endsByItself: Bool { get }
    /// The service, for a receiver that does not keep it alive. It is `nil` after the end of the service, and for all
    /// others.
    var livingService: HTTPResourceService? { get }
    /// Ends the observation if nothing needs it any more.
    func sweep()
    /// Ends the observation, because the service was closed. No more changes will come.
    func finish()
}

extension ChangeReceiver {
    var reportsProgress: Bool { false }
    var endsByItself: Bool { false }
    var livingService: HTTPResourceService? { nil }
    func sweep() {}
}

/// A change that waits for its delivery.
@usableFromInline
struct PendingChange: Sendable {
    @usableFromInline let event: ResourceEvent
    /// The views after the event.
    let views: [ResourceView]
    let version: UInt64
    /// The only observer that receives the change; `nil` means all.
    var target: UInt64?
    /// How many earlier changes were dropped.
    @usableFromInline var missed = 0

    /// Whether only receivers that have requested progress receive the change.
    var isProgress: Bool {
        if case .progress = event { return true }
        return false
    }

    /// The change as it may be delivered; `nil` if it comes from an account or environment that was left.
    ///
    /// The event with which an observation begins, and the progress that a load reaches at its end, are delivered
    /// without content instead of being left out, because observers rely on them.
    ///
    /// - Parameter firstVersion: The first version of the current account and environment.
    func shown(since firstVersion: UInt64) -> PendingChange? {
        guard version < firstVersion else { return self }
        switch event {
        case .attached, .progress:
            return PendingChange(event: event, views: views.map(\.withoutContent), version: version, target: target)
        default: return nil
        }
    }

    /// The snapshot of a content type; `nil` if the view was created later.
    @usableFromInline
    func object(of contentType: ObjectIdentifier) -> AnyObject? { views.object(of: contentType) }
}

/// The observers of a resource, in the order in which they were added.
///
/// An observer is found by binary search, because the numbers rise. Removing one leaves a gap. Gaps are closed when
/// they are the majority, so adding and removing take constant time on average, regardless of the number of observers.
struct ObserverList: Sendable {
    /// An observer and its number.
    struct Member: Sendable {
        let number: UInt64
        let receiver: any ChangeReceiver
    }

    private struct Entry: Sendable {
        let number: UInt64
        /// The version of the state that the observer received when it was added.
        let since: UInt64
        var receiver: (any ChangeReceiver)?
    }

    private var entries: [Entry] = []
    private var gaps: Int32 = 0
    /// The number of observers that have requested the progress of loads.
    private var reporting: Int32 = 0
    /// The number of the last added observer of all lists. An observer therefore keeps its number in another list.
    private static let lastNumber = Atomic<UInt64>(0)

    /// The number of observers.
    var count: Int { entries.count - Int(gaps) }
    /// Whether an observer has requested the progress of loads.
    var reportsProgress: Bool { reporting > 0 }
    /// The service of observers that do not keep it alive. All have the same one.
    var livingService: HTTPResourceService? {
        for entry in entries { if let service = entry.receiver?.livingService { return service } }
        return nil
    }

    /// The observers that can end by themselves.
    var endingByThemselves: [any ChangeReceiver] { entries.compactMap(\.receiver).filter(\.endsByItself) }

    /// Adds an observer.
    ///
    /// - Parameters:
    ///   - receiver: The observer.
    ///   - version: The version of the current state. Changes up to it are not delivered to the observer.
    /// - Returns: Its number.
    mutating func add(_ receiver: any ChangeReceiver, since version: UInt64) -> UInt64 {
        let number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        entries.append(Entry(number: number, since: version, receiver: receiver))
        if receiver.reportsProgress { reporting += 1 }
        return number
    }

    /// Adds observers of another list. They keep their numbers.
    ///
    /// - Parameter version: The version of the current state. Changes up to it are not delivered to them.
    mutating func insert(_ members: [Member], since version: UInt64) {
        entries.removeAll { $0.receiver == nil }
        gaps = 0
        entries += members.map { Entry(number: $0.number, since: version, receiver: $0.receiver) }
        entries.sort { $0.number < $1.number }
        reporting += Int32(truncatingIfNeeded: members.count { $0.receiver.reportsProgress })
    }

    /// Removes all observers, so that they can be added to another list.
    mutating func takeAll() -> [Member] {
        let members = entries.compactMap { entry in
            entry.receiver.map { Member(number: entry.number, receiver: $0) }
        }
        _ = removeAll()
        return members
    }

    /// Removes an observer.
    ///
    /// - Returns: The observer; `nil` if it was removed before.
    mutating func remove(_ number: UInt64) -> (any ChangeReceiver)? {
        let index = index(after: number - 1)
        guard index < entries.count, entries[index].number == number, let receiver = entries[index].receiver else {
            return nil
        }
        entries[index].receiver = nil
        gaps += 1
        if receiver.reportsProgress { reporting -= 1 }
        if gaps > 32, Int(gaps) * 2 > entries.count {
            entries.removeAll { $0.receiver == nil }
            gaps = 0
        }
        return receiver
    }

    /// The observer with a number.
    func receiver(_ number: UInt64) -> (any ChangeReceiver)? {
        let index = index(after: number - 1)
        guard index < entries.count, entries[index].number == number else { return nil }
        return entries[index].receiver
    }

    /// The next observers for a change, at most 64.
    ///
    /// - Parameters:
    ///   - number: The number of the last observer that has received the change; zero at the beginning.
    ///   - change: The change. Only observers that have requested progress receive progress.
    /// - Returns: The observers, and the number for the next call; `nil` after the last observer.
    func next(after number: UInt64, for change: PendingChange) -> (members: [Member], last: UInt64)? {
        var index = index(after: number)
        guard index < entries.count else { return nil }
        var members: [Member] = []
        members.reserveCapacity(min(64, entries.count - index))
        var last = number
        let isProgress = change.isProgress
        while index < entries.count, members.count < 64 {
            let entry = entries[index]
            last = entry.number
            index += 1
            guard entry.since < change.version, let receiver = entry.receiver else { continue }
            if !isProgress || receiver.reportsProgress {
                members.append(Member(number: entry.number, receiver: receiver))
            }
        }
        return (members, last)
    }

    /// Removes all observers and returns them.
    mutating func removeAll() -> [any ChangeReceiver] {
        defer { (entries, gaps, reporting) = ([], 0, 0) }
        return entries.compactMap(\.receiver)
    }

    /// The index of the first entry with a greater number.
    private func index(after number: UInt64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
