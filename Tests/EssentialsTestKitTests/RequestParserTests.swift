import Testing

@testable import EssentialsTestKit

@Suite struct RequestParserTests {
    private func parser() -> RequestParser { RequestParser(headMaximum: 200, bodyMaximum: 100) }

    /// Parses bytes in pieces of a size, and returns the complete requests and the status of the refusal.
    private func parse(_ text: String, pieces: Int = 1000) -> (requests: [ServerRequest], status: Int?) {
        var parser = parser()
        var requests: [ServerRequest] = []
        var rest = Array(text.utf8)[...]
        while true {
            switch parser.next() {
            case .needsBytes:
                if rest.isEmpty { return (requests, nil) }
                parser.append(rest.prefix(pieces))
                rest = rest.dropFirst(pieces)
            case .head: continue
            case .request(let request): requests.append(request)
            case .refused(let status, _): return (requests, status)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 7, 1000]) func `Requests are parsed alike in pieces of any size`(pieces: Int) {
        let text =
            "\r\nPOST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nX-Empty:\r\n\r\nhello"
            + "PUT /d HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT:  v \r\n\r\n"
            + "GET /e HTTP/1.1\r\n\r\n"
        let (requests, status) = parse(text, pieces: pieces)
        #expect(status == nil)
        #expect(requests.map(\.method) == ["POST", "PUT", "GET"])
        #expect(requests.map(\.bodyText) == ["hello", "abc0123456789", ""])
        #expect(requests[0].header("x-empty") == "")
        #expect(requests[1].trailers.map(\.value) == ["v"])
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\nHost: x\r\n\r\n", 400),
        ("GET /\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/2\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nnothing\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na", 400),
        ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 101\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n", 413),
        (
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "40\r\n\(String(repeating: "a", count: 64))\r\n40\r\n", 413
        ),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
        ("GET / HTTP/1.1\r\nA: \(String(repeating: "a", count: 250))\r\n\r\n", 431),
        ("GET /\(String(repeating: "a", count: 250))", 431),
    ])
    func `Invalid requests are refused`(text: String, status: Int) {
        for pieces in [1, 1000] {
            let outcome = parse(text, pieces: pieces)
            #expect(outcome.status == status)
            #expect(outcome.requests.isEmpty)
        }
    }

    @Test func `A 100 is expected only by a client that has not sent its body`() {
        let head = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        for (text, expected) in [(head, true), (head + "a", false)] {
            var parser = parser()
            parser.append(Array(text.utf8))
            guard case .head(_, let expects) = parser.next() else {
                Issue.record("no head")
                continue
            }
            #expect(expects == expected)
        }
    }

    @Test func `The target is split and decoded, and is kept as sent`() {
        let request = ServerRequest(
            method: "GET", target: "/a%20b?q=x%26y&empty&plus=a+b&bad=%zz&q=2", version: "HTTP/1.1", headers: [])
        #expect(request.path == "/a%20b")
        #expect(request.query("q") == "x&y")
        #expect(request.query("empty") == "")
        #expect(request.query("plus") == "a+b")
        #expect(request.query("bad") == "%zz")
        #expect(request.query("none") == nil)
        #expect(request.queryItems.count == 5)
    }
}
