package import EssentialsTools

/// The calls of which timelines are kept, within limits of number and size.
package struct RecordedCalls: Sendable {
    /// What the limit counts.
    package enum Unit: Sendable {
        /// Calls that have ended.
        case calls
        /// Their exchanges. A call that was not sent is an exchange too.
        case exchanges
    }

    /// A call. It is an object, so that an event is added to it in place.
    ///
    /// It is used only with the lock of the recorder, and after it was dropped not at all, so it can be sent to the thread that
    /// releases it.
    package final class Call: @unchecked Sendable {
        package fileprivate(set) var timeline = RequestTimeline()
        /// The numbers of its events, in their order.
        fileprivate var numbers: [UInt64] = []
        /// How often the transport has received it.
        fileprivate var attempts = 0
        fileprivate var bytes = 0

        fileprivate init() {
            // A plain request has about as many events.
            timeline.reserveCapacity(8)
            numbers.reserveCapacity(8)
        }

        /// Whether there are events after one with a number.
        package func hasChanged(after number: UInt64) -> Bool { (numbers.last ?? 0) > number }

        /// The events after one with a number.
        package func events(after number: UInt64) -> ArraySlice<RequestEvent> {
            timeline.events[(numbers.firstIndex { $0 > number } ?? numbers.count)...]
        }
    }

    /// The number of calls that are recorded at the same time.
    private static let maximumRunning = 10_000

    private let limit: Int
    private let unit: Unit
    private let memory: Int
    package private(set) var running: [RequestID: Call] = [:]
    package private(set) var ended = Fifo<Call>()
    /// The units of the calls that have ended.
    private var kept = 0
    /// The bytes of all calls, and those of the calls that run.
    private var bytes = 0
    private var runningBytes = 0
    private var dropped = 0
    private var droppedEvents = 0
    /// The number of events so far.
    package private(set) var count: UInt64 = 0
    /// The units of all calls that have ended so far.
    package private(set) var endedUnits: UInt64 = 0

    /// - Parameters:
    ///   - limit: The number of units of calls that have ended.
    ///   - memory: The size of the events in bytes.
    package init(limit: Int, of unit: Unit, memory: Int = .max) {
        (self.limit, self.unit, self.memory) = (limit, unit, memory)
    }

    /// Adds an event to its call.
    ///
    /// - Returns: The calls that are dropped for it. They are released by the caller, which holds no lock then.
    package mutating func add(_ event: RequestEvent) -> [Call] {
        let id = event.call.id
        guard let call = running[id] ?? newCall(event) else { return [] }
        add(event, to: call)
        guard case .ended = event.kind else { return bytes > memory ? dropSurplus() : [] }
        running[id] = nil
        runningBytes -= call.bytes
        kept += units(of: call)
        endedUnits += UInt64(units(of: call))
        ended.append(call)
        return dropSurplus()
    }

    /// A call that begins; `nil` if too many run, or if its beginning was not recorded for that reason.
    private mutating func newCall(_ event: RequestEvent) -> Call? {
        guard case .began = event.kind else { return nil }
        guard running.count < Self.maximumRunning else {
            dropped += 1
            return nil
        }
        let call = Call()
        running[event.call.id] = call
        return call
    }

    private mutating func add(_ event: RequestEvent, to call: Call) {
        let size = event.recordedSize(after: call.attempts)
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

    private func units(of call: Call) -> Int { unit == .calls ? 1 : max(1, call.attempts) }

    private mutating func dropSurplus() -> [Call] {
        var surplus: [Call] = []
        while kept > limit || bytes > memory, let call = ended.popFirst() {
            kept -= units(of: call)
            bytes -= call.bytes
            dropped += units(of: call)
            surplus.append(call)
        }
        return surplus
    }

    /// Removes the calls that have ended, and returns them.
    package mutating func removeEnded() -> Fifo<Call> {
        for call in ended { bytes -= call.bytes }
        (kept, dropped, droppedEvents) = (0, 0, 0)
        defer { ended = Fifo() }
        return ended
    }

    /// The calls, those that have ended first.
    package var all: [Call] { Array(ended) + running.values }

    /// The number of units that were dropped after so many had ended.
    package func dropped(after number: UInt64) -> Int {
        let firstKept = endedUnits - UInt64(kept)
        return firstKept > number ? Int(clamping: firstKept - number) : 0
    }

    /// What is missing; `nil` if nothing is.
    package var comment: String? {
        var notes: [String] = []
        if dropped > 0 { notes.append("\(dropped) earlier exchanges were dropped.") }
        if droppedEvents > 0 { notes.append("\(droppedEvents) parts of running exchanges were dropped.") }
        return notes.isEmpty ? nil : notes.joined(separator: " ")
    }
}

extension RequestEvent {
    /// The bytes that the event takes in memory, about. The fields of a request are counted when it is sent, and those of a response
    /// from the server with its head.
    ///
    /// - Parameter attempts: The number of attempts before it.
    fileprivate func recordedSize(after attempts: Int) -> Int {
        switch kind {
        case .body(let body): 200 + body.bytes.count
        case .sent(let request): 400 + request.size
        case .head(let response): 400 + response.size
        case .received(let reception):
            400 + (attempts == 0 || reception.cache?.isFromCache == true ? reception.response.size : 0)
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
