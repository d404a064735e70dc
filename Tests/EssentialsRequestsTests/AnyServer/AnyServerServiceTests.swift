import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Services for any server")
struct AnyServerServiceTests {
    private func service(_ transport: StubTransport) -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.userAgent = "test/1"
        configuration.interceptors = [
            Intercepting { _ in throw RequestFailure(.hostRefused, "An interceptor was asked.") }
        ]
        return HTTPDataRequestService.forAnyServer(over: transport, configuration: configuration)
    }

    @Test("A request to any server is sent to an absolute URL with its parameters, User-Agent and Accept only")
    func fields() async throws {
        let transport = StubTransport(#"{"id":1,"text":"a"}"#)
        let note = try await service(transport).get(
            "https://any.test:8443/p?x=1#f", parameters: ["y": "a b", "list": [1, 2]], as: Note.self)
        #expect(note == Note(id: 1, text: "a"))
        let sent = try #require(transport.requests.first)
        #expect(sent.method == .get)
        #expect(sent.url.description == "https://any.test:8443/p?x=1&list[]=1&list[]=2&y=a%20b")
        #expect(sent.headerFields.map { "\($0.name)=\($0.value)" } == ["Accept=application/json", "User-Agent=test/1"])
        #expect(sent.bodyText == nil)
    }

    @Test(
        "A request to any server without an absolute http or https URL is refused",
        arguments: ["", "users", "/users", "file:///etc/passwd", "ftp://h/", "https://u:p@h/", "https://"])
    func refused(url: String) async throws {
        let transport = StubTransport()
        let failure = await #expect(throws: RequestFailure.self) { try await service(transport).get(url) }
        #expect(failure?.reason == .invalidRequest)
        #expect(transport.requests.isEmpty)
    }

    @Test("A redirect adds nothing to a request to any server")
    func redirect() async throws {
        let transport = StubTransport { request throws(RequestFailure) in
            let isFirst = request.url.origin.host.text == "any.test"
            let fields: HTTPFields =
                isFirst ? [.location: "https://api.test/v1/me", .setCookie: "a=b"] : [.contentType: "text/plain"]
            return TransportResponse(
                HTTPResponse(status: isFirst ? .found : .ok, headerFields: fields), body: ResponseBody(Data("x".utf8)))
        }
        // The service of that origin has credentials, which the unsafe service does not share.
        let safe = try ServiceFixture(transport, base: "https://api.test/v1/", fields: [.cookie: "c=d"])
        safe.service.setAuthorization(try .bearer("token"))
        #expect(try await service(transport).get("https://any.test/", as: String.self) == "x")
        #expect(transport.requests.map(\.url.description) == ["https://any.test/", "https://api.test/v1/me"])
        for sent in transport.requests {
            #expect(sent.headerFields.map { "\($0.name)" } == ["Accept", "User-Agent"])
            #expect(sent.options.trust == nil)
        }
    }

    @Test("A request to any server may be a download with the same rules")
    func download() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let transport = StubTransport("film")
        let service = service(transport)
        let file = try await service.download("https://any.test/film", parameters: ["q": 1], to: path)
        #expect(file.bytes == 4)
        #expect(transport.requests.map(\.url.description) == ["https://any.test/film?q=1"])
        #expect(transport.requests.first?.headerFields.map { "\($0.name)" } == ["Accept", "User-Agent"])
        let failure = await #expect(throws: RequestFailure.self) { try await service.download("/film", to: path) }
        #expect(failure?.reason == .invalidRequest)
    }

    @Test("A request to any server supports completion handlers and tokens")
    func handler() async throws {
        let service = service(StubTransport(#"{"id":1,"text":"a"}"#))
        let note = try await withCheckedContinuation { continuation in
            service.get("https://h/", deserializeTo: Note.self) { continuation.resume(returning: $0) }
        }.get()
        #expect(note.id == 1)
        let status = try await withCheckedContinuation { continuation in
            service.get("https://h/") { continuation.resume(returning: $0) }
        }.get().status
        #expect(status == .ok)
    }

    @Test("A request that was pinned to the environment of a service for any server is sent to its whole URL")
    func pinned() async throws {
        let transport = StubTransport()
        let open = service(transport)
        let request = DataRequest(.get, "https://any.test/a?x=1").pinned(to: open.currentEnvironment)
        try await open.send(request)
        #expect(transport.requests.map(\.url.description) == ["https://any.test/a?x=1"])
        #expect(transport.requests.allSatisfy { $0.isForAnyServer })
        let failure = await #expect(throws: RequestFailure.self) {
            try await open.send(DataRequest(.get, "a").pinned(to: open.currentEnvironment))
        }
        #expect(failure?.reason == .invalidRequest)
    }

    @Test("A request to any server cannot be stored to be sent later")
    func stored() {
        let failure = #expect(throws: RequestFailure.self) {
            try StoredRequestParts(of: DataRequest(at: "https://any.test/a"), codecs: .standard)
        }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.message.contains("any server") == true)
    }

    @Test("A service for any server is not created with a client certificate")
    func identity() async throws {
        let authority = try TestAuthority(name: "Clients")
        let client = try authority.issue(.init(commonName: "client"))
        let identity = try ClientIdentity(
            certificate: PEM(client.certificatePEM), privateKey: PEM(client.privateKeyPEM))
        let policy = try TrustPolicy(hosts: [], identity: identity)
        let failure = #expect(throws: RequestFailure.self) { try HTTPDataRequestService.forAnyServer(trust: policy) }
        #expect(failure?.reason == .invalidPolicy)
        #expect(failure?.message.contains("identity") == true)
        let service = try HTTPDataRequestService.forAnyServer(trust: TrustPolicy(hosts: []))
        await service.shutdown()
    }

    @Test("A request to any server is cancelled by the shutdown of its service")
    func shutdown() async throws {
        let service = service(StubTransport())
        await service.shutdown()
        let failure = await #expect(throws: RequestFailure.self) { try await service.get("https://h/") }
        #expect(failure?.reason == .closed)
    }
}
