import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Requests to any server")
struct AnyServerRequestTests {
    /// A double with the least that one needs.
    private struct Canned: DataRequestService {
        let text: String
        let codecs = CodecRegistry.standard
        func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
            DataResponse(headerFields: [.contentType: "application/json"], body: Data(text.utf8))
        }
    }

    private func service(
        _ transport: any Transport, _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.userAgent = "test/1"
        configuration.interceptors = [
            Intercepting { _ in throw RequestFailure(.hostRefused, "An interceptor was asked.") }
        ]
        change(&configuration)
        return HTTPDataRequestService.forAnyServer(over: transport, configuration: configuration)
    }

    private func temporaryPath() -> String {
        FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    }

    @Test("A request to any server sends its own header fields, which win over those of the service")
    func fields() async throws {
        let transport = StubTransport()
        var request = DataRequest(at: try RequestURL("https://any.test/p?x=1"), parameters: ["y": 2])
        request.headerFields = [.ifNoneMatch: "\"1\"", .accept: "image/png", .userAgent: "own/1", .contentLength: "9"]
        try await service(transport).send(request)
        let sent = try #require(transport.requests.first)
        #expect(sent.url.description == "https://any.test/p?x=1&y=2")
        let shown = sent.headerFields.map { "\($0.name)=\($0.value)" }
        #expect(shown == ["If-None-Match=\"1\"", "Accept=image/png", "User-Agent=own/1"])
    }

    @Test("A condition that the server confirms gives the status 304, if the request expects it")
    func condition() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/a", headerFields: [.ifNoneMatch: "\"1\""]).answer(.notModified)
        let service = service(transport)
        var request = DataRequest(at: "https://any.test/a", headerFields: [.ifNoneMatch: "\"1\""])
        let failure = await #expect(throws: RequestFailure.self) { try await service.send(request) }
        #expect(failure?.reason == .status)
        request.expectedStatus = [200...200, 304...304]
        #expect(try await service.send(request).status == .notModified)
        let short = try await service.get(
            "https://any.test/a", headerFields: [.ifNoneMatch: "\"1\""], expecting: .codes([304]))
        #expect(short.status == .notModified)
    }

    @Test(
        "A request to any server with credentials is refused before it is sent, without showing them",
        arguments: ["Authorization", "authorization", "Proxy-Authorization", "Cookie"])
    func credentials(name: String) async throws {
        let transport = StubTransport()
        let request = DataRequest(at: "https://any.test/", headerFields: try headerFields([name: "s3cret"]))
        let path = temporaryPath()
        let service = service(transport)
        for failure in [
            await #expect(throws: RequestFailure.self) { try await service.send(request) },
            await #expect(throws: RequestFailure.self) { try await service.download(request, to: path) },
        ] {
            #expect(failure?.reason == .invalidRequest)
            #expect(failure?.message.lowercased().contains(name.lowercased()) == true)
            #expect(failure?.description.contains("s3cret") == false)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test("A request to any server with a client identity in its own trust policy is refused")
    func identity() async throws {
        let authority = try TestAuthority(name: "Clients")
        let client = try authority.issue(.init(commonName: "client"))
        let identity = try ClientIdentity(
            certificate: PEM(client.certificatePEM), privateKey: PEM(client.privateKeyPEM))
        let transport = StubTransport()
        var options = TransportOptions()
        options.trust = try TrustPolicy(hosts: [], identity: identity)
        let request = DataRequest(at: "https://any.test/", options: options)
        let failure = await #expect(throws: RequestFailure.self) { try await service(transport).send(request) }
        #expect(failure?.reason == .invalidPolicy)
        #expect(transport.requests.isEmpty)
        // A policy without an identity is sent with the request.
        options.trust = TrustPolicy(minimumTLS: .tls13)
        try await service(transport).get("https://any.test/", options: options)
        #expect(transport.requests.first?.options.trust == options.trust)
    }

    @Test(
        "A request to any server may have any safe method, and no other",
        arguments: [
            (HTTPRequest.Method.head, true), (.options, true), (.post, false), (.put, false), (.patch, false),
            (.delete, false),
        ])
    func methods(method: HTTPRequest.Method, isAllowed: Bool) async throws {
        let transport = StubTransport()
        var request = DataRequest(at: "https://any.test/")
        request.method = method
        let failure: RequestFailure?
        do throws(RequestFailure) {
            try await service(transport).send(request)
            failure = nil
        } catch { failure = error }
        #expect(failure?.reason == (isAllowed ? nil : .invalidRequest))
        #expect(transport.requests.map(\.method) == (isAllowed ? [method] : []))
    }

    @Test("A request to any server that expects no status is refused")
    func expectsNothing() async throws {
        let transport = StubTransport()
        let failure = await #expect(throws: RequestFailure.self) {
            try await service(transport).get("https://any.test/", expecting: [])
        }
        #expect(failure?.reason == .invalidRequest)
        #expect(transport.requests.isEmpty)
    }

    @Test("The body of a response from any server comes as a whole, as a stream or in a file")
    func delivery() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/film").answer(text: "film")
        let service: any DataRequestService = service(transport)
        var request = DataRequest(at: "https://any.test/film")
        #expect(try await service.send(request).body.data == Data("film".utf8))
        #expect(try await service.response(to: request, as: String.self).model == "film")
        let path = temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try await service.download(request, to: path).bytes == 4)
        #expect(FileManager.default.contents(atPath: path) == Data("film".utf8))
        request.options.delivery = .streamed
        let response = try await service.send(request)
        #expect(response.body.data == nil)
        #expect(try await response.body.collect(upTo: 10) == Data("film".utf8))
        request.options.delivery = .collected(upTo: 3)
        let failure = await #expect(throws: RequestFailure.self) { try await service.send(request) }
        #expect(failure?.reason == .tooLarge)
        #expect(transport.requests.allSatisfy { $0.headerFields[.accept] == "*/*" })
    }

    @Test("A request to any server may have its own redirect policy and its own retry policy")
    func policies() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport()
        transport.on(.get, "/a").answer(.found, headerFields: [.location: "/b"])
        transport.on(.get, "/b").answer(text: "b")
        transport.on(.get, "/c").fail(.connection).thenAnswer(.ok)
        let service = service(transport) {
            $0.redirects = .refused
            $0.clock = clock.requestClock
        }
        var request = DataRequest(at: "https://any.test/a")
        request.redirects = .limit(1)
        #expect(try await service.send(request).url?.path == "/b")
        let refused = try await service.get("https://any.test/a", expecting: .any)
        #expect(refused.status == .found)
        var retried = DataRequest(at: "https://any.test/c")
        retried.retry = .attempts(2)
        let running = Task { [retried] in try await service.send(retried) }
        await clock.waitForSleepers(count: 1)
        clock.advanceToNextDeadline()
        #expect(try await running.value.attempts == 2)
    }

    @Test("Code that resolves a service for any server from a locator works with a double that implements one method")
    func double() async throws {
        let locator = ServiceLocator(name: "app")
        try locator.registerLazy((any DataRequestService).self) { [self] _ in service(StubTransport(#"{"id":1}"#)) }
        #expect(try await locator.resolve((any DataRequestService).self).get("https://any.test/").status == .ok)
        try locator.replace(Canned(text: #"{"id":7,"text":"double"}"#), as: (any DataRequestService).self)
        let open = try locator.resolve((any DataRequestService).self)
        #expect(try await open.get("https://any.test/", as: Note.self) == Note(id: 7, text: "double"))
        let path = temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try await open.download("https://any.test/a", to: path).bytes == 24)
        let note = try await withCheckedContinuation { continuation in
            open.get("https://any.test/", deserializeTo: Note.self) { continuation.resume(returning: $0) }
        }.get()
        #expect(note.id == 7)
        let status = try await withCheckedContinuation { continuation in
            open.send(DataRequest(at: "https://any.test/")) { continuation.resume(returning: $0) }
        }.get().status
        #expect(status == .ok)
        await locator.close()
    }

    @Test("A description of a request to any server shows no query and no values")
    func description() throws {
        let request = DataRequest(
            at: "https://any.test/a?s3cret", parameters: ["key": "s3cret"],
            headerFields: try headerFields(["X-Key": "s3cret"]))
        let invalid = DataRequest(at: "s3cret@h")
        var text = ""
        dump([request, invalid], to: &text)
        #expect(text.contains("https://any.test/a"))
        #expect(!text.contains("s3cret"))
        #expect(request.path == "https://any.test/a?s3cret" && request.base == .anyServer)
    }
}
