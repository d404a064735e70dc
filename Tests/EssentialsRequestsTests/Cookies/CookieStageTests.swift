import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Cookies of a service", .timeLimit(.minutes(5))) struct CookieStageTests {
    /// A service over a loopback server, with a jar.
    private func withService(
        retry: RetryPolicy = .never, jar: CookieJar = CookieJar(),
        serving handler: @escaping @Sendable (ServerRequest) -> ServerReply,
        _ body: (HTTPDataRequestService, LoopbackServer) async throws -> Void
    ) async throws {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cookies = jar
        configuration.retry = retry
        configuration.retry.backoff = .exponential(base: .milliseconds(1), cap: .milliseconds(1))
        try await withLoopbackService(configuration, serving: handler, body)
    }

    private func cookies(_ server: LoopbackServer) -> [String?] { server.requests.map { $0.header("Cookie") } }

    @Test("A cookie of one response is sent with the next request")
    func nextRequest() async throws {
        try await withService(serving: { _ in .response(headers: [("Set-Cookie", "a=1; Path=/")]) }) {
            service, server in
            for _ in 0..<2 { _ = try await service.send(DataRequest(.get, "a")) }
            #expect(cookies(server) == [nil, "a=1"])
        }
    }

    @Test("A cookie of a redirect is sent with the next hop, and that of another path is not")
    func redirect() async throws {
        try await withService(serving: { request in
            request.path == "/a"
                ? .response(
                    status: 302,
                    headers: [("Location", "/b"), ("Set-Cookie", "hop=1; Path=/"), ("Set-Cookie", "x=1; Path=/x")])
                : .response()
        }) { service, server in
            _ = try await service.send(DataRequest(.get, "a"))
            #expect(cookies(server) == [nil, "hop=1"])
        }
    }

    @Test("A cookie of a challenge is sent with the credentials of Digest")
    func digest() async throws {
        let challenge = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"
        try await withService(serving: { request in
            request.header("Authorization") == nil
                ? .response(status: 401, headers: [("WWW-Authenticate", challenge), ("Set-Cookie", "session=1")])
                : .response()
        }) { service, server in
            service.setAuthorization(
                try .digest(user: "ada", password: "secret", minimum: nil, hash: .openSSL))
            _ = try await service.send(DataRequest(.get, "a"))
            #expect(cookies(server) == [nil, "session=1"])
        }
    }

    @Test("Cookies of a failed attempt and of a 401 are kept, and sent once with the next attempt")
    func failedAttempts() async throws {
        try await withService(
            retry: .standard,
            serving: { request in
                request.number == 0
                    ? .response(status: 503, headers: [("Set-Cookie", "node=7")])
                    : .response(status: 401, headers: [("Set-Cookie", "login=0")])
            }
        ) { service, server in
            for _ in 0..<2 { _ = try? await service.send(DataRequest(.get, "a")) }
            #expect(cookies(server) == [nil, "node=7", "node=7; login=0"])
        }
    }

    @Test("A request's own cookies win over those of the jar with the same name")
    func ownCookies() async throws {
        try await withService(serving: { _ in
            .response(headers: [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Path=/")])
        }) { service, server in
            _ = try await service.send(DataRequest(.get, "a"))
            _ = try await service.send(DataRequest(.get, "a", headerFields: [.cookie: "a=own"]))
            #expect(cookies(server) == [nil, "a=own; b=2"])
        }
    }

    @Test("A request without cookies sends and stores none")
    func withoutCookies() async throws {
        let jar = CookieJar()
        try await withService(jar: jar, serving: { _ in .response(headers: [("Set-Cookie", "a=1")]) }) {
            service, server in
            var request = DataRequest(.get, "a")
            request.cookies = .off
            _ = try await service.send(request)
            #expect(jar.count == 0)
            _ = try await service.send(DataRequest(.get, "a"))
            _ = try await service.send(request)
            #expect(cookies(server) == [nil, nil, nil])
        }
    }

    @Test("A redirect to another origin receives only the cookies of that origin")
    func otherOrigin() async throws {
        let other = try LoopbackServer { _ in .response() }
        let jar = CookieJar()
        jar.store("own=1; Path=/", from: try RequestURL("http://localhost:\(other.port)/"))
        try await withService(
            jar: jar,
            serving: { _ in
                .response(
                    status: 302,
                    headers: [("Location", "http://localhost:\(other.port)/b"), ("Set-Cookie", "first=1; Path=/")])
            }
        ) { service, _ in
            _ = try await service.send(DataRequest(.get, "a", headerFields: [.cookie: "mine=1"]))
            #expect(cookies(other) == ["own=1"])
        }
        other.stop()
    }

    @Test("Clearing the authorization removes the cookies that the host sees, and no others")
    func logout() async throws {
        let jar = CookieJar()
        jar.store("far=1", from: try RequestURL("https://elsewhere.example/"))
        try await withService(jar: jar, serving: { _ in .response(headers: [("Set-Cookie", "a=1; Path=/")]) }) {
            service, server in
            _ = try await service.send(DataRequest(.get, "a"))
            await service.clearAuthorization()
            #expect(jar.count == 1)
            _ = try await service.send(DataRequest(.get, "a"))
            #expect(cookies(server) == [nil, nil])
        }
    }

    @Test("Two services share a jar, and a service for any server does not use it")
    func sharedJar() async throws {
        let jar = CookieJar()
        try await withService(jar: jar, serving: { _ in .response(headers: [("Set-Cookie", "a=1; Path=/")]) }) {
            service, server in
            _ = try await service.send(DataRequest(.get, "a"))
            var configuration = HTTPDataRequestService.Configuration()
            configuration.cookies = jar
            let transport = try CurlTransport()
            let second = HTTPDataRequestService(
                environment: try ConstantEnvironment(server.url), transport: transport, configuration: configuration)
            _ = try await second.send(DataRequest(.get, "b"))
            let open = HTTPDataRequestService.forAnyServer(over: transport, configuration: configuration)
            _ = try await open.get(server.url + "/c")
            #expect(cookies(server) == [nil, "a=1", nil])
            await second.shutdown()
        }
    }

    @Test("A shutdown saves the jar to its file, and a later service reads it")
    func file() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let handler: @Sendable (ServerRequest) -> ServerReply = { _ in
            .response(headers: [("Set-Cookie", "kept=1; Path=/; Max-Age=1000"), ("Set-Cookie", "session=1; Path=/")])
        }
        try await withService(jar: CookieJar(file: CookieFile(path)), serving: handler) { service, _ in
            _ = try await service.send(DataRequest(.get, "a"))
        }
        try await withService(jar: CookieJar(file: CookieFile(path)), serving: handler) { service, server in
            _ = try await service.send(DataRequest(.get, "a"))
            #expect(cookies(server) == ["kept=1"])
        }
    }

    @Test("A cookie is part of what an interceptor signs")
    func signed() async throws {
        struct Signer: RequestInterceptor {
            func sign(_ request: inout EncodedRequest) async throws {
                request.headerFields[.authorization] = "Signed \(request.headerFields[.cookie] ?? "-")"
            }
        }
        let jar = CookieJar()
        let transport = StubTransport()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cookies = jar
        configuration.interceptors = [Signer()]
        jar.store("a=1", from: try RequestURL("https://h/"))
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport, configuration: configuration)
        _ = try await service.send(DataRequest(.get, "x"))
        #expect(transport.requests.first?.headerFields[.authorization] == "Signed a=1")
    }
}
