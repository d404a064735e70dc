/// An absolute, normalized `http` or `https` URL.
///
/// Parsing is strict where parsers could disagree (host, port, control characters) and lenient where the meaning is
/// clear: spaces and characters outside ASCII in the path and query are percent-encoded, and so are brackets in the path. A
/// fragment is dropped. Dot segments are removed (RFC 3986, section 5.2.4). Existing percent-encoding is kept.
///
/// ```swift
/// let url = try RequestURL("https://example.com/a b?x=1")
/// url.target                    // "/a%20b?x=1"
/// ```
public struct RequestURL: Sendable, Hashable {
    /// Scheme, host and port.
    public let origin: Origin
    /// Path and query as sent in the request line (RFC 9112, section 3.2.1). The target begins with `/`.
    public let target: String

    /// Parses a URL.
    ///
    /// - Throws: `invalidRequest` if the URL has no scheme, a scheme other than `http` and `https`, credentials, a bad
    ///   host or port, a control character, or a `%` that starts no escape.
    public init(_ text: String) throws(RequestFailure) {
        guard let colon = text.firstRange(of: "://") else {
            throw Self.invalid(
                "“\(RequestFailure.shown(text))” is not an absolute URL.", "Write it as https://host/path.")
        }
        guard let scheme = Origin.Scheme(rawValue: text[..<colon.lowerBound].lowercased()) else {
            let name = RequestFailure.shown(text[..<colon.lowerBound])
            throw Self.invalid("The scheme “\(name)” is not supported.", "Use http or https.")
        }
        let rest = text[colon.upperBound...]
        // The search compares bytes, because a delimiter followed by a combining mark is a different `Character`.
        let end = rest.utf8.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        origin = try Self.readOrigin(scheme: scheme, authority: rest[..<end])
        target = try RequestTarget.read(rest[end...])
    }

    /// Creates a URL from an origin and a path that may have a query.
    ///
    /// - Throws: `invalidRequest` if the path contains a control character or an invalid escape.
    public init(origin: Origin, path: String) throws(RequestFailure) {
        self.origin = origin
        target = try RequestTarget.read(path[...])
    }

    /// A URL on a host that cannot exist.
    package static let nowhere = RequestURL(origin: Origin(scheme: .https, host: .nowhere), checkedTarget: "/")

    /// The percent-encoded path.
    public var path: Substring { queryStart.map { target[..<$0] } ?? target[...] }

    /// The percent-encoded query without `?`, or `nil` if there is none.
    public var query: Substring? {
        queryStart.map { target[target.utf8.index(after: $0)...] }
    }

    /// The place of the `?`.
    private var queryStart: String.Index? {
        // The bytes of a native string are contiguous, and searching them takes a fraction of the time.
        let found = target.utf8.withContiguousStorageIfAvailable { $0.firstIndex(of: UInt8(ascii: "?")) }
        guard let found else { return target.utf8.firstIndex(of: UInt8(ascii: "?")) }
        return found.map { target.utf8.index(target.startIndex, offsetBy: $0) }
    }

    /// Returns the URL with one more query item. Name and value are percent-encoded (RFC 3986, section 2.3).
    public func appending(query name: String, value: String) -> RequestURL {
        appending(encodedQuery: RequestTarget.encoded(name) + "=" + RequestTarget.encoded(value))
    }

    /// Returns the URL with a further, percent-encoded part of the query.
    package func appending(encodedQuery item: String) -> RequestURL {
        let separator = queryStart == nil ? "?" : target.hasSuffix("?") || target.hasSuffix("&") ? "" : "&"
        return RequestURL(origin: origin, checkedTarget: target + separator + item)
    }

    /// Returns the URL of a path below this one, or `nil` if the path needs the full parser. `nil` does not mean
    /// that the path is invalid.
    ///
    /// - Parameter path: The path. It may begin with a slash and may have a query.
    package func joining(plainPath path: String) -> RequestURL? {
        RequestTarget.joined(path, under: target).map { RequestURL(origin: origin, checkedTarget: $0) }
    }

    /// Returns the URL of a path of two parts with a query, or `nil` if the path needs the full parser. `nil` does not
    /// mean that the path is invalid.
    ///
    /// - Parameters:
    ///   - first: The first part of the path, which can be empty.
    ///   - second: The other part of the path, which can be empty.
    ///   - endsWithSlash: Whether a slash follows the path.
    ///   - query: A valid, percent-encoded query without its `?`. It can be empty.
    package func joining(
        plainPath first: String, _ second: String, endsWithSlash: Bool, query: String
    ) -> RequestURL? {
        RequestTarget.joined(first, second, endsWithSlash: endsWithSlash, query: query, under: target)
            .map { RequestURL(origin: origin, checkedTarget: $0) }
    }

    /// Percent-encodes everything except the unreserved characters (RFC 3986, section 2.3).
    package static func queryEncoded(_ text: String) -> String { RequestTarget.encoded(text) }

    private init(origin: Origin, checkedTarget: String) {
        self.origin = origin
        target = checkedTarget
    }

    private static func readOrigin(scheme: Origin.Scheme, authority: Substring) throws(RequestFailure) -> Origin {
        guard !authority.utf8.contains(UInt8(ascii: "@")) else {
            throw invalid("The URL contains credentials.", "Remove them and send an Authorization header.")
        }
        var host = authority
        var port: UInt16?
        let afterBracket = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[afterBracket...].lastIndex(of: ":") {
            let digits = authority[authority.index(after: colon)...]
            host = authority[..<colon]
            if !digits.isEmpty {
                guard digits.utf8.allSatisfy(\.isASCIIDigit), let number = UInt16(digits), number > 0
                else {
                    throw invalid("“\(RequestFailure.shown(digits))” is not a port.", "Use a number from 1 to 65535.")
                }
                port = number
            }
        }
        guard !host.contains(":") || host.hasPrefix("[") else {
            throw invalid("“\(RequestFailure.shown(authority))” is not a host.", "Put an IPv6 address in brackets.")
        }
        return Origin(scheme: scheme, host: try HostName(host), port: port)
    }

    private static func invalid(_ message: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.invalidRequest, message, remedy: remedy)
    }
}

extension RequestURL: CustomStringConvertible {
    /// The whole URL including its query. Use ``redacted`` for logs.
    public var description: String { origin.text(before: target[...]) }

    /// The URL with its query hidden.
    public var redacted: String {
        let path = path
        // What is left is the query.
        return origin.text(before: path, path.utf8.count < target.utf8.count ? "?…" : "")
    }
}
