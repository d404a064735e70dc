import EssentialsTools
import EssentialsTransport

/// The limits of concurrent requests and connections of an engine thread.
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
/// Each origin has a lane with its own limit, and all lanes share a total. A request that waits for its own lane does
/// not delay the other lanes. If the total is reached, the lanes take turns. The machine owns no request, socket or
/// clock.
struct AdmissionMachine<Ticket: Hashable> {
    /// Whether an origin's connections carry several requests at the same time.
    enum Sharing: Hashable {
        case unknown, shares, sharesNot
    }

    /// The known facts about long uploads to an origin.
    enum LongUploads: Hashable {
        case unknown
        /// libcurl has discarded a response that arrived before the end of its request over HTTP/2.
        case loseResponses
        /// The server refuses connections that speak HTTP/1.1.
        case needHTTP2
    }

    private struct Key: Hashable {
        var origin: Origin
        var isOverHTTP1: Bool
    }

    private struct Lane {
        var key: Key?
        var active = 0
        var waiting = PriorityFifo<Ticket>()
        /// The number of waiting requests that were not withdrawn.
        var waitingCount = 0
        /// The number of obsolete entries in `waiting`: those of withdrawn requests, and those of raised requests at
        /// their earlier priorities.
        var deadCount = 0
        var sharing = Sharing.unknown
        /// The time for which the origin's server keeps an idle connection, in seconds; 0 if it has not said so.
        var keepAliveSeconds = 0
        var longUploads = LongUploads.unknown
        var isReady = false
    }

    /// The maximum number of idle lanes that are remembered, with the facts about their origins.
    static var idleMaximum: Int { 1_024 }

    private let limits: AdmissionLimits
    private var lanes: [Lane] = []
    private var freeLanes: [Int] = []
    private var indexes: [Key: Int] = [:]
    /// The lane that was looked up last. The next request usually needs the same lane.
    private var lastIndex = 0
    /// Lanes that have room and waiting requests, in the order of their turns.
    private var ready = Fifo<Int>()
    /// How many entries of a request are still in its lane although it has left the queue.
    private var dead: [Ticket: Int] = [:]
    /// How many entries a waiting request has at its earlier priorities. A queue hands out its highest entry first.
    private var surpassed: [Ticket: Int] = [:]
    /// The number of lanes at which idle lanes are searched for next.
    private var sweepCount = idleMaximum
    private(set) var active = 0
    private(set) var waiting = 0

    init(limits: AdmissionLimits) { self.limits = limits }

    /// Returns the lane of an origin. The index is valid until the request that needs it has left.
    ///
    /// - Parameter isOverHTTP1: Whether it is the lane of requests that do not share the origin's HTTP/2 connections.
    mutating func lane(for origin: Origin, overHTTP1 isOverHTTP1: Bool = false) -> Int {
        let key = Key(origin: origin, isOverHTTP1: isOverHTTP1)
        if lastIndex < lanes.count, lanes[lastIndex].key == key { return lastIndex }
        let index = indexes[key] ?? newLane(for: key)
        lastIndex = index
        return index
    }

    private mutating func newLane(for key: Key) -> Int {
        if indexes.count >= sweepCount { forgetIdleLanes() }
        let index = freeLanes.popLast() ?? lanes.count
        if index == lanes.count { lanes.append(Lane()) }
        lanes[index] = Lane(key: key)
        indexes[key] = index
        return index
    }

    /// Decides about a new request. ``next()`` returns a waiting request when its turn has come, after the more urgent
    /// requests of its lane.
    mutating func arrive(_ ticket: Ticket, lane index: Int, priority: RequestPriority = .normal) -> Admission {
        if lanes[index].waitingCount == 0, hasRoom(index), active < limits.total {
            lanes[index].active += 1
            active += 1
            return .start
        }
        guard waiting < limits.queue else { return .full }
        lanes[index].waiting.append(ticket, level: priority.level)
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
        dead[ticket] = 1 + (surpassed.removeValue(forKey: ticket) ?? 0)
        lanes[index].waitingCount -= 1
        lanes[index].deadCount += 1
        waiting -= 1
        sweepIfNeeded(index)
    }

    /// Moves a waiting request behind those that already have a higher priority.
    ///
    /// - Parameter priority: A priority above all those that the request had before.
    mutating func raise(_ ticket: Ticket, lane index: Int, to priority: RequestPriority) {
        lanes[index].waiting.append(ticket, level: priority.level)
        // Finding the earlier entry would take time in proportion to the length of the queue.
        surpassed[ticket, default: 0] += 1
        lanes[index].deadCount += 1
        sweepIfNeeded(index)
    }

    /// Returns the next request whose turn has come, and counts it as started. The caller repeats this until `nil`
    /// after requests have left, and after ``learn(_:lane:)``.
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

    /// Notes a fact about an origin that an exchange has shown.
    mutating func learn(_ sharing: Sharing, lane index: Int) {
        guard lanes[index].sharing != sharing else { return }
        lanes[index].sharing = sharing
        makeReady(index)
    }

    /// Notes for how many seconds the server of an origin keeps an idle connection; 0 if the server has not said so.
    mutating func learn(keepAliveSeconds: Int, lane index: Int) { lanes[index].keepAliveSeconds = keepAliveSeconds }

    /// The number of whole seconds after which an idle connection of an origin is no longer used; `nil` if its server
    /// sets no limit.
    ///
    /// A request must arrive before the server closes the connection, so the limit is a second shorter than the
    /// server's. Another second is subtracted, because libcurl drops the fraction of the idle time.
    func idleSeconds(lane index: Int) -> Int? {
        let seconds = lanes[index].keepAliveSeconds
        return seconds > 0 ? max(1, seconds - 2) : nil
    }

    /// Notes a fact about long uploads to an origin that an exchange has shown.
    mutating func learn(_ longUploads: LongUploads, lane index: Int) { lanes[index].longUploads = longUploads }

    func longUploads(lane index: Int) -> LongUploads { lanes[index].longUploads }

    func active(lane index: Int) -> Int { lanes[index].active }

    func sharing(lane index: Int) -> Sharing { lanes[index].sharing }

    /// All waiting requests, in no particular order.
    var waitingTickets: [Ticket] {
        var (dead, surpassed) = (dead, surpassed)
        return lanes.flatMap { lane in lane.waiting.all }.filter { Self.isLive($0, &dead, &surpassed) }
    }

    /// The numbers of lanes and of entries in their queues, including obsolete entries.
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
            guard Self.isLive(ticket, &dead, &surpassed) else {
                lanes[index].deadCount -= 1
                continue
            }
            lanes[index].waitingCount -= 1
            waiting -= 1
            sweepIfNeeded(index)
            return ticket
        }
        return nil
    }

    /// Whether the next entry of a lane belongs to a waiting request. Each entry of a lane is passed here once, in the
    /// order of the queue.
    private static func isLive(
        _ ticket: Ticket, _ dead: inout [Ticket: Int], _ surpassed: inout [Ticket: Int]
    ) -> Bool {
        if !dead.isEmpty, let count = dead[ticket] {
            dead[ticket] = count > 1 ? count - 1 : nil
            return false
        }
        // The later entries of the request are those at its earlier priorities.
        if !surpassed.isEmpty, let count = surpassed.removeValue(forKey: ticket) { dead[ticket] = count }
        return true
    }

    /// Removes obsolete entries. A sweep costs about as much as the changes since the last one, so a blocked lane does
    /// not grow. A lane without waiting requests keeps no obsolete entry in memory.
    private mutating func sweepIfNeeded(_ index: Int) {
        let (dead, waiting) = (lanes[index].deadCount, lanes[index].waitingCount)
        if dead > waiting + 32 || waiting == 0 && dead > 0 { sweep(index) }
    }

    private mutating func sweep(_ index: Int) {
        var kept = PriorityFifo<Ticket>()
        swap(&kept, &lanes[index].waiting)
        kept.removeAll { !Self.isLive($0, &dead, &surpassed) }
        lanes[index].waiting = kept
        lanes[index].deadCount = 0
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
        // If most lanes are busy, searching at each new lane would cost more and more.
        sweepCount = max(Self.idleMaximum, indexes.count * 2)
    }
}
