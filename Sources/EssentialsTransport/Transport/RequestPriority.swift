/// The urgency of a request relative to other requests of its transport.
///
/// ```swift
/// request.options.priority = .background
/// ```
///
/// If requests to one origin wait for a connection, the more urgent ones leave the queue first, and equally urgent ones
/// in order of arrival. Running requests are not interrupted, and origins take turns regardless of priorities. A less
/// urgent request may wait as long as more urgent ones keep arriving, up to its `queueTimeout`.
public enum RequestPriority: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// For work that nobody waits for.
    case background
    /// For work that can wait for other requests.
    case low
    /// The default.
    case normal
    /// For work that should run before other requests.
    case high
    /// For work that blocks the user interface until it is done.
    case interactive

    /// The urgency of RFC 9218, section 4.1, from 0 (highest) to 7: 7, 5, 3, 2 and 1, from
    /// `background` to `interactive`.
    public var urgency: Int {
        switch self {
        case .background: 7
        case .low: 5
        case .normal: 3
        case .high: 2
        case .interactive: 1
        }
    }

    /// The place among the priorities, beginning with 0 for the most urgent one.
    package var level: Int { Self.interactive.rawValue - rawValue }

    /// Whether the first priority is less urgent than the second.
    public static func < (one: RequestPriority, other: RequestPriority) -> Bool { one.rawValue < other.rawValue }
}
