import EssentialsTransport

/// How many requests and connections an engine thread uses at the same time.
struct AdmissionLimits: Sendable {
    /// Connections to one origin at the same time.
    var perOrigin: Int
    /// Requests in flight to one origin for each of its connections, once the origin is known to share connections.
    var perConnection: Int
    /// Requests in flight to all origins.
    var total: Int
    /// Requests that wait.
    var queue: Int
}

/// Whether a request that arrives may start.
enum Admission: Hashable {
    case start, wait, full
}

/// Decides which requests may go to libcurl now, and which wait for a connection.
///
/// Each origin has a lane with its own limit, and all lanes share a total. A request that waits for its own lane does not
/// delay the other lanes. If the total is reached, the lanes take turns. The machine owns no request, socket or clock.
struct AdmissionMachine<Ticket: Hashable> {
    /// Whether an origin's connections carry several requests at the same time.
    enum Sharing: Hashable {
        case unknown, shares, sharesNot
    }

    private struct Lane {
        var origin: Origin?
        var active = 0
        var waiting = PriorityFifo<Ticket>()
        /// The number of waiting requests that were not withdrawn.
        var waitingCount = 0
        /// The number of withdrawn requests that are still in `waiting`.
        var withdrawnCount = 0
        var sharing = Sharing.unknown
        var isReady = false
    }

    /// The maximum number of idle lanes that are remembered, with what was learned about their origins.
    static var idleMaximum: Int { 1_024 }

    private let limits: AdmissionLimits
    private var lanes: [Lane] = []
    private var freeLanes: [Int] = []
    private var indexes: [Origin: Int] = [:]
    /// The lane that was looked up last. The next request usually needs the same lane.
    private var lastIndex = 0
    /// Lanes that have room and waiting requests, in the order of their turns.
    private var ready = Fifo<Int>()
    private var withdrawn: Set<Ticket> = []
    /// The number of lanes at which idle lanes are looked for next.
    private var sweepCount = idleMaximum
    private(set) var active = 0
    private(set) var waiting = 0

    init(limits: AdmissionLimits) { self.limits = limits }

    /// Returns the lane of an origin. The index is valid until the request that needs it has left.
    mutating func lane(for origin: Origin) -> Int {
        if lastIndex < lanes.count, lanes[lastIndex].origin == origin { return lastIndex }
        let index = indexes[origin] ?? newLane(for: origin)
        lastIndex = index
        return index
    }

    private mutating func newLane(for origin: Origin) -> Int {
        if indexes.count >= sweepCount { forgetIdleLanes() }
        let index = freeLanes.popLast() ?? lanes.count
        if index == lanes.count { lanes.append(Lane()) }
        lanes[index] = Lane(origin: origin)
        indexes[origin] = index
        return index
    }

    /// Decides about a new request. One that waits is handed out by ``next()`` when its turn has come, after the more
    /// urgent requests of its lane.
    mutating func arrive(_ ticket: Ticket, lane index: Int, priority: RequestPriority = .normal) -> Admission {
        if lanes[index].waitingCount == 0, hasRoom(index), active < limits.total {
            lanes[index].active += 1
            active += 1
            return .start
        }
        guard waiting < limits.queue else { return .full }
        lanes[index].waiting.append(ticket, priority)
        lanes[index].waitingCount += 1
        waiting += 1
        makeReady(index)
        return .wait
    }

    /// Notes that a started request has ended.
    mutating func leave(lane index: Int) {
        lanes[index].active -= 1
        active -= 1
        makeReady(index)
    }

    /// Withdraws a waiting request.
    mutating func withdraw(_ ticket: Ticket, lane index: Int) {
        withdrawn.insert(ticket)
        lanes[index].waitingCount -= 1
        lanes[index].withdrawnCount += 1
        waiting -= 1
        // A sweep costs about as much as the withdrawals since the last one, so that a blocked lane does not grow.
        if lanes[index].withdrawnCount > lanes[index].waitingCount + 32 { sweep(index) }
    }

    /// Returns the next request whose turn has come, and counts it as started. The caller repeats this until `nil` after
    /// requests have left, and after ``learn(_:lane:)``.
    mutating func next() -> Ticket? {
        while active < limits.total, let index = ready.popFirst() {
            lanes[index].isReady = false
            guard hasRoom(index), let ticket = popWaiting(index) else { continue }
            lanes[index].active += 1
            active += 1
            makeReady(index)
            return ticket
        }
        return nil
    }

    /// Notes what an exchange has shown about its origin.
    mutating func learn(_ sharing: Sharing, lane index: Int) {
        guard lanes[index].sharing != sharing else { return }
        lanes[index].sharing = sharing
        makeReady(index)
    }

    func active(lane index: Int) -> Int { lanes[index].active }

    func sharing(lane index: Int) -> Sharing { lanes[index].sharing }

    /// All waiting requests, in no particular order.
    var waitingTickets: [Ticket] {
        lanes.flatMap { lane in lane.waiting.all }.filter { !withdrawn.contains($0) }
    }

    /// How many lanes there are, and how many tickets are in their queues, including withdrawn ones.
    var laneCount: Int { lanes.count }
    var storedCount: Int { lanes.reduce(0) { $0 + $1.waiting.count } }

    // MARK: Private

    private func hasRoom(_ index: Int) -> Bool {
        let (shared, overflows) = limits.perOrigin.multipliedReportingOverflow(by: limits.perConnection)
        let limit = lanes[index].sharing != .shares ? limits.perOrigin : overflows ? .max : shared
        return lanes[index].active < limit
    }

    private mutating func makeReady(_ index: Int) {
        guard !lanes[index].isReady, lanes[index].waitingCount > 0, hasRoom(index) else { return }
        lanes[index].isReady = true
        ready.append(index)
    }

    private mutating func popWaiting(_ index: Int) -> Ticket? {
        while let ticket = lanes[index].waiting.popFirst() {
            if withdrawn.remove(ticket) != nil {
                lanes[index].withdrawnCount -= 1
                continue
            }
            lanes[index].waitingCount -= 1
            waiting -= 1
            return ticket
        }
        return nil
    }

    private mutating func sweep(_ index: Int) {
        var kept = PriorityFifo<Ticket>()
        swap(&kept, &lanes[index].waiting)
        kept.removeAll { withdrawn.remove($0) != nil }
        lanes[index].waiting = kept
        lanes[index].withdrawnCount = 0
    }

    private mutating func forgetIdleLanes() {
        for (origin, index) in indexes where lanes[index].active == 0 && lanes[index].waitingCount == 0 {
            // A lane that still waits for its turn keeps its index.
            guard !lanes[index].isReady else { continue }
            sweep(index)
            lanes[index] = Lane()
            freeLanes.append(index)
            indexes[origin] = nil
        }
        // If most lanes are busy, a search for each new lane would cost more and more.
        sweepCount = max(Self.idleMaximum, indexes.count * 2)
    }
}
