public import EssentialsHTTP
public import EssentialsRequests
package import EssentialsTools
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
/// Secrets are hidden as in the logs of the service; see `Redaction`. With the default settings of a service the queries of
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

    /// The maximum size of a body that the recorder receives.
    public let bodyLimit: Int
    private let clock = WallClock()
    /// Tells the numbers of this recorder from those of another one.
    private let identity = UInt32.random(in: .min ... .max)
    private let calls: RecordedCalls

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
        self.bodyLimit = min(max(0, bodyLimit), Self.maximumBodySize)
        calls = RecordedCalls(limit: max(1, limit), of: .exchanges, memory: memory)
    }

    /// Records a call.
    public func observer(of call: RequestCall) -> any RequestObserver { calls.observer(of: call) }

    /// Receives an event of a request.
    public func observe(_ event: RequestEvent) { calls.observe(event) }

    /// What was recorded, in the order of the beginnings. Exchanges that are running are recorded so far as they are known.
    public var har: HAR {
        let all = calls.changes(since: 0)
        let entries = all.calls.flatMap { HAR.entries(of: $0.timeline, clock) }
        return HAR(entries: entries.sorted { $0.started < $1.started }, comment: all.comment)
    }

    /// Forgets what was recorded of the calls that have ended.
    public func removeAll() { calls.removeEnded() }

    // MARK: For the inspector

    /// A moment in the recording.
    package struct Cursor: Sendable, Hashable {
        fileprivate let identity: UInt32
        fileprivate let look: UInt64
        fileprivate let endedExchanges: UInt64

        /// The moment as text.
        package var text: String { "\(identity)-\(look)-\(endedExchanges)" }

        /// Reads a text; `nil` if it is no moment.
        package init?(_ text: String) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, let identity = UInt32(parts[0]), let look = UInt64(parts[1]),
                let ended = UInt64(parts[2])
            else { return nil }
            self.init(identity, look, ended)
        }

        fileprivate init(_ identity: UInt32, _ look: UInt64, _ endedExchanges: UInt64) {
            (self.identity, self.look, self.endedExchanges) = (identity, look, endedExchanges)
        }
    }

    /// What has changed since a moment.
    package struct Changes: Sendable {
        /// The exchanges of the calls that have changed, each with a command of curl, in the order of their beginnings.
        package let entries: [HAR.Entry]
        /// The events.
        package let events: [RequestEvent]
        /// The moment up to which this is.
        package let now: Cursor
        /// The number of exchanges that are not kept any more.
        package let dropped: Int
        /// What is missing in the recording; `nil` if nothing is.
        package let comment: String?
    }

    /// What has changed since a moment.
    ///
    /// - Parameter cursor: The moment. Without one, or with that of another recorder, all that is kept has changed.
    package func changes(since cursor: Cursor?) -> Changes {
        let own = cursor.flatMap { isOwn($0) ? $0 : nil }
        let changes = calls.changes(since: own?.look ?? 0, endedUnits: own?.endedExchanges ?? 0)
        let entries = changes.calls.flatMap { HAR.entries(of: $0.timeline, clock, hasCommands: true) }
        return Changes(
            entries: entries.sorted { $0.started < $1.started }, events: changes.calls.flatMap(\.new),
            now: Cursor(identity, changes.look, changes.endedUnits), dropped: own == nil ? 0 : changes.dropped,
            comment: changes.comment)
    }

    /// Whether a moment is one of this recorder.
    package func isOwn(_ cursor: Cursor) -> Bool { cursor.identity == identity }

    /// The date of an instant.
    package func date(of instant: SteadyInstant) -> Date { clock.date(of: instant) }
}

/// The dates of instants of the monotonic clock. They differ from the system's date as much as the system's date was changed
/// since the clock was made.
struct WallClock: Sendable {
    private let instant = SteadyInstant.now
    private let date = Date.now

    func date(of instant: SteadyInstant) -> Date {
        // In milliseconds, as a file has them.
        let date = date.addingTimeInterval((instant - self.instant) / .seconds(1))
        return Date(timeIntervalSince1970: (date.timeIntervalSince1970 * 1_000).rounded() / 1_000)
    }
}
