import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@Suite("Building URLs of definitions")
struct URLBuildingTests {
    private static let pieces = [
        "a", "7", "é", "\u{301}", "👩‍👧", " ", "+", "&", "=", ";", "#", "?", "/", "\\", "%", "%2F", "%2e", ".", "..", ":",
        "//",
        "@", "{", "}", "\"", "'", "<", "\u{0}", "\r\n", "\u{7f}", "\u{202e}", "ß", "中", "~", "-", "_", "*", "|", "^",
    ]

    @Test("Any component, query name and value reaches the server unchanged, below the base path, or is refused")
    func roundTrip() async throws {
        try await withServer { service, server in
            var numbers = SeededNumbers(state: 21)
            var expected: [[String]] = []
            var refused = 0
            for _ in 0..<300 {
                let texts = (0..<4).map { _ in numbers.text(of: Self.pieces, upTo: 6) }
                let request = APIRequest<Data>(
                    .get, in: APIContext(base: .environment),
                    RequestProperties {
                        RequestPath {
                            texts[0]; "\(texts[1])x"
                        }
                        RequestQuery {
                            ("n" + texts[2], texts[3]); (texts[3] + "n", texts[2] + "v")
                        }
                    })
                do throws(RequestFailure) {
                    _ = try await service.data(of: request)
                    expected.append(texts)
                } catch {
                    #expect(error.reason == .invalidRequest)
                    #expect(texts[0].contains(".") || texts[1].contains(".") || (texts[0] + texts[1]).contains("%2e"))
                    refused += 1
                }
            }
            #expect(server.requestCount == expected.count)
            #expect(refused < 60)
            for (request, texts) in zip(server.requests, expected) {
                let segments = request.path.split(separator: "/").dropFirst().map { decoded($0) }
                #expect(request.path.hasPrefix("/v1/"))
                #expect(segments == [texts[0], texts[1] + "x"].filter { !$0.isEmpty })
                #expect(request.queryItems.map(\.name) == ["n" + texts[2], texts[3] + "n"])
                #expect(request.queryItems.map(\.value) == [texts[3], texts[2] + "v"])
            }
        }
    }

    private func decoded(_ text: Substring) -> String {
        // An ampersand is allowed in a segment, and separates the items of a query.
        (try? QueryItems(
            parsing: "x=" + text.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "%26")))?[
                "x"]
            ?? ""
    }

    /// RFC 3986, 5.4: a definition's path is not a reference. It is written text below the base `http://a/b/c/d;p`, and
    /// every special character in it is part of a segment.
    @Test(
        "The references of RFC 3986, section 5.4, as path literals stay below the base, or are refused",
        arguments: [
            ("g:h", "g:h"), ("g", "g"), ("./g", nil), ("g/", "g"), ("/g", "g"), ("//g", "g"), ("?y", "%3Fy"),
            ("g?y", "g%3Fy"), ("#s", "%23s"), ("g#s", "g%23s"), ("g?y#s", "g%3Fy%23s"), (";x", "%3Bx"),
            ("g;x", "g%3Bx"), ("g;x?y#s", "g%3Bx%3Fy%23s"), ("", ""), (".", nil), ("./", nil), ("..", nil),
            ("../", nil), ("../g", nil), ("../..", nil), ("../../", nil), ("../../g", nil), ("../../../g", nil),
            ("../../../../g", nil), ("/./g", nil), ("/../g", nil), ("g.", "g."), (".g", ".g"), ("g..", "g.."),
            ("..g", "..g"), ("./../g", nil), ("./g/.", nil), ("g/./h", nil), ("g/../h", nil), ("g;x=1/./y", nil),
            ("g;x=1/../y", nil), ("g?y/./x", nil), ("g?y/../x", nil), ("g#s/./x", nil), ("g#s/../x", nil),
            ("http:g", "http:g"),
        ] as [(String, String?)])
    func references(_ text: String, _ expected: String?) throws {
        let request = definition(RequestPath(stringLiteral: text), base: "http://a/b/c/d;p")
        guard let expected else {
            let failure = #expect(throws: RequestFailure.self) { try request.url() }
            #expect(failure?.reason == .invalidRequest)
            return
        }
        #expect(try request.url().description == "http://a/b/c/d;p" + (expected.isEmpty ? "" : "/" + expected))
    }

    @Test("The URL of a definition is the URL that is sent")
    func sameURL() async throws {
        try await withServer { service, server in
            let request = APIRequest<Data>(
                .get, "a/\("b/c")", in: APIContext(base: .environment),
                RequestProperties {
                    RequestQuery {
                        ("q", "+ &=;#?é"); ("flag", "")
                    }
                })
            _ = try await service.data(of: request)
            let url = try request.url(under: RequestURL(server.url + "/v1"))
            #expect(server.requests.map(\.target) == [url.target])
            #expect(url.target == "/v1/a/b%2Fc?q=%2B%20%26%3D%3B%23%3F%C3%A9&flag")
        }
    }
}
