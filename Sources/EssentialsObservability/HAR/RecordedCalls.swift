import EssentialsRequests
import EssentialsTools

/// The calls that a recorder keeps, within limits of number and size.
struct RecordedCalls {
    /// A call. It is an object, so that an event is added to it in place.
    ///
    /// It is used only with the lock of the recorder, and after it was dropped not at all, so it can be sent to the thread that
    /// releases it.
    final class Call: @unchecked Sendable {
        var timeline = RequestTimeline()
        /// The numbers of its events, in their order.
        var numbers: [UInt64] = []
        /// How often the transport has received it. A call that was not sent is an exchange too.
        var attempts = 0
        var bytes = 0

        var exchanges: Int { max(1, attempts) }

        init() {
            // A plain request has about as many events.
            timeline.reserveCapacity(8)
            numbers.reserveCapacity(8)
        }

        /// The events after one with a number.
        func events(after number: UInt64) -> ArraySlice<RequestEvent> {
            timeline.events[(numbers.firstIndex { $0 > number } ?? numbers.count)...]
        }
    }

    /// The number of calls that are recorded at the same time.
    private static let maximumRunning = 10_000

    private let limit: Int
    private let memory: Int
    private(set) var running: [RequestID: Call] = [:]
    private(set) var ended = Fifo<Call>()
    /// The exchanges of calls that have ended.
    private var exchanges = 0
    /// The bytes of all calls, and those of the calls that run.
    private var bytes = 0
    private var runningBytes = 0
    private var droppedExchanges = 0
    private var droppedEvents = 0
    /// The number of events so far.
    private(set) var count: UInt64 = 0
    /// The exchanges of all calls that have ended so far.
    private(set) var endedExchanges: UInt64 = 0

    /// - Parameters:
    ///   - limit: The number of exchanges.
    ///   - memory: The size of the events in bytes.
    init(limit: Int, memory: Int) { (self.limit, self.memory) = (limit, memory) }

    /// Adds an event to its call.
    ///
    /// - Returns: The calls that are dropped for it. They are released by the caller, which holds no lock then.
    mutating func add(_ event: RequestEvent) -> [Call] {
        let id = event.call.id
        guard let call = running[id] ?? newCall(event) else { return [] }
        add(event, to: call)
        guard case .ended = event.kind else { return bytes > memory ? dropSurplus() : [] }
        running[id] = nil
        runningBytes -= call.bytes
        exchanges += call.exchanges
        endedExchanges += UInt64(call.exchanges)
        ended.append(call)
        return dropSurplus()
    }

    /// A call that begins; `nil` if too many run, or if its beginning was not recorded for that reason.
    private mutating func newCall(_ event: RequestEvent) -> Call? {
        guard case .began = event.kind else { return nil }
        guard running.count < Self.maximumRunning else {
            droppedExchanges += 1
            return nil
        }
        let call = Call()
        running[event.call.id] = call
        return call
    }

    private mutating func add(_ event: RequestEvent, to call: Call) {
        let size = event.recordedSize
        // The calls that run may take half of the memory, so that the others are not dropped for them. Their ends are small.
        if case .ended = event.kind {
        } else if runningBytes + size > memory / 2 {
            droppedEvents += 1
            return
        }
        guard call.timeline.add(event) else { return }
        count += 1
        call.numbers.append(count)
        call.bytes += size
        bytes += size
        runningBytes += size
        if case .sent = event.kind { call.attempts += 1 }
    }

    private mutating func dropSurplus() -> [Call] {
        var dropped: [Call] = []
        while exchanges > limit || bytes > memory, let call = ended.popFirst() {
            exchanges -= call.exchanges
            bytes -= call.bytes
            droppedExchanges += call.exchanges
            dropped.append(call)
        }
        return dropped
    }

    /// Removes the calls that have ended, and returns them.
    mutating func removeEnded() -> Fifo<Call> {
        for call in ended { bytes -= call.bytes }
        exchanges = 0
        (droppedExchanges, droppedEvents) = (0, 0)
        defer { ended = Fifo() }
        return ended
    }

    /// The calls, those that have ended first.
    var all: [Call] { Array(ended) + running.values }

    /// The number of exchanges that were dropped after so many had ended.
    func dropped(after number: UInt64) -> Int {
        let firstKept = endedExchanges - UInt64(exchanges)
        return firstKept > number ? Int(clamping: firstKept - number) : 0
    }

    /// What is missing; `nil` if nothing is.
    var comment: String? {
        var notes: [String] = []
        if droppedExchanges > 0 { notes.append("\(droppedExchanges) earlier exchanges were dropped.") }
        if droppedEvents > 0 { notes.append("\(droppedEvents) parts of running exchanges were dropped.") }
        return notes.isEmpty ? nil : notes.joined(separator: " ")
    }
}

extension RequestEvent {
    /// The bytes that the event takes in memory, about.
    fileprivate var recordedSize: Int {
        switch kind {
        case .body(let body): 200 + body.bytes.count
        case .prepared(let request): 200 + request.size
        case .sent(let request): 400 + request.size
        case .head(let response): 400 + response.size
        case .received(let reception): 400 + reception.response.size
        case .attemptFailed(let failure): 400 + failure.recordedSize
        case .retrying(let retry): 400 + retry.failure.recordedSize
        case .ended(let ending): 400 + (ending.failure?.recordedSize ?? 0)
        default: 200
        }
    }
}

extension RequestFailure {
    /// The bytes that the failure takes in memory, about.
    fileprivate var recordedSize: Int {
        message.utf8.count + (response == nil ? 0 : 1 << 10) + earlierFailures.count << 9
    }
}
