import EssentialsTransport

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A record of HTTP exchanges in the format [HAR 1.2](http://www.softwareishard.com/blog/har-12-spec/), which browsers and
/// other tools read and write.
///
/// ```swift
/// let har = try HAR(contentsOf: "recording.har")
/// for entry in har.entries { print(entry.request.method, entry.request.url, entry.response.status) }
/// ```
///
/// `HARRecorder` of EssentialsObservability makes one from the requests of a service. Members with an underscore are not in the specification, which
/// allows them. Members that this type does not know are not kept when a file is read.
public struct HAR: Sendable, Hashable {
    /// The program that has made the record.
    public var creator: Creator
    /// The exchanges, in the order of their beginnings.
    public var entries: [Entry]
    /// A comment, such as on what is missing; `nil` without one.
    public var comment: String?

    /// Creates a record.
    public init(
        entries: [Entry] = [], comment: String? = nil,
        creator: Creator = .current
    ) { (self.creator, self.entries, self.comment) = (creator, entries, comment) }

    /// A program.
    public struct Creator: Sendable, Hashable, Codable {
        /// Its name.
        public var name: String
        /// Its version.
        public var version: String

        /// This package.
        public static let current = Creator(name: "ServiceEssentials", version: PackageVersion.text)

        /// Creates a description of a program.
        public init(name: String, version: String) { (self.name, self.version) = (name, version) }
    }

    /// One exchange: a request that was sent, and its response or failure. A redirect and a retry are exchanges of their own.
    public struct Entry: Sendable, Hashable {
        /// When it began.
        public var started: Date
        /// The request.
        public var request: Request
        /// The response. Its status is 0 if there was none.
        public var response: Response
        /// How long its parts took.
        public var timings: Timings
        /// The address of the server; `nil` if it is unknown.
        public var serverAddress: String?
        /// The call to which the exchange belongs, which can have several (`_call`); `nil` in records of other programs.
        public var call: String?
        /// The number of the attempt in its call, from 1 (`_attempt`); `nil` for a response that was not sent for, and in
        /// records of other programs.
        public var attempt: Int?
        /// Where a response came from that was not sent for: `cache`, or `joined` for that of an equal request (`_source`).
        public var source: String?
        /// What the response cache has done (`_cacheStatus`); `nil` without one.
        public var cacheStatus: String?
        /// Why there is no response, or why it is a failure (`_failure`).
        public var failure: Failure?
        /// The connection (`_connection`); `nil` without a response.
        public var connection: Connection?
        /// A command line of curl that sends the request again (`_curl`); `nil` if it was not recorded.
        public var command: String?
        /// Whether it is running (`_isRunning`), so that the rest of it is not known yet.
        public var isRunning = false
        /// A comment; `nil` without one.
        public var comment: String?

        /// Creates an exchange.
        public init(started: Date, request: Request, response: Response = Response(), timings: Timings = Timings()) {
            (self.started, self.request, self.response, self.timings) = (started, request, response, timings)
        }

        /// The time in milliseconds, which is the sum of the parts.
        public var time: Double { timings.total }
    }

    /// A name and a value, such as a header field.
    public struct Pair: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value; `…` if it is hidden.
        public var value: String

        /// Creates a pair.
        public init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    /// A request.
    public struct Request: Sendable, Hashable {
        /// The method.
        public var method: String
        /// The whole URL, with `…` in place of what is hidden.
        public var url: String
        /// The HTTP version, such as `HTTP/1.1`; empty if it is unknown.
        public var httpVersion = ""
        /// The header fields.
        public var headers: [Pair] = []
        /// The body; `nil` if there is none, or if it was not recorded.
        public var body: Body?
        /// The size of the body in bytes, as it was sent; -1 if it is unknown.
        public var bodySize = -1

        /// Creates a request.
        public init(method: String, url: String) { (self.method, self.url) = (method, url) }

        /// The items of the query, decoded.
        public var query: [Pair] { Pair.items(ofQueryIn: url) }
    }

    /// A response.
    public struct Response: Sendable, Hashable {
        /// The status; 0 without a response.
        public var status = 0
        /// The text for the status.
        public var statusText = ""
        /// The HTTP version, such as `HTTP/2`; empty if it is unknown.
        public var httpVersion = ""
        /// The header fields.
        public var headers: [Pair] = []
        /// The body, if it was recorded.
        public var body = Body()
        /// The size of the body in bytes after decompression; -1 if it is unknown.
        public var contentSize = -1
        /// The size of the body in bytes, as it was received; -1 if it is unknown.
        public var bodySize = -1
        /// The URL to which a redirect led; empty without one.
        public var redirectURL = ""

        /// Creates a response.
        public init(status: Int = 0) { self.status = status }
    }

    /// A body.
    public struct Body: Sendable, Hashable {
        /// The media type; empty if it is unknown.
        public var mimeType: String
        /// The text, or the bytes in Base64 if ``isBase64`` is true; `nil` if it was not recorded.
        public var text: String?
        /// Whether the text is Base64.
        public var isBase64: Bool
        /// Whether there are, or may be, more bytes (`_truncated`).
        public var isTruncated: Bool

        /// Creates a body.
        public init(mimeType: String = "", text: String? = nil, isBase64: Bool = false, isTruncated: Bool = false) {
            (self.mimeType, self.text, self.isBase64, self.isTruncated) = (mimeType, text, isBase64, isTruncated)
        }

        /// The bytes; `nil` if they were not recorded, or if the Base64 is invalid.
        public var bytes: Data? {
            guard let text else { return nil }
            return isBase64 ? Data(base64Encoded: text) : Data(text.utf8)
        }
    }

    /// How long the parts of an exchange took, in milliseconds; -1 for what did not happen.
    public struct Timings: Sendable, Hashable, Codable {
        /// The queues.
        public var blocked = -1.0
        /// The address of the host.
        public var dns = -1.0
        /// The connection, with the TLS handshake.
        public var connect = -1.0
        /// The TLS handshake, which is a part of ``connect``.
        public var ssl = -1.0
        /// The request.
        public var send = 0.0
        /// The first byte of the response.
        public var wait = 0.0
        /// The response.
        public var receive = 0.0

        /// Creates times of which nothing is known.
        public init() {}

        /// The sum of the parts.
        public var total: Double {
            // In microseconds, so that the sum has no more digits than its parts.
            [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max($1, 0) * 1_000 }.rounded() / 1_000
        }
    }

    /// A connection.
    public struct Connection: Sendable, Hashable, Codable {
        /// The HTTP version, such as `HTTP/2`.
        public var `protocol`: String
        /// The address and port of the server.
        public var address: String
        /// Whether it had served an earlier request.
        public var isReused: Bool
        /// The TLS version; `nil` without TLS.
        public var tlsVersion: String?
        /// OpenSSL's name of the cipher; `nil` without TLS.
        public var tlsCipher: String?
        /// The subjects of the certificates, the server's first; `nil` if they were not recorded.
        public var chain: [String]?
        /// The pin that matched; `nil` without one.
        public var pin: String?

        /// Creates a description of a connection.
        public init(protocol: String, address: String, isReused: Bool) {
            (self.protocol, self.address, self.isReused) = (`protocol`, address, isReused)
        }
    }

    /// A failure.
    public struct Failure: Sendable, Hashable, Codable {
        /// The name of the reason, such as `timedOut`.
        public var reason: String
        /// What went wrong.
        public var message: String
        /// What to do about it; `nil` if nothing is known.
        public var remedy: String?

        /// Creates a failure.
        public init(reason: String, message: String, remedy: String? = nil) {
            (self.reason, self.message, self.remedy) = (reason, message, remedy)
        }
    }
}
