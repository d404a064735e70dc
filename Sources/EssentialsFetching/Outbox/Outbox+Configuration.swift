public import EssentialsHTTP
import EssentialsRequests
public import Logging

extension Outbox {
    /// Settings of an outbox.
    public struct Configuration: Sendable {
        /// The maximum number of entries, including those that were given up. The default is 10,000.
        public var maximumCount = 10_000
        /// The maximum size of all entries on the disk. The default is 64 MiB.
        public var maximumBytes = 64 << 20
        /// How long an entry may wait. An older entry is given up. The default is seven days.
        ///
        /// The age is measured by the clock of the machine, which is never set and which a restart of the process does
        /// not stop. After a restart of the machine, the date decides how old the earlier entries are, and setting it
        /// forward later does not make them older. If the date turns out to have been ahead, the entries that were
        /// given up only because of it wait again: at the next drain, at the next start, and otherwise within five
        /// minutes.
        public var maximumAge = Duration.seconds(7 * 24 * 3600)
        /// How many requests are sent at a time. The default is four.
        public var maximumConcurrent = 4
        /// The number of attempts after which an entry is given up. An attempt counts only if a server may have
        /// received the request, so attempts while offline do not count. A restart begins the count again. The default
        /// is ten.
        public var maximumAttempts = 10
        /// The wait after a failed attempt. The default is exponential, from one second to five minutes. A longer
        /// `Retry-After` counts instead.
        public var backoff = Backoff.exponential(base: .seconds(1), cap: .seconds(300))
        /// Whether an entry is tried again after the status 500, as after 503. The default is `true`.
        public var retriesInternalServerError = true
        /// The options with which entries are sent. The options of the added requests are not stored.
        public var options = TransportOptions()
        /// How long ``Outbox/close()`` waits for requests that are being sent before it cancels them. The default is
        /// five seconds.
        public var closeDeadline = Duration.seconds(5)
        /// The clock for waits, ages and random numbers. The default is the system's. With a clock without
        /// `RequestClock.bootTime`, the age of entries of an earlier process is measured by the date.
        public var clock = RequestClock.system
        /// Logs problems at debug level, without queries. The default logs nothing.
        public var logger = Logger(label: "essentials.outbox", factory: { _ in SwiftLogNoOpLogHandler() })

        /// Creates the default settings.
        public init() {}
    }

    /// The settings for the machine, limited to valid values.
    struct Limits: Sendable {
        var maximumCount: Int
        var maximumBytes: Int
        var maximumAge: Duration
        var maximumConcurrent: Int
        var maximumAttempts: Int
        var backoff: Backoff
        var retriesInternalServerError: Bool

        init(_ configuration: Configuration) {
            maximumCount = max(configuration.maximumCount, 0)
            maximumBytes = min(max(configuration.maximumBytes, 0), .max / 4)
            maximumAge = min(max(configuration.maximumAge, .zero), .seconds(1 << 32))
            maximumConcurrent = max(configuration.maximumConcurrent, 1)
            maximumAttempts = max(configuration.maximumAttempts, 1)
            backoff = configuration.backoff
            retriesInternalServerError = configuration.retriesInternalServerError
        }
    }
}
