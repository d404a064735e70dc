/// Valid HTTP/1.1 responses, the start of all mutations.
enum ResponseCorpus {
    static let responses: [[UInt8]] = texts.map { Array($0.utf8) } + packed

    private static func response(_ fields: [String], _ body: String = "", status: String = "200 OK") -> String {
        let length = "Content-Length: \(body.utf8.count)"
        return "HTTP/1.1 \(status)\r\n" + (fields + [length]).map { $0 + "\r\n" }.joined() + "\r\n" + body
    }

    private static let json = #"{"id":1,"name":"a\u00e9","list":[1,2.5e3,null,true,{"a":[]}],"text":"\ud83d\ude00"}"#
    private static let deep = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)
    private static let events =
        "id: 7\nevent: news\ndata: one\ndata: two\n\n: comment\nretry: 3000\n\ndata: last\r\n\r\n"

    private static let texts: [String] = [
        response(["Content-Type: application/json"], json),
        response(["Content-Type: application/json; charset=utf-16"], json),
        response(["Content-Type: application/problem+json"], #"{"title":"no"}"#, status: "404 Not Found"),
        response(["Content-Type: application/json"], deep),
        response(["Content-Type: text/plain; charset=\"iso-8859-2\""], "caf\u{e9}"),
        response(["Content-Type: text/event-stream"], events),
        response(["Content-Type: application/x-www-form-urlencoded"], "a=1&b%5b%5d=2&c=%e4&=&d"),
        response(
            ["ETag: \"1\"", "Accept-Ranges: bytes", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], "0123456789"),
        response(["Content-Range: bytes 2-4/10", "ETag: \"1\""], "234", status: "206 Partial Content"),
        response(["Content-Range: bytes */10"], "", status: "416 Range Not Satisfiable"),
        response(["Retry-After: 120"], "busy", status: "503 Service Unavailable"),
        response(["Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"], "busy", status: "429 Too Many Requests"),
        response(["Location: there?a=b#c"], "moved", status: "302 Found"),
        response(["Location: //127.0.0.1/x", "Location: ../y"], "moved", status: "307 Temporary Redirect"),
        response(
            [#"WWW-Authenticate: Digest realm="r", nonce="n", qop="auth, auth-int", algorithm=SHA-256, opaque="o\"x""#],
            "no", status: "401 Unauthorized"),
        response(
            [#"WWW-Authenticate: Basic realm="r", Digest realm=r, nonce=n, stale=true"#, "WWW-Authenticate: Bearer"],
            "no", status: "401 Unauthorized"),
        response([
            "Set-Cookie: a=b; Path=/; Expires=Sun, 06 Nov 1994 08:49:37 GMT", "Vary: *", "Link: </2>; rel=\"next\"",
        ]),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n5;ext=\"v\"\r\nhello\r\n1\r\n!\r\n0\r\nX-T: 1\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
            + response([], "late"),
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end",
        "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>old</p>",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n",
    ]

    /// A short text in each content coding, encoded by hand.
    private static let packed: [[UInt8]] = [
        // A gzip member with one stored block.
        coded(
            "gzip",
            [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 2, 0, 0xfd, 0xff, 0x6f, 0x6b, 0x47, 0xdd, 0xdc, 0x79, 2, 0, 0, 0]),
        coded("deflate", [0x78, 0x9c, 1, 2, 0, 0xfd, 0xff, 0x6f, 0x6b, 0x01, 0x4a, 0x00, 0xdb]),
        // A brotli stream of one uncompressed meta-block, and a zstd frame of such a block.
        coded("br", [0x0b, 0, 0x80, 0x6f, 0x6b, 3]),
        coded("zstd", [0x28, 0xb5, 0x2f, 0xfd, 0x20, 2, 0x11, 0, 0, 0x6f, 0x6b]),
    ]

    private static func coded(_ coding: String, _ body: [UInt8]) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
    }
}
