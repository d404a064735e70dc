package import EssentialsHTTP

/// Decides when an event stream is connected again, and whether events may have been missed.
///
/// A stream that ends, whose connection breaks or whose server is overloaded is connected again after the time that the
/// server named last, or 3 seconds. Without any event in between the pause doubles, up to eight times. It ends for good if
/// the server refuses it (WHATWG HTML, 9.2.3). The machine owns no connection and no clock.
package struct EventStreamMachine: Sendable {
    package enum Action: Sendable {
        /// Connect again after a pause.
        case wait(Duration)
        /// End, with the failure if there is one.
        case end(RequestFailure?)
    }

    package static let standardRetry = Duration.seconds(3)
    /// The bounds of the time that a server can name.
    package static let retryRange = Duration.milliseconds(100)...Duration.seconds(3_600)
    /// The most often that the pause is doubled.
    private static let maximumDoublings = 3

    /// The largest id in bytes that is sent back.
    static let maximumID = 1 << 10

    /// Whether the server sends the missed events to a client that names its last one.
    package let replays: Bool
    /// The id of the last event as it is sent; empty if it has none, or one that no field can carry.
    package private(set) var lastEventID: String
    /// The value of the field `Last-Event-ID`; `nil` without an id.
    package var sentID: String? { lastEventID.isEmpty ? nil : lastEventID }
    package private(set) var retry = standardRetry
    /// How many connections in a row have brought no event.
    private var fruitless = 0
    /// Whether there was a connection before.
    private var wasConnected = false

    /// - Parameters:
    ///   - replays: Whether the server sends the missed events to a client that names its last one.
    ///   - lastEventID: The id of the last event of an earlier stream.
    package init(replays: Bool, lastEventID: String = "") {
        self.replays = replays
        self.lastEventID = Self.sendable(lastEventID)
    }

    /// Whether events are missed while there is no connection. Those before the first one do not count.
    package var missesEvents: Bool { wasConnected && (!replays || lastEventID.isEmpty) }

    /// There is a connection.
    ///
    /// - Returns: Whether events may have been missed since an earlier one.
    package mutating func connected() -> Bool {
        defer { wasConnected = true }
        return missesEvents
    }

    /// An event was received.
    package mutating func received(_ event: ServerSentEvent) {
        fruitless = 0
        noted(id: event.id, retry: event.retry)
    }

    /// The last event was not passed on, so the server is asked for it again.
    ///
    /// - Parameter id: The id of the event before.
    package mutating func dropped(after id: String) { lastEventID = id }

    /// A connection has ended after these. They can be of a block without data, which is no event.
    ///
    /// - Parameters:
    ///   - id: The last id; `nil` if there was neither an event nor an id.
    ///   - time: The last reconnection time; `nil` if there was none.
    package mutating func noted(id: String?, retry time: Duration?) {
        if let id { lastEventID = Self.sendable(id) }
        if let time {
            retry = min(max(time, Self.retryRange.lowerBound), Self.retryRange.upperBound)
        }
    }

    /// An id as the value of a header field: without blanks at its ends, which a field loses (RFC 9110, 5.5). One with a
    /// control character, or with more than 1,024 bytes, is not sent, so that no event can end the stream for good.
    private static func sendable(_ id: String) -> String {
        let isText = { (byte: UInt8) in byte != 0x20 && byte != 0x09 }
        let bytes = id.utf8
        guard let start = bytes.firstIndex(where: isText), let end = bytes.lastIndex(where: isText) else { return "" }
        let text = bytes[start...end]
        guard text.count <= maximumID, !text.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7f }) else {
            return ""
        }
        return String(Substring(text))
    }

    /// The server is another one now, which knows nothing of the last event.
    package mutating func serverChanged() {
        (lastEventID, retry, fruitless) = ("", Self.standardRetry, 0)
    }

    /// The stream has ended, or could not be connected.
    ///
    /// - Parameters:
    ///   - failure: Why; `nil` if the server has ended it.
    ///   - retryAfter: The time that the server named in the field `Retry-After`.
    ///   - random: 64 random bits, which lengthen the pause by up to a half, so that the clients of a server that was
    ///     restarted do not come back at once.
    package mutating func ended(_ failure: RequestFailure?, retryAfter: Duration?, random: UInt64) -> Action {
        if let failure, !failure.mayPass {
            // A server says 204 if clients should not come back.
            return .end(failure.status == .noContent ? nil : failure)
        }
        let pause = retry * (1 << min(fruitless, Self.maximumDoublings))
        fruitless = min(fruitless + 1, Self.maximumDoublings)
        let jitter = pause * (Double(random >> 11) * 0x1p-54)
        let least = min(max(retryAfter ?? .zero, .zero), Self.retryRange.upperBound)
        return .wait(max(pause + jitter, least))
    }
}
