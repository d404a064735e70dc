import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

/// A server that asks for a client certificate, and services that have everything that it must not receive.
private struct SecretBench {
    let server: LoopbackServer
    let identity: ClientIdentity
    let anchors: TrustAnchors
    let jar = CookieJar()

    init() throws {
        let authority = try TestAuthority(name: "Any server")
        let leaf = try authority.issue(
            .init(commonName: "any.test", dnsNames: ["any.test", "api.test"], ipAddresses: []))
        let client = try authority.issue(.init(commonName: "client"))
        identity = try ClientIdentity(
            certificate: PEM(client.certificatePEM), privateKey: PEM(client.privateKeyPEM))
        anchors = try .only([PEM(authority.certificate.certificatePEM)])
        server = try LoopbackServer(tls: ServerTLS(certificate: leaf, clientAuthentication: .request)) { request in
            request.path == "/away"
                ? .response(status: 302, headers: [("Location", "/v1/a")])
                : .response(headers: [("Set-Cookie", "new=1; Path=/")], body: "x")
        }
    }

    /// A service of an environment on the server, with credentials, cookies, an interceptor and a client certificate.
    func service(
        host: String, onlyOneTransport: Bool = false, interceptor: any RequestInterceptor
    ) throws -> HTTPDataRequestService {
        var engine = CurlTransport.Configuration()
        engine.proxy = .direct
        engine.addressOverrides = try ["any.test", "api.test"].map {
            try .init(host: HostName($0), port: server.port, address: HostName("127.0.0.1"))
        }
        let trust = TrustPolicy(anchors: anchors, identity: identity)
        let environment = EnvironmentSnapshot(
            baseURL: try RequestURL("https://\(host):\(server.port)/v1/"),
            headerFields: HTTPFields(["X-Tenant": "acme"]))
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = [interceptor]
        configuration.cookies = jar
        let transport: any Transport =
            onlyOneTransport
            ? try CurlTransport(trust: trust, configuration: engine)
            : CurlTransports(trust: trust, configuration: engine)
        let service = HTTPDataRequestService(
            environment: MutableEnvironment(environment), transport: transport, configuration: configuration)
        service.setAuthorization(try .bearer("token"))
        return service
    }
}

@Suite("Requests to any server, sent by the service of an environment", .timeLimit(.minutes(5)))
struct AnyServerSwapTests {
    private struct Adding: RequestInterceptor {
        func prepare(_ draft: inout RequestDraft) async throws { draft.headerFields["X-Added"] = "1" }
        func sign(_ request: inout EncodedRequest) async throws { request.headerFields["X-Signed"] = "1" }
    }

    @Test(
        "A server receives no credentials, cookies, fields or client certificate, whether it is the environment's or not",
        arguments: ["any.test", "api.test"], ["/v1/a", "/away"])
    func nothing(host: String, path: String) async throws {
        let bench = try SecretBench()
        let service = try bench.service(host: "api.test", interceptor: Adding())
        let url = "https://\(host):\(bench.server.port)\(path)"
        // The jar has a cookie for the host now, and the service has sent its certificate to the environment's server.
        _ = try await service.get("first", as: String.self)
        let own = try #require(bench.server.requests.last)
        #expect(own.header("Authorization") == "Bearer token" && own.header("X-Signed") == "1")
        #expect(bench.server.handshakes.last?.clientCertificatePEM != nil)
        #expect(bench.jar.count == 1)
        let (requests, handshakes) = (bench.server.requests.count, bench.server.handshakes.count)

        let text = try await service.model(of: DataRequest(at: url), as: String.self)
        #expect(text == "x")
        let allowed: Set<String> = ["host", "accept", "user-agent", "accept-encoding"]
        for request in bench.server.requests.dropFirst(requests) {
            #expect(Set(request.headers.map { $0.name.lowercased() }).isSubset(of: allowed))
        }
        #expect(bench.server.requests.count == requests + (path == "/away" ? 2 : 1))
        // A connection of its own, because the other one has shown the certificate.
        #expect(bench.server.handshakes.count == handshakes + 1)
        #expect(bench.server.handshakes.last?.clientCertificatePEM == nil)
        #expect(bench.jar.count == 1)
        await service.shutdown()
    }

    @Test("A transport that has nothing but a client certificate refuses a request to any server")
    func onlyIdentity() async throws {
        let bench = try SecretBench()
        let service = try bench.service(host: "api.test", onlyOneTransport: true, interceptor: Adding())
        let failure = await #expect(throws: RequestFailure.self) {
            try await service.send(DataRequest(at: "https://any.test:\(bench.server.port)/v1/a"))
        }
        #expect(failure?.reason == .invalidPolicy)
        #expect(bench.server.requestCount == 0 && bench.server.connectionCount == 0)
        await service.shutdown()
    }

    @Test("A request to any server with a path in place of its URL, or with a body, is refused")
    func refused() async throws {
        let fixture = try ServiceFixture()
        var path = DataRequest(at: "https://any.test/")
        path.path = "users"
        var body = DataRequest(at: "https://any.test/")
        body.body = .text("x")
        for request in [path, body, DataRequest(.post, at: "https://any.test/"), DataRequest(at: "users")] {
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
            #expect(failure?.reason == .invalidRequest)
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("A change of the environment or of the account ends no request to any server")
    func changes() async throws {
        let gate = Latch()
        let transport = StubTransport { _ throws(RequestFailure) in
            await gate.wait()
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("x".utf8)))
        }
        let environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v1/")))
        let fixture = ServiceFixture(transport, environment: environment) { $0.onEnvironmentChange = .cancelRequests }
        fixture.service.setAuthorization(try .bearer("a"))
        let running = Task { try await fixture.service.model(of: DataRequest(at: "https://h/v1/a"), as: String.self) }
        while transport.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        fixture.service.setAuthorization(try .bearer("b"))
        await fixture.service.clearAuthorization()
        environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
        gate.open()
        #expect(try await running.value == "x")
        #expect(transport.requests.count == 1)
    }

    @Test("A request to any server keeps its query and its fields when its URL is changed")
    func changedURL() async throws {
        let fixture = try ServiceFixture()
        var request = DataRequest(at: try RequestURL("https://any.test/a?x=1"), parameters: ["y": 2])
        request.query.append("z", "3")
        try await fixture.service.send(request)
        request.path = "https://other.test/b?w=0"
        try await fixture.service.send(request)
        let sent = fixture.transport.requests
        let urls = ["https://any.test/a?x=1&z=3&y=2", "https://other.test/b?w=0&z=3&y=2"]
        #expect(sent.map(\.url.description) == urls)
        #expect(sent.allSatisfy { $0.isForAnyServer && $0.headerFields[.authorization] == nil })
    }

    @Test("A list of pages on any server is read by links or numbers, without credentials", arguments: [true, false])
    func pages(isLinked: Bool) async throws {
        let transport = ScriptedTransport()
        var link = HTTPFields()
        if isLinked { link["Link"] = "<?page=2>; rel=\"next\"" }
        transport.on(.get, "/list").answer(json: [1], headerFields: link).thenAnswer(json: [2])
            .thenAnswer(json: [Int]())
        let fields = HTTPFields(["X-Tenant": "acme"])
        let environment = try ConstantEnvironment("https://api.test/v1/", headerFields: fields)
        let service = HTTPDataRequestService(environment: environment, transport: transport)
        service.setAuthorization(try .bearer("token"))
        let list = DataRequest(at: "https://any.test/list")
        var items: [Int] = []
        let paging: Paging<[Int]> = isLinked ? .link() : .number("page") { $0.model.isEmpty }
        for try await page in service.pages(of: list, as: [Int].self, by: paging) { items += page.model }
        #expect(items == [1, 2])
        let first = isLinked ? "/list" : "/list?page=1"
        #expect(transport.requests.prefix(2).map(\.url.target) == [first, "/list?page=2"])
        #expect(transport.requests.allSatisfy { $0.url.origin.host.text == "any.test" })
        #expect(transport.requests.allSatisfy { $0.headerFields[.authorization] == nil && $0.headerFields.count == 2 })
    }
}
