import CEssentials
import EssentialsHTTP
import FoundationEssentials
import Testing

@testable import EssentialsCurl

/// The layout of a request's texts for libcurl.
@Suite struct RequestTextsTests {
    private struct Layout: Equatable {
        var origin = ""
        var host = ""
        var target = ""
        var method = ""
        var headers: [String] = []
        var proxy: [String?] = []
    }

    private func layout(
        _ request: TransportRequest, proxy: Proxy? = nil, userAgent: String? = nil,
        bodyKind: ce_body_kind = CE_BODY_NONE
    ) throws -> Layout {
        let texts = try RequestTexts(
            request, request.url.origin, method: request.method.rawValue, target: request.url.target, proxy: proxy,
            userAgent: userAgent, bodyKind: bodyKind)
        return texts.withTexts { lent in
            var layout = Layout()
            layout.origin = lent.origin.map { String(cString: $0) } ?? "-"
            layout.host = lent.host.map { String(cString: $0) } ?? "-"
            layout.target = lent.target.map { String(cString: $0) } ?? "-"
            layout.method = lent.method.map { String(cString: $0) } ?? "-"
            let block = UnsafeRawBufferPointer(start: lent.headers, count: lent.headers_size)
            layout.headers = block.split(separator: 0, omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
            layout.proxy = [lent.proxy, lent.proxy_host, lent.proxy_user, lent.proxy_password].map {
                $0.map { String(cString: $0) }
            }
            return layout
        }
    }

    private func request(_ url: String, _ fields: HTTPFields = [:]) throws -> TransportRequest {
        var request = TransportRequest(.get, try RequestURL(url), headerFields: fields)
        request.options.decompresses = false
        return request
    }

    @Test("A field with a control character is refused", arguments: ["a\u{1}b", "\u{1f}", "\u{7f}"])
    func controlCharacters(value: String) throws {
        let fields = HTTPFields([HTTPField(name: .eTag, lenientValue: Array(value.utf8))])
        let failure = #expect(throws: RequestFailure.self) { try layout(request("http://a/", fields)) }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.message == "The value of the header ETag has a control character.")
        #expect(try layout(request("http://a/", [.eTag: "a\tb"])).headers.contains("ETag: a\tb"))
    }

    @Test(
        "Origins are written with their ports, and IPv6 addresses in brackets",
        arguments: [
            ("http://example.com/", "http://example.com:80"), ("https://example.com/", "https://example.com:443"),
            ("http://a:1/", "http://a:1"), ("http://a:65535/", "http://a:65535"), ("http://a:10000/", "http://a:10000"),
            ("http://a:9999/", "http://a:9999"), ("http://a:10/", "http://a:10"),
            ("http://[::1]:8080/", "http://[::1]:8080"), ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ])
    func origins(url: String, origin: String) throws {
        #expect(try layout(request(url)).origin == origin)
    }

    @Test("Host, target and method are separate texts")
    func parts() throws {
        var patch = try request("http://[2001:db8::1]/a/b?c=d")
        patch.method = .patch
        let layout = try layout(patch)
        #expect(layout.host == "2001:db8::1")
        #expect(layout.target == "/a/b?c=d")
        #expect(layout.method == "PATCH")
        #expect(layout.proxy == [nil, nil, nil, nil])
    }

    @Test("Fields keep their order, a field without a value ends in a semicolon, and the transport's own are left out")
    func fields() throws {
        let name = try #require(HTTPField.Name("X-Empty"))
        let long = String(repeating: "ü", count: 5_000)
        let latin = try #require(HTTPField.Name("X-Long"))
        let host = try #require(HTTPField.Name("Host"))
        var fields: HTTPFields = [.accept: "text/plain", .contentLength: "5"]
        fields[name] = ""
        fields[latin] = long
        fields[host] = "example.com"
        let layout = try layout(request("http://example.com/", fields), userAgent: "Agent/1")
        #expect(layout.headers == ["Accept: text/plain", "X-Empty;", "X-Long: \(long)", "User-Agent: Agent/1", "", ""])
    }

    @Test("A body removes libcurl's own fields unless the caller sets them")
    func bodyFields() throws {
        let own = try request("http://a/", [.contentType: "text/plain", .userAgent: "Mine"])
        #expect(
            try layout(own, userAgent: "Agent/1", bodyKind: CE_BODY_BYTES).headers
                == ["Content-Type: text/plain", "User-Agent: Mine", "Expect:", "", ""])
        var waiting = try request("http://a/")
        waiting.options.continueWait = .seconds(1)
        #expect(
            try layout(waiting, bodyKind: CE_BODY_BYTES).headers
                == ["Content-Type:", "Expect: 100-continue", "", ""])
        #expect(try layout(waiting, bodyKind: CE_BODY_STREAM).headers == ["Expect: 100-continue", "", ""])
    }

    @Test("A proxy has texts for its URL, and for credentials and TLS if it needs them")
    func proxies() throws {
        let plain = try request("http://a/")
        #expect(
            try layout(plain, proxy: Proxy("http://proxy:3128")).proxy == ["http://proxy:3128", nil, nil, nil])
        #expect(
            try layout(plain, proxy: Proxy(.https, host: HostName("proxy"), port: 3128, user: "me", password: "secret"))
                .proxy
                == ["https://proxy:3128", "proxy", "me", "secret"])
    }

    @Test("A field that was set by an invalid name is never sent")
    func refusedField() throws {
        var request = TransportRequest(.get, try RequestURL("http://a/"))
        request.headerFields.refuse(RequestFailure(.invalidRequest, "no token"))
        let failure = #expect(throws: RequestFailure.self) { try layout(request) }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.message == "no token")
    }

    @Test("All codings that libcurl decodes are accepted, once, unless the caller names codings or disables decoding")
    func encodings() throws {
        let names = String(cString: ce_accepted_encodings(false))
        #expect(names.split(separator: ", ").contains("gzip"))
        #expect(!names.hasPrefix(","))
        var request = TransportRequest(.get, try RequestURL("http://a/"))
        #expect(try layout(request).headers == ["Accept-Encoding: \(names)", "", ""])
        request.headerFields[.acceptEncoding] = "br;q=0.5"
        #expect(try layout(request).headers == ["Accept-Encoding: br;q=0.5", "", ""])
        request.options.delivery = .streamed
        #expect(try layout(request).headers == ["Accept-Encoding: br;q=0.5", "", ""])
        request.headerFields = [:]
        let streamed = String(cString: ce_accepted_encodings(true))
        #expect(try layout(request).headers == ["Accept-Encoding: \(streamed)", "", ""])
        request.options.decompresses = false
        #expect(try layout(request).headers == ["", ""])
    }
}
