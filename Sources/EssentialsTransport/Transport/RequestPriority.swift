/// How urgent a request is beside the others of its transport.
///
/// ```swift
/// request.options.priority = .background
/// ```
///
/// Where requests to one origin wait for a connection, the more urgent ones leave the queue first, and equals in the
/// order in which they came. What runs is not interrupted, and origins take turns whatever their requests' priorities.
/// A less urgent one may wait as long as more urgent ones keep coming, up to its `queueTimeout`.
public enum RequestPriority: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Nobody waits for it.
    case background
    /// It can wait for others.
    case low
    /// As all that say nothing.
    case normal
    /// Before others.
    case high
    /// Somebody looks at the screen until it is there.
    case interactive

    /// The urgency of RFC 9218, 4.1: from 0, the highest, to 7. 7, 5, 3, 2 and 1.
    public var urgency: Int {
        switch self {
        case .background: 7
        case .low: 5
        case .normal: 3
        case .high: 2
        case .interactive: 1
        }
    }

    /// Whether the first is less urgent than the second.
    public static func < (one: RequestPriority, other: RequestPriority) -> Bool { one.rawValue < other.rawValue }
}
