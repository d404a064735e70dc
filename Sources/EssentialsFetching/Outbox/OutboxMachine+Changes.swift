import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// Changes by hand and by events outside the outbox.
extension OutboxMachine {
    // MARK: By hand

    /// Sends an entry again that was given up. It gets its old place in its order.
    ///
    /// The caller removes the stored failure, and calls ``restored(_:_:)`` or ``notRestored(_:_:)``.
    ///
    /// - Returns: Whether there is such an entry.
    mutating func retry(_ id: OutboxEntry.ID) -> Bool {
        guard var item = items[id], case .failed = item.phase else { return false }
        item.earlier = item.phase
        item.phase = .restoring(byHand: true)
        items[id] = item
        changingCount += 1
        return true
    }

    /// A stored failure could not be removed.
    mutating func notRestored(_ id: OutboxEntry.ID, _ moment: Moment) -> [Action] {
        guard var item = items[id], case .restoring = item.phase else { return [] }
        changingCount -= 1
        item.phase = item.earlier
        items[id] = item
        return pump(moment)
    }

    /// A stored failure was removed.
    mutating func restored(_ id: OutboxEntry.ID, _ moment: Moment) -> [Action] {
        guard var item = items[id], case .restoring(let isByHand) = item.phase else { return [] }
        changingCount -= 1
        agedOut.remove(id)
        item.phase = .waiting
        item.entry.attempts = 0
        (item.delays, item.lastBackoff) = (0, .zero)
        // Its age counts from now. Otherwise it would be given up at once.
        if isByHand { item.age = OutboxAge(from: moment) }
        items[id] = item
        join(item)
        offer(Lane(item.entry))
        return [.tell(shown(item))] + pump(moment)
    }

    /// Drops an entry. The caller removes its files, and calls ``removed(_:_:)`` or ``notRemoved(_:_:)``.
    ///
    /// - Returns: `false` if there is no such entry, or if it is being sent.
    mutating func drop(_ id: OutboxEntry.ID) -> Bool {
        guard var item = items[id] else { return false }
        switch item.phase {
        case .waiting, .delayed, .failed: break
        case .storing, .sending, .removing, .settingAside, .restoring: return false
        }
        item.earlier = item.phase
        item.phase = .removing(isDropped: true)
        items[id] = item
        delayed.remove(id)
        changingCount += 1
        return true
    }

    /// Sends nothing until ``resume(_:)``.
    mutating func pause() { isPaused = true }

    /// Sends nothing any more.
    mutating func end() { isEnded = true }

    mutating func resume(_ moment: Moment) -> [Action] {
        isPaused = false
        return tick(moment)
    }

    // MARK: Events

    /// Tries all entries now, except those for which the server has named a time.
    mutating func drain(_ moment: Moment) -> [Action] { hasten(moment) { $0 != .server } }

    /// The server is reachable again.
    mutating func pathIsBack(_ moment: Moment) -> [Action] { hasten(moment) { $0 == .network } }

    private mutating func hasten(_ moment: Moment, _ applies: (DelayCause) -> Bool) -> [Action] {
        var told: [Action] = []
        for (id, item) in items.sorted(by: { $0.key < $1.key }) {
            guard case .delayed(_, let cause) = item.phase, applies(cause) else { continue }
            told.append(contentsOf: undelay(id))
        }
        return expire(moment) + told + pump(moment)
    }

    /// Time has passed.
    mutating func tick(_ moment: Moment) -> [Action] {
        var told: [Action] = []
        for id in delayed.takeDue(at: moment.now, limit: .max) { told.append(contentsOf: undelay(id)) }
        return expire(moment) + told + pump(moment)
    }

    private mutating func undelay(_ id: OutboxEntry.ID) -> [Action] {
        guard var item = items[id], case .delayed = item.phase else { return [] }
        delayed.remove(id)
        item.phase = .waiting
        items[id] = item
        offer(Lane(item.entry))
        return [.tell(shown(item))]
    }

    /// The application has entered a partition, or has left it.
    mutating func enter(_ partition: EntityPartition?, _ moment: Moment) -> [Action] {
        guard partition != self.partition else { return [] }
        return changingScope(moment) { $0.partition = partition }
    }

    /// The environment has changed.
    mutating func enter(environment: OutboxEnvironment, _ moment: Moment) -> [Action] {
        guard environment != self.environment else { return [] }
        return changingScope(moment) { $0.environment = environment }
    }

    private mutating func changingScope(_ moment: Moment, _ change: (inout Self) -> Void) -> [Action] {
        let before = items.mapValues(shown)
        change(&self)
        readyAll()
        let told = items.values.map(shown).filter { before[$0.id] != $0 && items[$0.id]?.phase != .storing }
        return told.sorted { $0.id < $1.id }.map { .tell($0) } + pump(moment)
    }

    /// The environments, apart from the current one, for which entries wait, with the number of these entries.
    var absentEnvironments: [OutboxEnvironment: Int] {
        lanes.reduce(into: [:]) { absent, lane in
            guard lane.key.environment != environment, !lane.value.ids.isEmpty else { return }
            absent[lane.key.environment, default: 0] += lane.value.ids.count
        }
    }

    /// The entries that are being sent for a partition or environment that is no longer the current one.
    var strangers: [OutboxEntry.ID] {
        items.values.filter { $0.phase == .sending && !isActive(Lane($0.entry)) }.map(\.entry.id)
    }
}
