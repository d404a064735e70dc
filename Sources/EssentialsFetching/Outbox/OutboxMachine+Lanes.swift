import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

extension OutboxMachine {
    // MARK: Lanes

    mutating func insert(_ item: Item) {
        items[item.entry.id] = item
        bytes += item.entry.byteCount
        if case .failed = item.phase { return }
        join(item)
    }

    mutating func join(_ item: Item) {
        let lane = Lane(item.entry)
        var state = lanes[lane] ?? LaneState()
        // Most entries are added at the end.
        let isLast = state.ids.last.map { $0 < item.entry.id } ?? true
        let place = isLast ? state.ids.count : state.ids.firstIndex { $0 > item.entry.id } ?? state.ids.count
        state.ids.insert(item.entry.id, at: place)
        lanes[lane] = state
        ages(item)
    }

    /// Removes an entry from its lane, so that the next one gets its turn.
    mutating func leave(_ item: Item) {
        let (lane, id) = (Lane(item.entry), item.entry.id)
        guard var state = lanes[lane] else { return }
        if let place = state.ids.firstIndex(of: id) { state.ids.remove(at: place) }
        if state.busy == id { state.busy = nil }
        lanes[lane] = state.ids.isEmpty && state.busy == nil ? nil : state
        offer(lane)
    }

    mutating func delete(_ id: OutboxEntry.ID) {
        guard let item = items.removeValue(forKey: id) else { return }
        bytes -= item.entry.byteCount
        delayed.remove(id)
        agedOut.remove(id)
        leave(item)
    }

    func isActive(_ lane: Lane) -> Bool { lane.partition == partition && lane.environment == environment }

    /// The entry of a lane that can be sent.
    func candidate(of lane: Lane) -> OutboxEntry.ID? {
        guard isActive(lane), let state = lanes[lane], state.busy == nil, let id = state.ids.first,
            items[id]?.phase == .waiting
        else { return nil }
        return id
    }

    mutating func offer(_ lane: Lane) {
        guard let id = candidate(of: lane), isReady.insert(id).inserted else { return }
        ready.append(id)
    }

    mutating func readyAll() {
        ready = Fifo(lanes.keys.compactMap(candidate).sorted())
        isReady = Set(ready)
    }

    mutating func nextReady() -> OutboxEntry.ID? {
        while let id = ready.popFirst() {
            isReady.remove(id)
            if let item = items[id], candidate(of: Lane(item.entry)) == id { return id }
        }
        return nil
    }

    /// Sends as many entries as allowed.
    mutating func pump(_ moment: Moment) -> [Action] {
        var actions: [Action] = []
        while !isStopped, sendingCount < limits.maximumConcurrent, let id = nextReady(), var item = items[id] {
            if item.age.reaches(limits.maximumAge, at: moment) {
                actions += giveUp(id, &item, .expired(limits.maximumAge, date: moment.date), moment)
                continue
            }
            item.phase = .sending
            items[id] = item
            lanes[Lane(item.entry)]?.busy = id
            sendingCount += 1
            actions += [.tell(shown(item)), .send(id)]
        }
        return actions
    }

    // MARK: Age

    /// Records when an entry will be too old.
    mutating func ages(_ item: Item) {
        let expiry = item.age.start + limits.maximumAge
        nextExpiry = nextExpiry.map { min($0, expiry) } ?? expiry
    }

    /// Gives up waiting entries that are too old, and resumes those that a corrected clock has made young enough again.
    mutating func expire(_ moment: Moment) -> [Action] {
        var actions = revive(moment)
        guard let nextExpiry, nextExpiry <= moment.now else { return actions }
        self.nextExpiry = nil
        for (id, item) in items.sorted(by: { $0.key < $1.key }) {
            switch item.phase {
            case .waiting, .delayed: break
            // The age of these entries counts again when they wait again.
            case .storing, .sending, .removing, .settingAside, .failed, .restoring: continue
            }
            var aged = item
            if aged.age.reaches(limits.maximumAge, at: moment) {
                actions += giveUp(id, &aged, .expired(limits.maximumAge, date: moment.date), moment)
            } else {
                items[id] = aged
                ages(aged)
            }
        }
        return actions
    }

    /// Takes back the entries that were given up only because of their age, if they are younger by the current wall
    /// clock.
    private mutating func revive(_ moment: Moment) -> [Action] {
        guard !agedOut.isEmpty else { return [] }
        nextRevival = moment.now + Self.revivalPeriod
        var actions: [Action] = []
        for id in agedOut.sorted() {
            guard var item = items[id], case .failed(let failure) = item.phase, failure.isByAge else { continue }
            if item.age.reaches(limits.maximumAge, at: moment) {
                // It cannot become younger.
                if !item.age.isDated { agedOut.remove(id) }
                continue
            }
            (item.earlier, item.phase) = (item.phase, .restoring(byHand: false))
            items[id] = item
            changingCount += 1
            actions.append(.restore(id))
        }
        return actions
    }
}
