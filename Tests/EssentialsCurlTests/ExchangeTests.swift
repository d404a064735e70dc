import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("An exchange")
struct ExchangeTests {
    @Test("A response has its status, its fields in their order, and its body")
    func wholeResponse() async throws {
        let server = try LoopbackServer { _ in
            .response(
                status: 201, headers: [("X-A", "1"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")], body: "hello")
        }
        let transport = try CurlTransport()
        let response = try await transport.send(request(server))
        #expect(response.status.code == 201)
        #expect(response.text == "hello")
        #expect(response.headerFields[values: .setCookie] == ["a=1", "b=2"])
        #expect(response.connection.protocolName == "HTTP/1.1")
        #expect(response.connection.peerAddress == "127.0.0.1")
        #expect(response.connection.peerPort == server.port)
        #expect(response.metrics.sendings == 1)
        #expect(try #require(response.metrics.finished) > .zero)
    }

    @Test(
        "A request is sent with its method", arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func methods(name: String) async throws {
        let server = try LoopbackServer { .response(body: $0.method) }
        let transport = try CurlTransport()
        let method = try #require(HTTPRequest.Method(rawValue: name))
        #expect(try await transport.send(request(method, server)).text == name)
        #expect(try await transport.send(request(method, server, body: .bytes(Data("x".utf8)))).text == name)
        #expect(server.requests.map(\.bodyText) == ["", "x"])
    }

    @Test(
        "A request without fields is sent with only libcurl's own fields",
        arguments: [HTTPRequest.Method.get, .head, .delete])
    func noLines(method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer { .response(body: $0.method) }
        var configuration = CurlTransport.Configuration()
        configuration.userAgent = nil
        let transport = try CurlTransport(configuration: configuration)
        var plain = try request(method, server)
        plain.options.decompresses = false
        #expect(try await transport.send(plain).status == .ok)
        plain.headerFields[.contentLength] = "0"
        #expect(try await transport.send(plain).status == .ok)
        plain.headerFields[.accept] = "text/plain"
        #expect(try await transport.send(plain).status == .ok)
        plain.headerFields = [:]
        #expect(try await transport.send(plain).status == .ok)
        #expect(server.requests.map { $0.header("Accept") } == ["*/*", "*/*", "text/plain", "*/*"])
        #expect(server.requests.allSatisfy { $0.header("User-Agent") == nil && $0.header("Accept-Encoding") == nil })
        await transport.shutdown()
    }

    @Test("A response to HEAD has fields and no body")
    func head() async throws {
        let server = try LoopbackServer { _ in .response(headers: [("X-A", "1")], body: "hello") }
        let transport = try CurlTransport()
        let response = try await transport.send(request(.head, server))
        #expect(response.body.data?.isEmpty == true)
        #expect(response.headerFields[.contentLength] == "5")
        #expect(try await transport.send(request(server)).text == "hello")
    }

    @Test("A POST without a body has length zero and no media type")
    func emptyPost() async throws {
        let server = try LoopbackServer { _ in .response() }
        let transport = try CurlTransport()
        _ = try await transport.send(request(.post, server))
        _ = try await transport.send(request(.post, server, body: .bytes(Data("raw".utf8))))
        #expect(server.requests.map { $0.header("Content-Length") } == ["0", "3"])
        #expect(server.requests.allSatisfy { $0.header("Content-Type") == nil && $0.header("Expect") == nil })
    }

    @Test("Fields are sent as given, including empty ones, with the default user agent unless there is one")
    func fields() async throws {
        let server = try LoopbackServer { _ in .response() }
        let transport = try CurlTransport()
        var first = try request(server)
        first.headerFields.append(try HTTPField.checked(name: "X-List", value: "a"))
        first.headerFields.append(try HTTPField.checked(name: "X-List", value: "b"))
        first.headerFields.append(try HTTPField.checked(name: "X-Empty", value: ""))
        _ = try await transport.send(first)
        var second = try request(server)
        second.headerFields[.userAgent] = "mine"
        _ = try await transport.send(second)
        #expect(server.requests[0].allHeaders("X-List") == ["a", "b"])
        #expect(server.requests[0].header("X-Empty") == "")
        #expect(server.requests[0].header("User-Agent") == "ServiceEssentials")
        #expect(server.requests[1].allHeaders("User-Agent") == ["mine"])
        #expect(server.requests[1].header("X-List") == nil)
    }

    @Test(
        "The request line has exactly the target of the URL",
        arguments: [
            "/", "/a%2fb%2Fc", "/a%20b?x=%7e&y=1", "/?", "/a?b?c", "/;p=1,2", "/%E2%82%AC?q=[1]",
        ])
    func target(path: String) async throws {
        let server = try LoopbackServer { .response(body: $0.target) }
        let transport = try CurlTransport()
        #expect(try await transport.send(request(server, path)).text == path)
    }

    @Test(
        "Compressed bodies are decoded",
        arguments: [
            ("gzip", "H4sIAAAAAAACA0vOzy0oSi0uTk1RKEmtKFFIpjMfAKL5v2aAAAAA"),
            ("deflate", "eJxLzs8tKEotLk5NUShJrShRSKYzHwCijDHR"), ("br", "G38A+B2pU5+7cUk3BlJteFX2Vp2kVgPE43YqCg=="),
            ("zstd", "KLUv/QRovQAAgGNvbXByZXNzZWQgdGV4dCABANqkcwmorJOC"),
        ])
    func compression(encoding: String, base64: String) async throws {
        let packed = [UInt8](try #require(Data(base64Encoded: base64)))
        let server = try LoopbackServer { _ in .response(headers: [("Content-Encoding", encoding)], body: packed) }
        let transport = try CurlTransport()
        let response = try await transport.send(request(server))
        #expect(response.text == String(repeating: "compressed text ", count: 8))
        let asked = try #require(server.requests[0].header("Accept-Encoding"))
        #expect(asked.contains(encoding))
        var raw = try request(server)
        raw.options.decompresses = false
        #expect(try await transport.send(raw).body.data == Data(packed))
        #expect(server.requests[1].header("Accept-Encoding") == nil)
    }

    @Test("Chunked bodies arrive complete, with their trailers")
    func trailers() async throws {
        let server = try LoopbackServer { _ in
            .chunked(chunks: [Array("one ".utf8), Array("two".utf8)], trailers: [("X-Sum", "7")])
        }
        let transport = try CurlTransport()
        let response = try await transport.send(request(server))
        #expect(response.text == "one two")
        #expect(response.trailerFields[try #require(HTTPField.Name("X-Sum"))] == "7")
    }

    @Test("Informational responses do not end an exchange")
    func informational() async throws {
        let server = try LoopbackServer { _ in
            .raw([
                .text("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
                .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .keepAlive,
            ])
        }
        let transport = try CurlTransport()
        let response = try await transport.send(request(server))
        #expect(response.status == .ok)
        #expect(response.headerFields.count == 1)
        #expect(response.text == "ok")
    }

    @Test("Several megabytes arrive unchanged in both directions")
    func largeBodies() async throws {
        let server = try LoopbackServer { .response(body: $0.body.reversed()) }
        let transport = try CurlTransport()
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let response = try await transport.send(request(.post, server, body: .bytes(Data(bytes))))
        #expect(response.body.data == Data(bytes.reversed()))
    }

    @Test("A connection is reused, and the response says so")
    func reuse() async throws {
        let server = try LoopbackServer { _ in .response(body: "x") }
        let transport = try CurlTransport()
        let first = try await transport.send(request(server))
        let second = try await transport.send(request(server))
        #expect(!first.connection.isReused && second.connection.isReused)
        #expect(first.metrics.connected != nil && second.metrics.connected == nil)
        #expect(server.connectionCount == 1)
    }

    @Test("A request goes to the address of its override")
    func addressOverride() async throws {
        let server = try LoopbackServer { .response(body: $0.header("Host") ?? "") }
        var configuration = CurlTransport.Configuration()
        configuration.addressOverrides = [
            try .init(host: HostName("api.example"), port: server.port, address: HostName("127.0.0.1"))
        ]
        let transport = try CurlTransport(configuration: configuration)
        let url = try RequestURL("http://API.example.:\(server.port)/")
        #expect(try await transport.send(TransportRequest(.get, url)).text == "api.example:\(server.port)")
    }

    @Test("Many concurrent tasks receive their own responses")
    func concurrency() async throws {
        let server = try LoopbackServer { .response(body: $0.target) }
        let transport = try CurlTransport()
        let wrong = await withTaskGroup(of: Int.self) { group in
            for task in 0..<32 {
                group.addTask {
                    var wrong = 0
                    for number in 0..<50 {
                        let path = "/\(task)/\(number)"
                        let response = try? await transport.send(request(server, path))
                        if response?.text != path { wrong += 1 }
                    }
                    return wrong
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
        #expect(server.requestCount == 1600)
    }
}
