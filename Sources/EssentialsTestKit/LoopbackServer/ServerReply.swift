/// The server's reply to a request: a well-formed response or raw steps.
///
/// ```swift
/// ServerReply.response(status: 201, headers: [("Content-Type", "application/json")], body: #"{"id":1}"#)
/// ServerReply.chunked(chunks: [Array("a".utf8), Array("b".utf8)], trailers: [("Digest", "x")])
/// ServerReply.raw([.text("HTTP/1.1 200 OK\r\n\r\n"), .pause(.milliseconds(20)), .reset])
/// ```
public struct ServerReply: Sendable {
    enum Content: Sendable {
        case response(status: Int, headers: [(String, String)], body: [UInt8])
        case chunked(status: Int, headers: [(String, String)], chunks: [[UInt8]], trailers: [(String, String)])
        case raw([ServerStep])
    }

    let content: Content

    /// A response with Content-Length. The connection stays open afterwards, unless the request or
    /// `headers` contain "close".
    ///
    /// A response to HEAD has no body; 1xx, 204 and 304 have neither body nor length. A Content-Length or
    /// Transfer-Encoding in `headers` is sent as given and replaces the server's own.
    public static func response(
        status: Int = 200, headers: [(String, String)] = [], body: [UInt8] = []
    ) -> ServerReply {
        ServerReply(content: .response(status: status, headers: headers, body: body))
    }

    /// A response whose body is the text in UTF-8.
    public static func response(
        status: Int = 200, headers: [(String, String)] = [], body: String
    ) -> ServerReply {
        response(status: status, headers: headers, body: Array(body.utf8))
    }

    /// A response with "Transfer-Encoding: chunked". Empty chunks are left out.
    public static func chunked(
        status: Int = 200, headers: [(String, String)] = [], chunks: [[UInt8]], trailers: [(String, String)] = []
    ) -> ServerReply {
        ServerReply(content: .chunked(status: status, headers: headers, chunks: chunks, trailers: trailers))
    }

    /// Any sequence of steps. Afterwards the connection closes, unless the last step is `keepAlive`.
    public static func raw(_ steps: [ServerStep]) -> ServerReply {
        ServerReply(content: .raw(steps))
    }

    /// Closes the connection in an orderly way without a response.
    public static var close: ServerReply { .raw([.close]) }

    /// Resets the connection without a response.
    public static var reset: ServerReply { .raw([.reset]) }

    /// Keeps the connection open without a response until the server is stopped.
    public static var hang: ServerReply { .raw([.hang]) }
}
