import EssentialsHTTP

/// A request as the server read it.
///
/// ```swift
/// let server = try LoopbackServer { request in
///     request.query("page") == "2" ? .response(body: "second") : .response(status: 404)
/// }
/// ```
public struct ServerRequest: Sendable {
    /// The method as sent.
    public let method: String
    /// The request target as sent, with its query, such as "/users?page=2".
    public let target: String
    /// "HTTP/1.1" or "HTTP/1.0".
    public let version: String
    /// The header fields in order, with names as sent. Bytes that are not valid UTF-8 become U+FFFD.
    public let headers: [(name: String, value: String)]
    /// The decoded body; empty in `ServerOptions.onHead`.
    public internal(set) var body: [UInt8] = []
    /// The trailer fields of a chunked body.
    public internal(set) var trailers: [(name: String, value: String)] = []
    /// The index of the connection, counted from 0 in order of acceptance.
    public internal(set) var connection = 0
    /// The index of the request on its connection, counted from 0.
    public internal(set) var numberOnConnection = 0
    /// The index of the complete request on its server, counted from 0; -1 in `ServerOptions.onHead`.
    public internal(set) var number = -1

    init(method: String, target: String, version: String, headers: [(name: String, value: String)]) {
        self.method = method
        self.target = target
        self.version = version
        self.headers = headers
    }

    /// The first field with this name, compared without case.
    public func header(_ name: String) -> String? {
        allHeaders(name).first
    }

    /// All fields with this name in order, compared without case.
    public func allHeaders(_ name: String) -> [String] {
        let name = name.lowercased()
        return headers.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// The body as UTF-8; invalid bytes become U+FFFD.
    public var bodyText: String { String(decoding: body, as: UTF8.self) }

    /// The path as sent, without the query: the target up to the question mark.
    public var path: String {
        String(target.prefix { $0 != "?" })
    }

    /// The query items in order, percent-decoded; plus signs are kept. An item without "=" has an empty value.
    public var queryItems: [(name: String, value: String)] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        return target[target.index(after: mark)...].split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.percentDecoded(parts[0]), parts.count > 1 ? Self.percentDecoded(parts[1]) : "")
        }
    }

    /// The value of the first query item with this name.
    public func query(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    private static func percentDecoded(_ text: Substring) -> String {
        String(decoding: PercentCoding.decoded(text.utf8, plusIsSpace: false), as: UTF8.self)
    }
}
