/// An absolute `http` or `https` URL in the form in which it is requested.
///
/// Reading is strict where two readers could differ (host, port, control characters) and lenient where the meaning is
/// clear: a space or a character outside ASCII in path and query is percent-encoded, a fragment is dropped. Dot segments
/// are removed (RFC 3986, 5.2.4); what is percent-encoded already stays as it is.
///
/// ```swift
/// let url = try RequestURL("https://example.com/a b?x=1")
/// url.target                    // "/a%20b?x=1"
/// ```
public struct RequestURL: Sendable, Hashable {
    /// Scheme, host and port.
    public let origin: Origin
    /// Path and query as they stand on the request line (RFC 9112, 3.2.1); begins with `/`.
    public let target: String

    /// Reads a URL.
    ///
    /// - Throws: `invalidRequest` with what is wrong: no scheme, another scheme than `http` and `https`, credentials in
    ///   the URL, a bad host or port, a control character, a `%` that starts no escape.
    public init(_ text: String) throws(RequestFailure) {
        guard let colon = text.firstRange(of: "://") else {
            throw Self.invalid("“\(RequestFailure.shown(text))” is no absolute URL.", "Write it as https://host/path.")
        }
        guard let scheme = Origin.Scheme(rawValue: text[..<colon.lowerBound].lowercased()) else {
            let name = RequestFailure.shown(text[..<colon.lowerBound])
            throw Self.invalid("The scheme “\(name)” is not supported.", "Use http or https.")
        }
        let rest = text[colon.upperBound...]
        // By bytes: a sign with a combining mark behind it is another `Character`, and ends the authority all the same.
        let end = rest.utf8.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        origin = try Self.readOrigin(scheme: scheme, authority: rest[..<end])
        target = try RequestTarget.read(rest[end...])
    }

    /// Makes a URL from an origin and a path that may have a query.
    ///
    /// - Throws: `invalidRequest` when the path holds a control character or a bad escape.
    public init(origin: Origin, path: String) throws(RequestFailure) {
        self.origin = origin
        target = try RequestTarget.read(path[...])
    }

    /// The path alone, percent-encoded.
    public var path: Substring { Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") }) }

    /// The query alone, percent-encoded and without `?`, or nil when there is none.
    public var query: Substring? {
        target.firstIndex(of: "?").map { target[target.index(after: $0)...] }
    }

    /// The same URL with one more query item; name and value are percent-encoded (RFC 3986, 2.3).
    public func appending(query name: String, value: String) -> RequestURL {
        appending(encodedQuery: RequestTarget.encoded(name) + "=" + RequestTarget.encoded(value))
    }

    /// The same URL with more of a query, which is percent-encoded already.
    package func appending(encodedQuery item: String) -> RequestURL {
        let separator = !target.contains("?") ? "?" : target.hasSuffix("?") || target.hasSuffix("&") ? "" : "&"
        return RequestURL(origin: origin, checkedTarget: target + separator + item)
    }

    /// The URL of a path below this one, if joining them is all that it takes; nil where the path has to be looked at
    /// closer, which says nothing of whether it is a good one.
    ///
    /// - Parameter path: May begin with a slash, and may have a query.
    package func joining(plainPath path: String) -> RequestURL? {
        RequestTarget.joined(path, under: target).map { RequestURL(origin: origin, checkedTarget: $0) }
    }

    /// Percent-encodes all but the unreserved characters (RFC 3986, 2.3).
    package static func queryEncoded(_ text: String) -> String { RequestTarget.encoded(text) }

    private init(origin: Origin, checkedTarget: String) {
        self.origin = origin
        target = checkedTarget
    }

    private static func readOrigin(scheme: Origin.Scheme, authority: Substring) throws(RequestFailure) -> Origin {
        guard !authority.utf8.contains(UInt8(ascii: "@")) else {
            throw invalid("The URL holds credentials.", "Take them out and send an Authorization header.")
        }
        var host = authority
        var port: UInt16?
        let afterBracket = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[afterBracket...].lastIndex(of: ":") {
            let digits = authority[authority.index(after: colon)...]
            host = authority[..<colon]
            if !digits.isEmpty {
                guard digits.utf8.allSatisfy(\.isASCIIDigit), let number = UInt16(digits), number > 0
                else { throw invalid("“\(RequestFailure.shown(digits))” is no port.", "Use a number from 1 to 65535.") }
                port = number
            }
        }
        guard !host.contains(":") || host.hasPrefix("[") else {
            throw invalid("“\(RequestFailure.shown(authority))” is no host.", "Put an IPv6 address in brackets.")
        }
        return Origin(scheme: scheme, host: try HostName(host), port: port)
    }

    private static func invalid(_ message: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.invalidRequest, message, remedy: remedy)
    }
}

extension RequestURL: CustomStringConvertible {
    /// The whole URL, query included. For logs use ``redacted``.
    public var description: String { origin.description + target }

    /// The URL with its query hidden.
    public var redacted: String { origin.description + path + (query == nil ? "" : "?…") }
}
