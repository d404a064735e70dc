import EssentialsTransport

/// How much of what an engine thread takes on at the same time.
struct AdmissionLimits: Sendable {
    /// Connections to one origin at the same time.
    var perOrigin: Int
    /// Requests in flight to one origin for each of its connections, once it is known to share them.
    var perConnection: Int
    /// Requests in flight altogether.
    var total: Int
    /// Requests that wait.
    var queue: Int
}

/// Decides which requests may go to libcurl now, and which wait for a connection.
///
/// Each origin has a lane with its own limit, and all lanes share a total. Who waits for its own lane does not hold up the
/// others; who waits for the total takes turns with the other lanes. It owns no request, socket or clock.
struct AdmissionMachine<Ticket: Hashable> {
    enum Arrival: Hashable {
        case start, wait, full
    }

    /// Whether an origin's connections carry several requests at the same time.
    enum Sharing: Hashable {
        case unknown, shares, sharesNot
    }

    private struct Lane {
        var origin: Origin?
        var active = 0
        var waiting = PriorityFifo<Ticket>()
        /// Waiting ones that were not withdrawn.
        var waitingCount = 0
        /// Withdrawn ones that still lie in `waiting`.
        var withdrawnCount = 0
        var sharing = Sharing.unknown
        var isReady = false
    }

    /// Lanes without requests that are remembered, with what was learned about their origins.
    static var idleMaximum: Int { 1_024 }

    private let limits: AdmissionLimits
    private var lanes: [Lane] = []
    private var freeLanes: [Int] = []
    private var indexes: [Origin: Int] = [:]
    /// What was asked for last, which is mostly asked for again.
    private var lastIndex = 0
    /// Lanes that have room and somebody waiting, in the order of their turns.
    private var ready = Fifo<Int>()
    private var withdrawn: Set<Ticket> = []
    /// How many lanes there are when the idle ones are looked for next.
    private var sweepCount = idleMaximum
    private(set) var active = 0
    private(set) var waiting = 0

    init(limits: AdmissionLimits) { self.limits = limits }

    /// The lane of an origin; valid until the request that asked for it has left.
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

    /// A request comes. With `wait` it is handed out by ``next()`` when its turn has come: after the more urgent ones of
    /// its lane.
    mutating func arrive(_ ticket: Ticket, lane index: Int, priority: RequestPriority = .normal) -> Arrival {
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

    /// A request that was started is over.
    mutating func leave(lane index: Int) {
        lanes[index].active -= 1
        active -= 1
        makeReady(index)
    }

    /// A request that waits is wanted no more.
    mutating func withdraw(_ ticket: Ticket, lane index: Int) {
        withdrawn.insert(ticket)
        lanes[index].waitingCount -= 1
        lanes[index].withdrawnCount += 1
        waiting -= 1
        // Each sweep is paid for by as many withdrawals, and a lane that stands still does not grow.
        if lanes[index].withdrawnCount > lanes[index].waitingCount + 32 { sweep(index) }
    }

    /// The next request whose turn has come, which counts as started. Ask until nil after requests have left, and after
    /// ``learn(_:lane:)``.
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

    /// What an exchange has shown about its origin.
    mutating func learn(_ sharing: Sharing, lane index: Int) {
        guard lanes[index].sharing != sharing else { return }
        lanes[index].sharing = sharing
        makeReady(index)
    }

    func active(lane index: Int) -> Int { lanes[index].active }

    func sharing(lane index: Int) -> Sharing { lanes[index].sharing }

    /// All that wait, in no order.
    var waitingTickets: [Ticket] {
        lanes.flatMap { lane in lane.waiting.all }.filter { !withdrawn.contains($0) }
    }

    /// How many lanes there are, and how many tickets lie in their queues, withdrawn ones included.
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
            // One that is still in line for a turn keeps its index.
            guard !lanes[index].isReady else { continue }
            sweep(index)
            lanes[index] = Lane()
            freeLanes.append(index)
            indexes[origin] = nil
        }
        // Where most are busy, looking again for each new one would cost more and more.
        sweepCount = max(Self.idleMaximum, indexes.count * 2)
    }
}
