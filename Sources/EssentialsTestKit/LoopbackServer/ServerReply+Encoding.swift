extension ServerReply {
    /// The steps that send this reply. `closes` means that the client asked to close the connection or cannot reuse it.
    func steps(isHead: Bool, closes: Bool) -> [ServerStep] {
        switch content {
        case .raw(let steps):
            return steps
        case .response(let status, let headers, let body):
            let ends = closes || Self.asksToClose(headers)
            var fields = headers
            let isBodiless = status < 200 || status == 204 || status == 304
            if !isBodiless, !Self.hasFraming(headers) { fields.append(("Content-Length", "\(body.count)")) }
            if closes, !Self.asksToClose(headers) { fields.append(("Connection", "close")) }
            let head = Self.head(status: status, headers: fields)
            let sent = isHead || isBodiless ? head : head + body
            return [.send(sent), ends ? .close : .keepAlive]
        case .chunked(let status, let headers, let chunks, let trailers):
            let ends = closes || Self.asksToClose(headers)
            var fields = headers
            if !Self.hasFraming(headers) { fields.append(("Transfer-Encoding", "chunked")) }
            if closes, !Self.asksToClose(headers) { fields.append(("Connection", "close")) }
            var steps: [ServerStep] = [.head(status: status, headers: fields)]
            if !isHead {
                steps += chunks.filter { !$0.isEmpty }.map { .chunk($0) }
                steps.append(.lastChunk(trailers: trailers))
            }
            return steps + [ends ? .close : .keepAlive]
        }
    }

    /// A status line and a header section, including the empty line at the end.
    static func head(status: Int, headers: [(String, String)]) -> [UInt8] {
        Array("HTTP/1.1 \(status) \(reason(status))\r\n\(lines(headers))\r\n".utf8)
    }

    static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        bytes.isEmpty ? [] : Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    static func lastChunk(trailers: [(String, String)]) -> [UInt8] {
        Array("0\r\n\(lines(trailers))\r\n".utf8)
    }

    private static func lines(_ fields: [(String, String)]) -> String {
        fields.map { "\($0.0): \($0.1)\r\n" }.joined()
    }

    private static func hasFraming(_ headers: [(String, String)]) -> Bool {
        headers.contains { ["content-length", "transfer-encoding"].contains($0.0.lowercased()) }
    }

    private static func asksToClose(_ headers: [(String, String)]) -> Bool {
        headers.contains { $0.0.lowercased() == "connection" && $0.1.lowercased().contains("close") }
    }

    private static func reason(_ status: Int) -> String {
        reasons[status] ?? "Status"
    }

    private static let reasons: [Int: String] = [
        100: "Continue", 103: "Early Hints", 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
        409: "Conflict", 410: "Gone", 412: "Precondition Failed", 413: "Content Too Large",
        416: "Range Not Satisfiable", 417: "Expectation Failed", 421: "Misdirected Request",
        422: "Unprocessable Content", 425: "Too Early",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    ]
}
