import EssentialsHTTP

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
        case total, connect, idle
    }

    private let total: Int64?
    private let connect: Int64?
    private let idle: Int64?

    /// Begins to count now.
    init(_ options: TransportOptions, now: Int64) {
        total = options.totalTimeout.map { now + Int64($0.milliseconds) }
        connect = options.connectTimeout > .zero ? now + Int64(options.connectTimeout.milliseconds) : nil
        idle = options.idleTimeout.map { Int64($0.milliseconds) }
    }

    /// The deadline that comes first, and when.
    ///
    /// - Parameters:
    ///   - isConnected: Whether the request was sent.
    ///   - lastActivity: When bytes moved last; nil when it is not the peer's turn.
    func next(isConnected: Bool, lastActivity: Int64?) -> (kind: Kind, moment: Int64)? {
        var candidates: [(kind: Kind, moment: Int64)] = []
        if let total { candidates.append((.total, total)) }
        if let connect, !isConnected { candidates.append((.connect, connect)) }
        if let idle, let lastActivity { candidates.append((.idle, lastActivity + idle)) }
        return candidates.min { $0.moment < $1.moment }
    }
}
