import EssentialsTransport
import FoundationEssentials
import Testing

@Suite struct TransportRequestTests {
    @Test("A request is by default a GET without fields and body, with the default options")
    func defaults() throws {
        let request = TransportRequest(.get, try RequestURL("https://example.com/"))
        #expect(request.method == .get)
        #expect(request.headerFields.isEmpty)
        #expect(request.body.isReplayable)
        #expect(request.options == TransportOptions())
        #expect(request.options.delivery == .collected(upTo: 64 << 20))
    }

    @Test(
        "An HTTPRequest is converted to a URL and back",
        arguments: [
            ("https", "example.com", "/a?b=1", "https://example.com/a?b=1"),
            ("http", "example.com:8080", "/", "http://example.com:8080/"),
            ("https", "[::1]:8443", "/x", "https://[::1]:8443/x"),
        ])
    func roundTrip(scheme: String, authority: String, path: String, url: String) throws {
        let head = HTTPRequest(
            method: .put, scheme: scheme, authority: authority, path: path, headerFields: [.accept: "text/plain"])
        let request = try TransportRequest(head, body: .bytes(Data("x".utf8)))
        #expect(request.url.description == url)
        #expect(request.method == .put)
        #expect(request.headerFields == [.accept: "text/plain"])
        #expect(request.head == head)
    }

    @Test(
        "Equivalent forms of an HTTPRequest are normalized",
        arguments: [
            ("HTTPS", "Example.COM:443", String?.none, "https://example.com/"),
            ("https", "example.com", "", "https://example.com/"),
            ("https", "example.com", "/a/../b c", "https://example.com/b%20c"),
        ])
    func normalised(scheme: String, authority: String, path: String?, url: String) throws {
        let head = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
        #expect(try TransportRequest(head).url.description == url)
    }

    @Test("A request without scheme or authority is refused")
    func missing() throws {
        for (scheme, authority) in [(nil, "example.com"), ("https", nil), (nil, nil)] as [(String?, String?)] {
            let head = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/")
            let failure = try #require(throws: RequestFailure.self) { try TransportRequest(head) }
            #expect(failure.reason == .invalidRequest)
        }
    }

    @Test(
        "An HTTPRequest with an invalid scheme, authority or path is refused",
        arguments: [
            ("ftp", "example.com", "/"), ("https", "", "/"), ("https", "user:pw@example.com", "/"),
            ("https", "example.com:0", "/"), ("https", "a b", "/"), ("https", "example.com", "/%"),
            ("https", "example.com", "*"),
        ])
    func wrong(scheme: String, authority: String, path: String) throws {
        let head = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
        let failure = try #require(throws: RequestFailure.self) { try TransportRequest(head) }
        #expect(failure.reason == .invalidRequest)
    }

    @Test(
        "A scheme that contains more than a scheme is refused",
        arguments: [
            "https://evil.example", "https://evil.example/?", "https://evil.example/#", "http://evil.example:80/x?y=",
            "https:", "https:/", "https://", "", "://", "https\u{301}", "http\u{17f}", "wss", "h ttps",
        ])
    func scheme(scheme: String) throws {
        let head = HTTPRequest(method: .get, scheme: scheme, authority: "good.example", path: "/")
        let failure = try #require(throws: RequestFailure.self) { try TransportRequest(head) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.remedy?.hasPrefix("Use http or https") == true)
    }

    @Test(
        "Authority and path cannot be moved into each other",
        arguments: [
            ("example.com", ".evil.example/x"), ("example.com", ":8443/x"), ("example.com", "@evil.example/x"),
            ("evil.example/", "/x"), ("evil.example/y", "/x"), ("evil.example?", "/x"), ("evil.example#", "/x"),
            ("example.com", "x"), ("example.com:", "80/x"),
        ])
    func borders(authority: String, path: String) throws {
        let head = HTTPRequest(method: .get, scheme: "https", authority: authority, path: path)
        let failure = try #require(throws: RequestFailure.self) { try TransportRequest(head) }
        #expect(failure.reason == .invalidRequest)
    }

    @Test("A copy and its original do not share changes")
    func copies() throws {
        let request = TransportRequest(.get, try RequestURL("https://example.com/"), headerFields: [.accept: "*/*"])
        var copy = request
        copy.headerFields[.accept] = "text/plain"
        copy.options.totalTimeout = .seconds(1)
        copy.method = .post
        #expect(request.headerFields == [.accept: "*/*"])
        #expect(request.options == TransportOptions())
        #expect(request.method == .get)
        #expect(copy.headerFields == [.accept: "text/plain"])
        #expect(copy.options.totalTimeout == .seconds(1))
        #expect(copy.method == .post)
        #expect(copy.url == request.url)
    }

    @Test("Options are equal if all their properties are equal")
    func options() {
        let standard = TransportOptions()
        var (one, other) = (standard, standard)
        one.idleTimeout = .seconds(1)
        #expect(one != standard)
        #expect(standard.idleTimeout == .seconds(60))
        other.idleTimeout = .seconds(1)
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        one.idleTimeout = .seconds(60)
        #expect(one == standard)
        #expect(one.hashValue == standard.hashValue)
    }

    @Test("A debugger shows the properties of options and policies")
    func shown() {
        var options = TransportOptions()
        options.totalTimeout = .milliseconds(1234)
        options.trust = .system
        var text = ""
        dump(options, to: &text)
        #expect(text.contains("totalTimeout"))
        #expect(text.contains("1.234 seconds"))
        #expect(text.contains("minimumTLS: EssentialsTransport.TLSVersion.tls12"))
        for name in ["connectTimeout", "idleTimeout", "firstByteTimeout", "queueTimeout", "maximumHeadSize"] {
            #expect(text.contains("- \(name)") || text.contains("▿ \(name)"), "\(name) is not shown")
        }
    }

    @Test("Each timeout keeps its value and is rounded up to milliseconds")
    func times() {
        var options = TransportOptions()
        options.connectTimeout = .microseconds(1)
        options.idleTimeout = .milliseconds(2)
        options.firstByteTimeout = .microseconds(2001)
        options.totalTimeout = .seconds(4)
        options.queueTimeout = nil
        #expect(options.connectTimeout == .microseconds(1))
        #expect(options.idleTimeout == .milliseconds(2))
        #expect(options.firstByteTimeout == .microseconds(2001))
        #expect(options.totalTimeout == .seconds(4))
        #expect(options.queueTimeout == nil)
        let times = options.times
        #expect(times.connect == 1)
        #expect(times.idle == 2)
        #expect(times.firstByte == 3)
        #expect(times.total == 4000)
        #expect(times.queue == nil)
        options.connectTimeout = .seconds(-1)
        #expect(options.connectTimeout == .seconds(-1))
        #expect(options.times.connect == 0)
        options.totalTimeout = .seconds(Int64.max)
        #expect(options.times.total == 100_000_000_000_000)
    }
}
