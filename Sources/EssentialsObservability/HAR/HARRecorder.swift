public import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools
package import FoundationEssentials

/// Records the last exchanges of services, for a HAR file.
///
/// ```swift
/// let recorder = HARRecorder()
/// configuration.observers = [recorder]
/// // after some requests
/// try recorder.har.write(to: "/tmp/requests.har")
/// ```
///
/// `essentials har FILE` prints such a file, and browsers open it.
///
/// Secrets are hidden as in the logs of the service; see ``Redaction``. With the default settings of a service the queries of
/// all URLs are hidden. Bodies are not recorded unless ``init(limit:bodyLimit:)`` asks for them; in those the items of forms
/// and the members of JSON are hidden whose names sound secret, and multipart bodies are hidden whole. A secret without a name
/// is not recognized. In memory the values are as they were sent, and nothing shows them.
///
/// It can be used from any thread, and by several services.
public final class HARRecorder: RequestObserver {
    /// The maximum size of what is kept, in bytes. What is recorded is a little larger in a file.
    public static let maximumBytes = 32 << 20
    /// The maximum size of a body that is recorded, in bytes. More is cut off.
    public static let maximumBodySize = 64 << 10

    private struct Call {
        var timeline = RequestTimeline()
        /// How often the transport has received it. A call that was not sent is an exchange too.
        var attempts = 0
        var bytes = 0
        /// The number of its last event.
        var revision: UInt64 = 0

        var exchanges: Int { max(1, attempts) }
    }

    private struct State {
        var running: [RequestID: Call] = [:]
        var ended = Fifo<Call>()
        /// The exchanges of calls that have ended.
        var exchanges = 0
        /// The bytes of all calls, and those of the calls that run.
        var bytes = 0
        var runningBytes = 0
        var droppedExchanges = 0
        var droppedBodies = 0
        /// The number of events so far.
        var revision: UInt64 = 0
        /// The exchanges of all calls that have ended so far.
        var endedExchanges: UInt64 = 0
    }

    /// The number of calls that are recorded at the same time.
    private static let maximumRunning = 10_000

    /// The maximum size of a body that the recorder receives.
    public let bodyLimit: Int
    private let limit: Int
    private let memory: Int
    private let clock = WallClock()
    private let state = Mutex(State())

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - limit: The number of exchanges that are kept. Those of the calls that have ended first are dropped first, and the
    ///     record says how many. The default is 1,000.
    ///   - bodyLimit: The number of bytes of each body that are recorded, at most ``maximumBodySize``. The default is 0,
    ///     which means none.
    public convenience init(limit: Int = 1_000, bodyLimit: Int = 0) {
        self.init(limit: limit, bodyLimit: bodyLimit, memory: Self.maximumBytes)
    }

    /// Creates a recorder with another maximum size than ``maximumBytes``.
    package init(limit: Int, bodyLimit: Int, memory: Int) {
        self.limit = max(1, limit)
        self.bodyLimit = min(max(0, bodyLimit), Self.maximumBodySize)
        self.memory = memory
    }

    /// Receives an event of a request.
    public func observe(_ event: RequestEvent) {
        let dropped = state.withLock { state -> [Call] in
            let id = event.call.id
            guard var call = state.running.removeValue(forKey: id) ?? newCall(event, &state) else { return [] }
            add(event, to: &call, &state)
            state.revision += 1
            call.revision = state.revision
            if case .ended = event.kind {
                state.runningBytes -= call.bytes
                state.exchanges += call.exchanges
                state.endedExchanges += UInt64(call.exchanges)
                state.ended.append(call)
            } else {
                state.running[id] = call
            }
            return dropSurplus(&state)
        }
        _ = consume dropped
    }

    /// A call that has begun; `nil` if too many run already.
    private func newCall(_ event: RequestEvent, _ state: inout State) -> Call? {
        guard state.running.count >= Self.maximumRunning else { return Call() }
        if case .ended = event.kind { state.droppedExchanges += 1 }
        return nil
    }

    private func add(_ event: RequestEvent, to call: inout Call, _ state: inout State) {
        let size = event.recordedSize
        // The calls that run may take half of the memory, so that the others are not dropped for them.
        if case .body = event.kind, state.runningBytes + size > memory / 2 {
            state.droppedBodies += 1
            return
        }
        guard call.timeline.add(event) else { return }
        call.bytes += size
        state.bytes += size
        state.runningBytes += size
        if case .sent = event.kind { call.attempts += 1 }
    }

    /// Removes the calls that are too many, and returns them.
    private func dropSurplus(_ state: inout State) -> [Call] {
        var dropped: [Call] = []
        while state.exchanges > limit || state.bytes > memory, let call = state.ended.popFirst() {
            state.exchanges -= call.exchanges
            state.bytes -= call.bytes
            state.droppedExchanges += call.exchanges
            dropped.append(call)
        }
        return dropped
    }

    /// What was recorded, in the order of the beginnings. Exchanges that are running are recorded so far as they are known.
    public var har: HAR {
        let (timelines, comment) = state.withLock { state in
            (state.ended.map(\.timeline) + state.running.values.map(\.timeline), Self.comment(state))
        }
        let entries = timelines.flatMap { HAR.entries(of: $0, clock) }
        return HAR(entries: entries.sorted { $0.started < $1.started }, comment: comment)
    }

    /// The calls that were recorded, those that have ended first, and the dates of their events.
    package var calls: (timelines: [RequestTimeline], date: @Sendable (ContinuousClock.Instant) -> Date) {
        let clock = clock
        let timelines = state.withLock { $0.ended.map(\.timeline) + $0.running.values.map(\.timeline) }
        return (timelines, { clock.date(of: $0) })
    }

    /// A moment in the recording.
    package struct Cursor: Sendable, Hashable {
        package var revision: UInt64 = 0
        package var endedExchanges: UInt64 = 0

        package init(revision: UInt64 = 0, endedExchanges: UInt64 = 0) {
            (self.revision, self.endedExchanges) = (revision, endedExchanges)
        }
    }

    /// The calls that have changed since a moment, this moment, and the number of exchanges between the two that are not kept any
    /// more.
    package func changes(since cursor: Cursor) -> (timelines: [RequestTimeline], now: Cursor, dropped: Int) {
        state.withLock { state in
            let ended = state.ended.filter { $0.revision > cursor.revision }.map(\.timeline)
            let running = state.running.values.filter { $0.revision > cursor.revision }.map(\.timeline)
            let firstKept = state.endedExchanges - UInt64(state.exchanges)
            return (
                ended + running, Cursor(revision: state.revision, endedExchanges: state.endedExchanges),
                firstKept > cursor.endedExchanges ? Int(clamping: firstKept - cursor.endedExchanges) : 0
            )
        }
    }

    /// The date of an instant.
    package func date(of instant: ContinuousClock.Instant) -> Date { clock.date(of: instant) }

    /// The exchanges of calls, each with a command of curl.
    package func detailedEntries(of timelines: [RequestTimeline]) -> [HAR.Entry] {
        timelines.flatMap { HAR.entries(of: $0, clock, hasCommands: true) }.sorted { $0.started < $1.started }
    }

    /// What was not recorded; `nil` if nothing is missing.
    package var comment: String? { state.withLock { Self.comment($0) } }

    /// Forgets what was recorded of the calls that have ended.
    public func removeAll() {
        let removed = state.withLock { state in
            for call in state.ended { state.bytes -= call.bytes }
            state.exchanges = 0
            (state.droppedExchanges, state.droppedBodies) = (0, 0)
            defer { state.ended = Fifo() }
            return state.ended
        }
        _ = consume removed
    }

    private static func comment(_ state: State) -> String? {
        var notes: [String] = []
        if state.droppedExchanges > 0 { notes.append("\(state.droppedExchanges) earlier exchanges were dropped.") }
        if state.droppedBodies > 0 { notes.append("\(state.droppedBodies) bodies were dropped.") }
        return notes.isEmpty ? nil : notes.joined(separator: " ")
    }
}

/// The dates of instants of the monotonic clock. They differ from the system's date as much as the system's date was changed
/// since the clock was made.
struct WallClock: Sendable {
    private let instant = ContinuousClock.now
    private let date = Date.now

    func date(of instant: ContinuousClock.Instant) -> Date {
        // In milliseconds, as a file has them.
        let date = date.addingTimeInterval((instant - self.instant) / .seconds(1))
        return Date(timeIntervalSince1970: (date.timeIntervalSince1970 * 1_000).rounded() / 1_000)
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
