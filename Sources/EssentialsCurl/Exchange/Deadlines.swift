import EssentialsTransport

/// The deadlines of one exchange, in monotonic milliseconds.
struct Deadlines {
    /// The part of an exchange that a deadline limits.
    enum Kind {
        case queue, total, connect, firstByte, idle
    }

    /// The progress of the exchange.
    struct Progress {
        var isConnected = false
        var hasFirstByte = false
        /// The time of the last transferred bytes, or `nil` if the peer is not expected to send.
        var lastActivity: Int64?
    }

    private var total: Int64?
    private var queue: Int64?
    private var connect: Int64?
    private let connectTimeout: Int64?
    private let firstByte: Int64?
    private let idle: Int64?

    /// Starts all deadlines that begin with the exchange.
    init(_ times: TimeLimits, now: Int64) {
        total = times.total.map { now + $0 }
        queue = times.queue.map { now + $0 }
        connectTimeout = times.connect > 0 ? times.connect : nil
        firstByte = times.firstByte
        idle = times.idle
    }

    /// Ends the deadline for waiting, and starts the one for connecting.
    mutating func begin(now: Int64) {
        queue = nil
        connect = connectTimeout.map { now + $0 }
    }

    /// Limits an exchange whose response is no longer read.
    mutating func end(by moment: Int64) { total = min(total ?? moment, moment) }

    /// The earliest deadline of an exchange that waits for its turn.
    var waiting: (kind: Kind, moment: Int64)? { Self.earlier(queue.map { (.queue, $0) }, total.map { (.total, $0) }) }

    /// Returns the earliest deadline of a running exchange.
    func running(_ progress: Progress) -> (kind: Kind, moment: Int64)? {
        var next: (kind: Kind, moment: Int64)? = total.map { (.total, $0) }
        // No bytes can move before there is a connection.
        guard progress.isConnected else { return Self.earlier(next, connect.map { (.connect, $0) }) }
        guard let silent = progress.lastActivity else { return next }
        if !progress.hasFirstByte {
            next = Self.earlier(next, firstByte.map { (.firstByte, silent + $0) })
        }
        return Self.earlier(next, idle.map { (.idle, silent + $0) })
    }

    /// The next moment at which a deadline of a running exchange could pass, even if the exchange is connected right
    /// after now and nothing moves from then on.
    func nextCheck(_ progress: Progress, now: Int64) -> Int64? {
        let next = running(progress)?.moment
        guard !progress.isConnected, let silence = [firstByte, idle].compactMap(\.self).min() else { return next }
        // Not more often than every 10 ms, whatever the deadlines are.
        return min(next ?? .max, now + max(10, silence))
    }

    private static func earlier(
        _ first: (kind: Kind, moment: Int64)?, _ second: (kind: Kind, moment: Int64)?
    ) -> (kind: Kind, moment: Int64)? {
        guard let first else { return second }
        guard let second else { return first }
        return second.moment < first.moment ? second : first
    }
}
