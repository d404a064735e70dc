/// Groups equal requests, so that each group is sent once.
///
/// The first request of a group leads it: it has to be sent. The others follow. A group is open until it has ended, or
/// until something has happened after which its response could be out of date; a closed one takes no more requests.
/// The machine owns no request and no task. It keeps the waiters, which are what the caller resumes, and never uses them.
struct JoinMachine<Place: Hashable & Sendable, Key: Hashable & Sendable, Waiter: Sendable>: Sendable {
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

    /// The requests that waited for a group, in order of arrival. One for the leader alone allocates nothing.
    struct Waiters: Sequence, IteratorProtocol {
        private var leader: Waiter?
        private var followers: [Waiter] = []
        private var index = 0

        fileprivate init(leader: Waiter? = nil, followers: [Waiter] = []) {
            (self.leader, self.followers) = (leader, followers)
        }

        mutating func next() -> Waiter? {
            if let leader = leader.take() { return leader }
            guard index < followers.count else { return nil }
            defer { index += 1 }
            return followers[index]
        }
    }

    private struct Group {
        let place: Place
        let key: Key
        /// The request that leads the group, while it waits. Most groups have no other.
        var leader: (number: UInt64, waiter: Waiter)?
        var followers: [UInt64: Waiter] = [:]
        var isOpen = true

        var isEmpty: Bool { leader == nil && followers.isEmpty }
        var count: Int { (leader == nil ? 0 : 1) + followers.count }
        var waiters: Waiters {
            let sorted = followers.isEmpty ? [] : followers.sorted { $0.key < $1.key }.map(\.value)
            return Waiters(leader: leader?.waiter, followers: sorted)
        }

        mutating func remove(_ number: UInt64) -> Bool {
            if leader?.number == number {
                leader = nil
                return true
            }
            return followers.removeValue(forKey: number) != nil
        }
    }

    /// The open groups of one place. Most places have one group, whose key is compared and never hashed.
    private struct OpenGroups {
        var first: (key: Key, group: UInt64)?
        var others: [Key: UInt64] = [:]

        var isEmpty: Bool { first == nil && others.isEmpty }

        func group(of key: Key) -> UInt64? {
            if let first, first.key == key { return first.group }
            return others.isEmpty ? nil : others[key]
        }

        /// The open group with the key, or a new one with this number.
        mutating func group(of key: Key, orNew number: UInt64) -> UInt64 {
            if let known = group(of: key) { return known }
            if first == nil {
                first = (key, number)
            } else {
                others[key] = number
            }
            return number
        }
    }

    /// The maximum number of groups at the same time.
    private let limit: Int
    private var groups: [UInt64: Group] = [:]
    private var open: [Place: OpenGroups] = [:]
    private var lastGroup: UInt64 = 0

    init(limit: Int = JoinedExchanges.maximumGroups) { self.limit = limit }

    var groupCount: Int { groups.count }
    /// The number of requests that wait.
    var waiterCount: Int { groups.values.reduce(0) { $0 + $1.count } }
    /// The number of places that have open groups.
    var placeCount: Int { open.count }

    /// A request arrives.
    ///
    /// - Parameters:
    ///   - number: Identifies the request. Later requests have higher numbers.
    ///   - waiter: What ``finish(_:)`` returns for the request.
    ///   - key: The properties that equal requests to one place have in common.
    ///   - place: Where the request goes, which ``close(_:)`` names too.
    mutating func arrive(_ number: UInt64, _ waiter: Waiter, _ key: Key, at place: Place) -> Arrival {
        let new = lastGroup + 1
        let group =
            groups.count < limit
            ? open[place, default: OpenGroups()].group(of: key, orNew: new) : open[place]?.group(of: key)
        guard let group else { return .alone }
        guard group == new else {
            groups[group]?.followers[number] = waiter
            return .follow(group)
        }
        lastGroup = new
        groups[new] = Group(place: place, key: key, leader: (number, waiter))
        return .lead(new)
    }

    /// A request stops waiting, whether or not it leads its group.
    mutating func leave(_ number: UInt64, _ group: UInt64) -> Departure {
        guard groups[group]?.remove(number) == true else { return .none }
        guard groups[group]?.isEmpty == true else { return .fromOthers }
        // The next equal request must not get the outcome of the cancellation.
        remove(group)
        return .last
    }

    /// The outcome of a group is known. It returns the requests that wait for it, in order of arrival.
    mutating func finish(_ group: UInt64) -> Waiters { remove(group)?.waiters ?? Waiters() }

    /// Closes the groups of a place. Requests that are in them get their outcome.
    mutating func close(_ place: Place) {
        guard let closed = open.removeValue(forKey: place) else { return }
        if let first = closed.first { groups[first.group]?.isOpen = false }
        for group in closed.others.values { groups[group]?.isOpen = false }
    }

    /// Closes all groups.
    mutating func closeAll() {
        for place in open.keys { close(place) }
    }

    @discardableResult
    private mutating func remove(_ number: UInt64) -> Group? {
        guard let group = groups.removeValue(forKey: number) else { return nil }
        guard group.isOpen, let index = open.index(forKey: group.place) else { return group }
        if open.values[index].first?.group == number {
            open.values[index].first = nil
        } else {
            open.values[index].others[group.key] = nil
        }
        if open.values[index].isEmpty { open.remove(at: index) }
        return group
    }
}
