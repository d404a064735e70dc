import EssentialsTransport

/// When to look next for exchanges whose time is over. Looking costs a walk over all of them, so it is done only when the
/// first could be over.
///
/// libcurl keeps some of these times too, but not while a request waits for another's connection.
struct DeadlineWatch {
    private var nextLook: Int64?

    /// Something ends at this moment, in monotonic milliseconds, if nothing changes.
    mutating func ends(at moment: Int64) { nextLook = min(nextLook ?? moment, moment) }

    /// Whether it is time to look. The caller looks and says again what ends when.
    mutating func isDue(now: Int64) -> Bool {
        guard let nextLook, nextLook <= now else { return false }
        self.nextLook = nil
        return true
    }

    /// How long to wait, in milliseconds; -1 for as long as it takes.
    func wait(now: Int64) -> Int32 {
        guard let nextLook else { return -1 }
        return Int32(clamping: max(0, nextLook - now))
    }
}

/// The deadlines of one exchange, in monotonic milliseconds.
struct Deadlines {
    /// What a deadline is about.
    enum Kind {
        case queue, total, connect, firstByte, idle
    }

    /// How far the exchange has come, as far as its deadlines care.
    struct Progress {
        var isConnected = false
        var hasFirstByte = false
        /// When bytes moved last; nil when it is not the peer's turn.
        var lastActivity: Int64?
    }

    private var total: Int64?
    private var queue: Int64?
    private var connect: Int64?
    private let connectTimeout: Int64?
    private let firstByte: Int64?
    private let idle: Int64?

    /// Begins to count now.
    init(_ times: TimeLimits, now: Int64) {
        total = times.total.map { now + $0 }
        queue = times.queue.map { now + $0 }
        connectTimeout = times.connect > 0 ? times.connect : nil
        firstByte = times.firstByte
        idle = times.idle
    }

    /// The exchange waits no longer.
    mutating func begin(now: Int64) {
        queue = nil
        connect = connectTimeout.map { now + $0 }
    }

    /// Nobody waits for the rest, so it may take no longer than this.
    mutating func end(by moment: Int64) { total = min(total ?? moment, moment) }

    /// The moment by which an exchange that waits for its turn has to begin, and why.
    var waiting: (kind: Kind, moment: Int64)? { Self.earlier(queue.map { (.queue, $0) }, total.map { (.total, $0) }) }

    /// The deadline of a running exchange that comes first, and when.
    func running(_ progress: Progress) -> (kind: Kind, moment: Int64)? {
        var next: (kind: Kind, moment: Int64)? = total.map { (.total, $0) }
        // Until there is a connection nothing can move on it.
        guard progress.isConnected else { return Self.earlier(next, connect.map { (.connect, $0) }) }
        guard let silent = progress.lastActivity else { return next }
        if !progress.hasFirstByte {
            next = Self.earlier(next, firstByte.map { (.firstByte, silent + $0) })
        }
        return Self.earlier(next, idle.map { (.idle, silent + $0) })
    }

    private static func earlier(
        _ first: (kind: Kind, moment: Int64)?, _ second: (kind: Kind, moment: Int64)?
    ) -> (kind: Kind, moment: Int64)? {
        guard let first else { return second }
        guard let second else { return first }
        return second.moment < first.moment ? second : first
    }
}
