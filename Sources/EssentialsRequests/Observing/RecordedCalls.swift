import EssentialsTools

/// The calls of which timelines are kept, within limits of number and size.
///
/// Each call that runs has an observer of its own, so that its events need neither a search nor a lock that others take.
package final class RecordedCalls: Sendable {
    /// What the limit counts.
    package enum Unit: Sendable {
        /// Calls that have ended.
        case calls
        /// Their exchanges. A call that was not sent is an exchange too.
        case exchanges
    }

    private struct State {
        var running: [RequestID: RecordedCall] = [:]
        var ended = Fifo<RecordedCall>()
        /// The units of the calls that have ended.
        var kept = 0
        var dropped = 0
        /// The number of looks so far.
        var looks: UInt64 = 0
        /// The units of all calls that have ended so far.
        var endedUnits: UInt64 = 0
    }

    /// The number of calls that are recorded at the same time.
    private static let maximumRunning = 10_000

    private let limit: Int
    private let unit: Unit
    private let memory: Int
    private let state = Mutex(State())
    /// The bytes of the calls that run, and of those that have ended.
    private let runningBytes = Atomic(0)
    private let endedBytes = Atomic(0)
    private let droppedEvents = Atomic(0)

    /// - Parameters:
    ///   - limit: The number of units of calls that have ended.
    ///   - memory: The size of the events in bytes.
    package init(limit: Int, of unit: Unit, memory: Int = .max) {
        (self.limit, self.unit, self.memory) = (limit, unit, memory)
    }

    /// The observer of a call. The call is recorded from its beginning.
    package func observer(of call: RequestCall) -> RecordedCall { RecordedCall(of: self) }

    /// Adds an event that is not told to the observer of its call.
    package func observe(_ event: RequestEvent) {
        let running = state.withLock { $0.running[event.call.id] }
        guard running == nil, case .began = event.kind else {
            running?.observe(event)
            return
        }
        observer(of: event.call).observe(event)
    }

    // MARK: The calls

    /// Adds a call that begins.
    ///
    /// - Returns: Whether it is recorded. It is not if too many run, or if it is recorded already.
    fileprivate func begin(_ call: RecordedCall, _ id: RequestID) -> Bool {
        state.withLock { state in
            guard state.running[id] == nil else { return false }
            guard state.running.count < Self.maximumRunning else {
                state.dropped += 1
                return false
            }
            state.running[id] = call
            return true
        }
    }

    /// Whether there is room for a further event of a call that runs.
    ///
    /// The calls that run may take half of the memory, so that the others are not dropped for them. Their ends are small.
    fileprivate func takes(_ size: Int, isEnd: Bool) -> Bool {
        guard isEnd || runningBytes.load(ordering: .relaxed) + size <= memory / 2 else {
            droppedEvents.add(1, ordering: .relaxed)
            return false
        }
        runningBytes.add(size, ordering: .relaxed)
        return true
    }

    fileprivate func giveBack(_ size: Int) { runningBytes.subtract(size, ordering: .relaxed) }

    /// Drops calls that have ended if the memory is full.
    fileprivate func makeRoom() {
        guard isFull else { return }
        let dropped = state.withLock { dropSurplus(&$0) }
        _ = consume dropped
    }

    /// Moves a call that has ended. What is dropped for it is released without the lock.
    fileprivate func end(_ call: RecordedCall, _ id: RequestID, _ size: (bytes: Int, attempts: Int)) {
        let dropped = state.withLock { state in
            state.running[id] = nil
            runningBytes.subtract(size.bytes, ordering: .relaxed)
            endedBytes.add(size.bytes, ordering: .relaxed)
            state.kept += units(size.attempts)
            state.endedUnits += UInt64(units(size.attempts))
            state.ended.append(call)
            return dropSurplus(&state)
        }
        _ = consume dropped
    }

    private var isFull: Bool {
        let (running, ended) = (runningBytes.load(ordering: .relaxed), endedBytes.load(ordering: .relaxed))
        return running + ended > memory
    }

    private func units(_ attempts: Int) -> Int { unit == .calls ? 1 : max(1, attempts) }

    /// - Returns: The timelines that are dropped.
    private func dropSurplus(_ state: inout State) -> [RequestTimeline] {
        var surplus: [RequestTimeline] = []
        while state.kept > limit || isFull, let call = state.ended.popFirst() {
            let size = call.size
            state.kept -= units(size.attempts)
            state.dropped += units(size.attempts)
            endedBytes.subtract(size.bytes, ordering: .relaxed)
            surplus.append(call.forget())
        }
        return surplus
    }

    /// Removes the calls that have ended.
    package func removeEnded() {
        let removed = state.withLock { state in
            for call in state.ended { endedBytes.subtract(call.size.bytes, ordering: .relaxed) }
            (state.kept, state.dropped) = (0, 0)
            droppedEvents.store(0, ordering: .relaxed)
            defer { state.ended = Fifo() }
            return state.ended.map { $0.forget() }
        }
        _ = consume removed
    }

    // MARK: Looks

    /// The timelines of the calls that run, in no order.
    package var running: [RequestTimeline] {
        state.withLock { $0.running.values.map(\.timeline).filter { !$0.events.isEmpty } }
    }
    /// The timelines of the calls that have ended, in the order of their ends.
    package var ended: [RequestTimeline] { state.withLock { $0.ended.map(\.timeline) } }

    /// What has changed since a look.
    package struct Changes: Sendable {
        /// The timelines of the calls that have changed, those that have ended first, and their new events.
        package let calls: [(timeline: RequestTimeline, new: ArraySlice<RequestEvent>)]
        /// The number of this look.
        package let look: UInt64
        /// The units of all calls that have ended so far.
        package let endedUnits: UInt64
        /// The number of units that were dropped since so many had ended.
        package let dropped: Int
        /// What is missing; `nil` if nothing is.
        package let comment: String?
    }

    /// Looks at what has changed since another look.
    ///
    /// - Parameters:
    ///   - look: The number of that look; 0 for all that is kept.
    ///   - endedUnits: The units of all calls that had ended then.
    package func changes(since look: UInt64, endedUnits: UInt64 = 0) -> Changes {
        state.withLock { state in
            state.looks += 1
            let calls = (Array(state.ended) + state.running.values).compactMap { $0.look(state.looks, since: look) }
            let firstKept = state.endedUnits - UInt64(state.kept)
            return Changes(
                calls: calls, look: state.looks, endedUnits: state.endedUnits,
                dropped: firstKept > endedUnits ? Int(clamping: firstKept - endedUnits) : 0, comment: comment(state))
        }
    }

    private func comment(_ state: State) -> String? {
        var notes: [String] = []
        if state.dropped > 0 { notes.append("\(state.dropped) earlier exchanges were dropped.") }
        let events = droppedEvents.load(ordering: .relaxed)
        if events > 0 { notes.append("\(events) parts of running exchanges were dropped.") }
        return notes.isEmpty ? nil : notes.joined(separator: " ")
    }
}

/// The record of one call.
///
/// Its service keeps it as long as anybody has the response, so it forgets its events when its recorder does.
package final class RecordedCall: RequestObserver {
    private struct State {
        /// `nil` when the call has ended, so that the recorder and its calls do not keep each other.
        var calls: RecordedCalls?
        var timeline = RequestTimeline()
        /// Whether the beginning was recorded, without which nothing is.
        var hasBegun = false
        /// How many events each look has found, if there were new ones.
        var found: [(events: Int, look: UInt64)] = []
        /// How often the transport has received the request.
        var attempts = 0
        var bytes = 0
    }

    private let state: Mutex<State>

    fileprivate init(of calls: RecordedCalls) { state = Mutex(State(calls: calls)) }

    /// Adds an event. After the end of the call nothing is added.
    package func observe(_ event: RequestEvent) {
        switch event.kind {
        case .began: begin(event)
        case .ended:
            // The recorder takes the call over with its end.
            guard let calls = add(event, isEnd: true) else { return }
            calls.end(self, event.call.id, size)
        default: add(event)?.makeRoom()
        }
    }

    private func begin(_ event: RequestEvent) {
        let calls = state.withLock { $0.hasBegun ? nil : $0.calls }
        if let calls {
            guard calls.begin(self, event.call.id) else { return }
            state.withLock { state in
                state.hasBegun = true
                // A plain request has about as many events.
                state.timeline.reserveCapacity(6)
            }
        }
        add(event)?.makeRoom()
    }

    /// - Returns: The recorder, if it records the call.
    private func add(_ event: RequestEvent, isEnd: Bool = false) -> RecordedCalls? {
        state.withLock { state in
            guard state.hasBegun, let calls = state.calls else { return nil }
            if isEnd { state.calls = nil }
            let size = event.recordedSize(after: state.attempts)
            guard calls.takes(size, isEnd: isEnd) else { return calls }
            guard state.timeline.add(event) else {
                calls.giveBack(size)
                return calls
            }
            state.bytes += size
            if case .sent = event.kind { state.attempts += 1 }
            return calls
        }
    }

    /// Forgets the events, and returns them so that they are released without a lock.
    fileprivate func forget() -> RequestTimeline {
        state.withLock { state in
            defer { (state.timeline, state.found) = (RequestTimeline(), []) }
            return state.timeline
        }
    }

    fileprivate var timeline: RequestTimeline { state.withLock { $0.timeline } }
    fileprivate var size: (bytes: Int, attempts: Int) { state.withLock { ($0.bytes, $0.attempts) } }

    /// - Returns: The timeline with the events that are new since a look; `nil` if there are none.
    fileprivate func look(_ number: UInt64, since look: UInt64) -> (RequestTimeline, ArraySlice<RequestEvent>)? {
        state.withLock { state in
            let count = state.timeline.events.count
            if (state.found.last?.events ?? 0) < count { state.found.append((count, number)) }
            let known = state.found.last { $0.look <= look }?.events ?? 0
            return known < count ? (state.timeline, state.timeline.events[known...]) : nil
        }
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
