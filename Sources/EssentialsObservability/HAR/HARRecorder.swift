public import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// Records the last exchanges of services as a HAR file, for those who look for a fault.
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
/// and the members of JSON are hidden whose names sound secret, and multipart bodies are hidden whole. A secret in another
/// place of a body is not recognized.
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

        var exchanges: Int { max(1, attempts) }
    }

    private struct State {
        var running: [RequestID: Call] = [:]
        var ended = Fifo<Call>()
        /// The exchanges of calls that have ended.
        var exchanges = 0
        var bytes = 0
        var droppedExchanges = 0
        var droppedBodies = 0
    }

    /// The maximum size of a body that the recorder receives.
    public let bodyLimit: Int
    private let limit: Int
    private let clock = WallClock()
    private let state = Mutex(State())

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - limit: The number of exchanges that are kept. Those of the calls that have ended first are dropped first, and the
    ///     record says how many. The default is 1,000.
    ///   - bodyLimit: The number of bytes of each body that are recorded, at most ``maximumBodySize``. The default is 0,
    ///     which means none.
    public init(limit: Int = 1_000, bodyLimit: Int = 0) {
        self.limit = max(1, limit)
        self.bodyLimit = min(max(0, bodyLimit), Self.maximumBodySize)
    }

    /// Receives an event of a request.
    public func observe(_ event: RequestEvent) {
        let dropped = state.withLock { state -> [Call] in
            let id = event.call.id
            var call = state.running.removeValue(forKey: id) ?? Call()
            let size = event.recordedSize
            // Without calls that could be dropped, bodies are.
            if case .body = event.kind, state.bytes + size > Self.maximumBytes, state.ended.isEmpty {
                state.droppedBodies += 1
                state.running[id] = call
                return []
            }
            call.timeline.add(event)
            call.bytes += size
            state.bytes += size
            switch event.kind {
            case .sent: call.attempts += 1
            case .ended:
                state.exchanges += call.exchanges
                state.ended.append(call)
                return dropSurplus(&state)
            default: break
            }
            state.running[id] = call
            return dropSurplus(&state)
        }
        _ = consume dropped
    }

    /// Removes the calls that are too many, and returns them.
    private func dropSurplus(_ state: inout State) -> [Call] {
        var dropped: [Call] = []
        while state.exchanges > limit || state.bytes > Self.maximumBytes, let call = state.ended.popFirst() {
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
        default: 200
        }
    }
}
