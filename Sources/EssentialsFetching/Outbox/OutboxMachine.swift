import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// Decides which entries of an outbox are sent, and when.
///
/// It has no clock, files or tasks: moments are passed to it, and it returns actions. The caller reports their results.
///
/// At any time at most one entry of a lane is being sent, and it is the first one of its lane.
struct OutboxMachine: Sendable {
    /// Entries of one lane are sent in their order.
    struct Lane: Hashable, Sendable {
        let partition: EntityPartition
        let environment: OutboxEnvironment
        let key: OrderingKey

        init(_ entry: OutboxEntry) {
            (partition, environment, key) = (entry.partition, entry.environment, entry.orderingKey)
        }
    }

    /// The moment of an event.
    struct Moment: Sendable {
        /// The monotonic time.
        var now: Duration
        /// The wall clock.
        var date: Date
        /// The time since the start of the machine; `nil` if it is not known.
        var bootTime: BootTime?
        /// A random number from 0 to 1.
        var fraction = 1.0
    }

    /// An action for the caller.
    enum Action: Sendable, Hashable {
        /// Sends the entry and calls ``sent(_:status:_:)`` or ``failed(_:_:_:)``.
        case send(OutboxEntry.ID)
        /// Removes the files of the entry, which was sent, and calls ``removed(_:_:)``.
        case remove(OutboxEntry.ID)
        /// Stores why the entry was given up, and calls ``setAside(_:_:)``.
        case setAside(OutboxEntry.ID, OutboxFailure)
        /// Removes the stored failure of the entry, and calls ``restored(_:_:)`` or ``notRestored(_:_:)``.
        case restore(OutboxEntry.ID)
        /// Notifies the readers that the entry has changed.
        case tell(OutboxEntry)
    }

    enum Phase: Sendable, Hashable {
        /// Its files are being written.
        case storing
        case waiting
        case delayed(until: Duration, DelayCause)
        case sending
        /// Its files are being removed, because it was sent or dropped.
        case removing(isDropped: Bool)
        /// Its failure is being stored.
        case settingAside(OutboxFailure)
        case failed(OutboxFailure)
        /// Its failure is being removed, because this was requested by hand, or because the entry is not too old after
        /// all.
        case restoring(byHand: Bool)
    }

    enum DelayCause: Sendable, Hashable {
        /// The network has failed, so the entry is tried as soon as the server is reachable.
        case network
        case backoff
        /// The server has named the time.
        case server
    }

    struct Item: Sendable {
        var entry: OutboxEntry
        var phase: Phase
        /// The phase before it was dropped or restored.
        var earlier = Phase.waiting
        var age: OutboxAge
        var delays = 0
        var lastBackoff = Duration.zero
    }

    struct LaneState: Sendable {
        /// The entries to send, in their order.
        var ids: [OutboxEntry.ID] = []
        /// The entry that is being sent or has just been sent.
        var busy: OutboxEntry.ID?
    }

    /// How often the wall clock is read again for entries that were given up because of it.
    static let revivalPeriod = Duration.seconds(300)
    /// The longest `Retry-After` that counts.
    static let longestDelay = Duration.seconds(30 * 24 * 3600)

    let limits: Outbox.Limits
    var partition: EntityPartition?
    var environment: OutboxEnvironment
    var isPaused = false
    /// Whether the outbox was closed.
    var isEnded = false
    var items: [OutboxEntry.ID: Item] = [:]
    var lanes: [Lane: LaneState] = [:]
    var delayed = Heap<OutboxEntry.ID, Duration, OutboxEntry.ID>()
    /// Entries that may be sent, in the order in which they got their turn.
    var ready = Fifo<OutboxEntry.ID>()
    var isReady: Set<OutboxEntry.ID> = []
    var sendingCount = 0
    /// The number of entries whose files are being changed.
    var changingCount = 0
    var bytes = 0
    private var lastNumber: UInt64 = 0
    /// No entry becomes too old before this time; `nil` if no entry waits.
    var nextExpiry: Duration?
    /// The entries that were given up only because of their age, by the wall clock.
    var agedOut: Set<OutboxEntry.ID> = []
    /// When the wall clock is read again for these entries.
    var nextRevival = Duration.zero

    init(_ limits: Outbox.Limits, partition: EntityPartition?, environment: OutboxEnvironment) {
        (self.limits, self.partition, self.environment) = (limits, partition, environment)
    }

    // MARK: Reading

    /// The current state of an entry.
    func entry(_ id: OutboxEntry.ID) -> OutboxEntry? { items[id].map(shown) }

    /// All entries in the order in which they were added.
    var entries: [OutboxEntry] { items.values.filter { $0.phase != .storing }.map(shown).sorted { $0.id < $1.id } }

    /// Whether nothing is being sent, nothing can be sent now, and no files are being changed.
    var isIdle: Bool { sendingCount == 0 && changingCount == 0 && (isStopped || isReady.isEmpty) }

    var isStopped: Bool { isPaused || isEnded }

    /// When ``tick(_:)`` must be called; `nil` if there is nothing to wait for.
    var nextWake: Duration? {
        let times = [isStopped ? nil : delayed.first, nextExpiry, agedOut.isEmpty ? nil : nextRevival]
        return times.compactMap { $0 }.min()
    }

    func shown(_ item: Item) -> OutboxEntry {
        var entry = item.entry
        switch item.phase {
        case .sending, .removing(isDropped: false): entry.state = .sending
        case .failed(let failure), .settingAside(let failure): entry.state = .failed(failure)
        case .storing, .waiting, .delayed, .restoring, .removing(isDropped: true):
            if entry.partition != partition {
                entry.state = .otherPartition
            } else if let difference = entry.environment.difference(from: environment) {
                entry.state = .otherEnvironment
                entry.environmentDifference = difference
            } else if case .delayed = item.phase {
                entry.state = .delayed
            } else {
                entry.state = .waiting
            }
        }
        return entry
    }

    // MARK: Adding

    /// Why an entry is refused.
    enum Refusal: Error, Sendable, Hashable {
        case count(Int)
        case bytes(Int)
    }

    /// Takes over the entries that were found on the disk. Readers that began earlier receive all of them.
    mutating func load(_ found: [(entry: OutboxEntry, failure: OutboxFailure?)], _ moment: Moment) -> [Action] {
        var told: [Action] = []
        for (entry, failure) in found.sorted(by: { $0.entry.id < $1.entry.id }) where items[entry.id] == nil {
            let age = OutboxAge(of: entry, at: moment)
            let item = Item(entry: entry, phase: failure.map { .failed($0) } ?? .waiting, age: age)
            insert(item)
            if failure?.isByAge == true { agedOut.insert(entry.id) }
            told.append(.tell(shown(item)))
            lastNumber = max(lastNumber, entry.id.number)
        }
        readyAll()
        return told + expire(moment) + pump(moment)
    }

    /// The identifier of the next entry.
    mutating func nextID(_ date: Date) -> OutboxEntry.ID {
        // It counts microseconds, so that an identifier is not used again after a restart with an empty directory.
        let microseconds = UInt64(max(0, min(date.timeIntervalSince1970, 1e12)) * 1e6)
        lastNumber = max(lastNumber &+ 1, microseconds)
        return OutboxEntry.ID(number: lastNumber)
    }

    /// Reserves a place for an entry whose files will be written. Later entries of its lane wait for it.
    mutating func reserve(_ entry: OutboxEntry, _ moment: Moment) throws(Refusal) {
        guard items.count < limits.maximumCount else { throw .count(failedCount) }
        guard entry.byteCount <= limits.maximumBytes - bytes else { throw .bytes(failedCount) }
        insert(Item(entry: entry, phase: .storing, age: OutboxAge(from: moment)))
        changingCount += 1
    }

    /// The number of bytes for which there is space.
    var spaceLeft: Int { max(0, limits.maximumBytes - bytes) }

    /// The files of an entry were written.
    ///
    /// - Parameter byteCount: Their size.
    mutating func stored(_ id: OutboxEntry.ID, byteCount: Int, _ moment: Moment) -> [Action] {
        guard var item = items[id], item.phase == .storing else { return [] }
        changingCount -= 1
        bytes += byteCount - item.entry.byteCount
        item.entry.byteCount = byteCount
        item.phase = .waiting
        items[id] = item
        ages(item)
        offer(Lane(item.entry))
        return [.tell(shown(item))] + pump(moment)
    }

    /// The files of an entry could not be written, so the entry does not exist.
    mutating func notStored(_ id: OutboxEntry.ID, _ moment: Moment) -> [Action] {
        guard items[id]?.phase == .storing else { return [] }
        changingCount -= 1
        delete(id)
        return pump(moment)
    }

    private var failedCount: Int {
        items.values.count { if case .failed = $0.phase { true } else { false } }
    }

    // MARK: Sending

    /// The server has accepted an entry.
    mutating func sent(_ id: OutboxEntry.ID, status: Int, _ moment: Moment) -> [Action] {
        guard var item = items[id], item.phase == .sending else { return [] }
        item.entry.attempts += 1
        item.phase = .removing(isDropped: false)
        items[id] = item
        sendingCount -= 1
        changingCount += 1
        var told = shown(item)
        told.state = .sent(status: status)
        return [.tell(told), .remove(id)] + pump(moment)
    }

    /// An attempt has failed.
    ///
    /// - Parameter retryAfter: The pause that the server has requested.
    mutating func failed(
        _ id: OutboxEntry.ID, _ failure: RequestFailure, retryAfter: Duration? = nil, _ moment: Moment
    ) -> [Action] {
        guard var item = items[id], item.phase == .sending else { return [] }
        sendingCount -= 1
        let verdict = OutboxRules.verdict(
            on: failure, retriesInternalServerError: limits.retriesInternalServerError)
        var isHastened = false
        switch verdict {
        case .final: return giveUp(id, &item, OutboxFailure(failure, date: moment.date), moment) + pump(moment)
        case .again(let hastened):
            item.entry.attempts += 1
            guard item.entry.attempts < limits.maximumAttempts else {
                return giveUp(id, &item, OutboxFailure(failure, date: moment.date), moment) + pump(moment)
            }
            isHastened = hastened
        case .later(let hastened): isHastened = hastened
        }
        item.delays += 1
        let backoff = limits.backoff.wait(
            retry: item.delays, previous: item.lastBackoff, fraction: moment.fraction)
        item.lastBackoff = backoff
        let wait = max(backoff, min(retryAfter ?? .zero, Self.longestDelay))
        let cause: DelayCause = retryAfter != nil ? .server : isHastened ? .network : .backoff
        item.phase = .delayed(until: moment.now + wait, cause)
        items[id] = item
        lanes[Lane(item.entry)]?.busy = nil
        delayed.set(id, at: moment.now + wait, id)
        ages(item)
        // An earlier entry may have been restored meanwhile.
        offer(Lane(item.entry))
        return [.tell(shown(item))] + pump(moment)
    }

    /// The files of an entry cannot be read any more. The store has already set them aside.
    mutating func lost(_ id: OutboxEntry.ID, _ moment: Moment) -> [Action] {
        guard items[id]?.phase == .sending else { return [] }
        sendingCount -= 1
        delete(id)
        return pump(moment)
    }

    /// Gives up an entry that is not being sent. Its lane waits until the failure is stored.
    mutating func giveUp(
        _ id: OutboxEntry.ID, _ item: inout Item, _ failure: OutboxFailure, _ moment: Moment
    ) -> [Action] {
        item.phase = .settingAside(failure)
        items[id] = item
        delayed.remove(id)
        changingCount += 1
        if failure.isByAge, item.age.isDated {
            if agedOut.isEmpty { nextRevival = moment.now + Self.revivalPeriod }
            agedOut.insert(id)
        }
        return [.setAside(id, failure)]
    }

    /// The failure of an entry was stored, or could not be stored.
    mutating func setAside(_ id: OutboxEntry.ID, _ moment: Moment) -> [Action] {
        guard var item = items[id], case .settingAside(let failure) = item.phase else { return [] }
        changingCount -= 1
        item.phase = .failed(failure)
        items[id] = item
        leave(item)
        return [.tell(shown(item))] + pump(moment)
    }

    /// The files of an entry were removed.
    mutating func removed(_ id: OutboxEntry.ID, _ moment: Moment) -> [Action] {
        guard let item = items[id], case .removing(let isDropped) = item.phase else { return [] }
        changingCount -= 1
        delete(id)
        guard isDropped else { return pump(moment) }
        var told = item.entry
        told.state = .dropped
        return [.tell(told)] + pump(moment)
    }

    /// The files of an entry could not be removed. If the entry was sent, this process does not send it again.
    mutating func notRemoved(_ id: OutboxEntry.ID, _ moment: Moment) -> [Action] {
        guard var item = items[id], case .removing(isDropped: true) = item.phase else { return removed(id, moment) }
        changingCount -= 1
        item.phase = item.earlier
        items[id] = item
        if case .delayed(let until, _) = item.phase { delayed.set(id, at: until, id) }
        ages(item)
        offer(Lane(item.entry))
        return pump(moment)
    }
}
