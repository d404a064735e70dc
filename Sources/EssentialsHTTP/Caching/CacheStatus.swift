/// Why a request was not satisfied by the cache ([RFC 9211, 2.2](https://www.rfc-editor.org/rfc/rfc9211#section-2.2)).
package enum ForwardReason: String, Sendable, Hashable {
    /// The cache was told not to take part.
    case bypass
    /// Requests of the method are always forwarded.
    case method
    /// Nothing is stored for the URL.
    case uriMiss = "uri-miss"
    /// What is stored for the URL was selected by other fields.
    case varyMiss = "vary-miss"
    /// What is stored could not be used, for a reason of its own.
    case miss
    /// A fresh response is stored, but the request does not allow its use.
    case request
    /// What is stored is stale.
    case stale
    /// What is stored is a part of what was requested.
    case partial
}

/// What a cache has done with a request, as the text of a `Cache-Status` member
/// ([RFC 9211](https://www.rfc-editor.org/rfc/rfc9211)).
///
/// ```swift
/// CacheStatus(hitFor: .seconds(376)).text                                        // ServiceEssentials; hit; ttl=376
/// CacheStatus(forwarded: .stale, status: 304, isStored: true).text
/// // ServiceEssentials; fwd=stale; fwd-status=304; stored
/// ```
package struct CacheStatus: Sendable, Hashable, CustomStringConvertible {
    private enum Content: Hashable {
        case hit(timeLeft: Duration)
        case forwarded(
            ForwardReason, status: Int?, isStored: Bool, isCollapsed: Bool, timeLeft: Duration?, NotStoredReason?)
    }

    private let content: Content

    package var description: String { text }

    /// The cache has served a stored response without asking.
    ///
    /// - Parameter timeLeft: How long the response stays fresh, which is negative if it is stale.
    package init(hitFor timeLeft: Duration) { content = .hit(timeLeft: timeLeft) }

    /// The cache has asked the server.
    ///
    /// - Parameters:
    ///   - reason: Why.
    ///   - status: The status of the server's response; `nil` if none came.
    ///   - isStored: Whether the response was stored, or has confirmed a stored one.
    ///   - isCollapsed: Whether the request shared that of another caller.
    ///   - timeLeft: How long the response that was served stays fresh.
    ///   - detail: Why it was not stored.
    package init(
        forwarded reason: ForwardReason, status: Int?, isStored: Bool = false, isCollapsed: Bool = false,
        timeLeft: Duration? = nil, detail: NotStoredReason? = nil
    ) {
        content = .forwarded(
            reason, status: status, isStored: isStored, isCollapsed: isCollapsed, timeLeft: timeLeft, detail)
    }

    /// The text, which is made at each access, because few responses need it.
    package var text: String {
        switch content {
        case .hit(let timeLeft): return "ServiceEssentials; hit" + Self.ttl(timeLeft)
        case .forwarded(let reason, let status, let isStored, let isCollapsed, let timeLeft, let detail):
            var text = "ServiceEssentials; fwd=\(reason.rawValue)"
            if let status { text += "; fwd-status=\(status)" }
            if let timeLeft { text += Self.ttl(timeLeft) }
            if isStored { text += "; stored" }
            if isCollapsed { text += "; collapsed" }
            if let detail { text += "; detail=\(Self.quoted(detail.text))" }
            return text
        }
    }

    /// Whole seconds, rounded down, so that a response that has become stale has less than none. They have at most 15 digits
    /// (RFC 8941, 3.3.1), which a time between two cache moments has never.
    private static func ttl(_ timeLeft: Duration) -> String {
        let (seconds, attoseconds) = timeLeft.components
        return "; ttl=\(attoseconds < 0 ? seconds - 1 : seconds)"
    }

    /// A string of RFC 8941, 3.3.3. It has visible ASCII characters only.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { quoted += "\\" }
            quoted.unicodeScalars.append((0x20...0x7e).contains(byte) ? Unicode.Scalar(byte) : "?")
        }
        return quoted + "\""
    }
}
