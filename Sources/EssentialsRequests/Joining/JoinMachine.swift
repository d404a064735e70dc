/// Groups equal requests, so that each group is sent once.
///
/// The first request of a group leads it: it has to be sent. The others follow. A group is open until it has ended, or
/// until something has happened after which its response could be out of date; a closed one takes no more requests.
/// The machine owns no request and no task.
struct JoinMachine<Place: Hashable & Sendable, Key: Hashable & Sendable>: Sendable {
    /// What happens to a request that arrives.
    enum Arrival: Hashable {
        /// It begins a group with this number, and has to be sent.
        case lead(UInt64)
        /// It gets the outcome of this group.
        case follow(UInt64)
        /// It is sent by itself, because there are too many groups.
        case alone
    }

    /// What happens when a request no longer waits for the outcome.
    enum Departure: Hashable {
        /// The request was not waiting.
        case none
        /// Others still wait.
        case fromOthers
        /// Nobody waits. The group has ended, and its exchange has to be cancelled.
        case last
    }

    private struct Group {
        let place: Place
        let key: Key
        var waiters: Set<UInt64>
        var isOpen = true
    }

    /// The maximum number of groups at the same time.
    private let limit: Int
    private var groups: [UInt64: Group] = [:]
    /// The open groups by place and key.
    private var open: [Place: [Key: UInt64]] = [:]
    private var lastGroup: UInt64 = 0

    init(limit: Int = JoinedExchanges.maximumGroups) { self.limit = limit }

    var groupCount: Int { groups.count }
    /// The number of places that have open groups.
    var placeCount: Int { open.count }

    /// A request arrives.
    ///
    /// - Parameters:
    ///   - waiter: Identifies the request.
    ///   - key: The properties that equal requests to one place have in common.
    ///   - place: Where the request goes, which ``close(_:)`` names too.
    mutating func arrive(_ waiter: UInt64, _ key: Key, at place: Place) -> Arrival {
        if let group = open[place]?[key] {
            groups[group]?.waiters.insert(waiter)
            return .follow(group)
        }
        guard groups.count < limit else { return .alone }
        lastGroup += 1
        groups[lastGroup] = Group(place: place, key: key, waiters: [waiter])
        open[place, default: [:]][key] = lastGroup
        return .lead(lastGroup)
    }

    /// A request stops waiting, whether or not it leads its group.
    mutating func leave(_ waiter: UInt64, _ group: UInt64) -> Departure {
        guard groups[group]?.waiters.remove(waiter) != nil else { return .none }
        guard groups[group]?.waiters.isEmpty == true else { return .fromOthers }
        // The next equal request must not get the outcome of the cancellation.
        remove(group)
        return .last
    }

    /// The outcome of a group is known. It returns the requests that wait for it, in order of arrival.
    mutating func finish(_ group: UInt64) -> [UInt64] { remove(group)?.waiters.sorted() ?? [] }

    /// Closes the groups of a place. Requests that are in them get their outcome.
    mutating func close(_ place: Place) {
        for group in open.removeValue(forKey: place)?.values ?? [:].values { groups[group]?.isOpen = false }
    }

    /// Closes all groups.
    mutating func closeAll() {
        for place in open.keys { close(place) }
    }

    @discardableResult
    private mutating func remove(_ number: UInt64) -> Group? {
        guard let group = groups.removeValue(forKey: number) else { return nil }
        if group.isOpen {
            open[group.place]?[group.key] = nil
            if open[group.place]?.isEmpty == true { open[group.place] = nil }
        }
        return group
    }
}
