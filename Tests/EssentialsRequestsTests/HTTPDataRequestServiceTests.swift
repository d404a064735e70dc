import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite struct HTTPDataRequestServiceTests {
    private func service(
        _ transport: StubTransport, fields: HTTPFields = [:], base: String = "https://h/v1/"
    ) throws -> HTTPDataRequestService {
        HTTPDataRequestService(environment: try ConstantEnvironment(base, headerFields: fields), transport: transport)
    }

    @Test("A request's path is below the base URL, with its parameters after its own query")
    func url() async throws {
        let transport = StubTransport()
        let service = try service(transport)
        for path in ["a", "a?x=1", "a?x=1&", "a?", "a#f"] {
            _ = try await service.send(DataRequest(.get, path, parameters: ["n": "v w"]))
        }
        _ = try await service.send(DataRequest(.get, "a", parameters: ["none": [] as [Int]]))
        let targets = [
            "/v1/a?n=v%20w", "/v1/a?x=1&n=v%20w", "/v1/a?x=1&n=v%20w", "/v1/a?n=v%20w", "/v1/a?n=v%20w", "/v1/a",
        ]
        #expect(transport.requests.map(\.url.target) == targets)
    }

    @Test("Method, body and options reach the transport unchanged")
    func unchanged() async throws {
        let transport = StubTransport()
        var request = DataRequest(.patch, "a", body: .data(Data("b".utf8)))
        request.options.totalTimeout = .seconds(3)
        _ = try await service(transport).send(request)
        let sent = try #require(transport.requests.first)
        #expect(sent.method == .patch)
        #expect(sent.options.totalTimeout == .seconds(3))
        guard case .bytes(let data) = sent.body.content else {
            Issue.record("The body is not in memory.")
            return
        }
        #expect(data == Data("b".utf8))
    }

    @Test("The environment's fields are added, and the request's own take precedence regardless of case")
    func fields() async throws {
        let transport = StubTransport()
        let shared: HTTPFields = [.accept: "text/html", .authorization: "environment", .acceptLanguage: "en"]
        var request = DataRequest(.get, "a")
        request.headerFields[.authorization] = "request"
        request.headerFields.append(try HTTPField.checked(name: "ACCEPT", value: "text/plain"))
        _ = try await service(transport, fields: shared).send(request)
        let fields = try #require(transport.requests.first).headerFields
        #expect(fields[values: .authorization] == ["request"])
        #expect(fields[values: .accept] == ["text/plain"])
        #expect(fields[values: .acceptLanguage] == ["en"])
    }

    @Test("All of the environment's fields with the same name are added in order")
    func repeatedFields() async throws {
        let transport = StubTransport()
        var shared = HTTPFields()
        shared[values: .acceptLanguage] = ["en", "de"]
        _ = try await service(transport, fields: shared).send(DataRequest(.get, "a"))
        #expect(transport.requests.first?.headerFields[values: .acceptLanguage] == ["en", "de"])
    }

    @Test(
        "A path that leads elsewhere is refused before anything is sent",
        arguments: ["../x", "https://evil/", "//evil/", "a\nb"])
    func refusedPath(path: String) async throws {
        let transport = StubTransport()
        let service = try service(transport)
        let failure = await #expect(throws: RequestFailure.self) { try await service.send(DataRequest(.get, path)) }
        #expect(failure?.reason == .invalidRequest)
        #expect(transport.requests.isEmpty)
    }

    @Test(
        "An unexpected status is a failure that contains the response", arguments: [100, 199, 300, 302, 304, 404, 500])
    func status(code: Int) async throws {
        let service = try service(StubTransport(status: code, "why"))
        let failure = await #expect(throws: RequestFailure.self) {
            try await service.send(DataRequest(.get, "a", parameters: ["token": "secret"]))
        }
        #expect(failure?.reason == .status)
        #expect(failure?.phase == .receiving)
        #expect(failure?.host == "h")
        #expect(failure?.message.contains("\(code)") == true)
        #expect(failure?.description.contains("secret") == false)
        #expect(failure?.response?.head.status.code == code)
        #expect(failure?.response?.body == Data("why".utf8))
    }

    @Test(
        "The request defines the expected statuses", arguments: [(200, false), (304, true), (404, true), (405, false)])
    func expectedStatus(code: Int, isExpected: Bool) async throws {
        let service = try service(StubTransport(status: code))
        var request = DataRequest(.get, "a")
        request.expectedStatus = [304...304, 400...404]
        let status = try? await service.send(request).status.code
        #expect(status == (isExpected ? code : nil))
    }

    @Test("A failure of the transport is thrown unchanged", arguments: RequestFailure.Reason.all)
    func transportFailure(reason: RequestFailure.Reason) async throws {
        let service = try service(StubTransport { _ throws(RequestFailure) in throw RequestFailure(reason, "No.") })
        let failure = await #expect(throws: RequestFailure.self) { try await service.send(DataRequest(.get, "a")) }
        #expect(failure?.reason == reason)
    }

    @Test("A model is requested as JSON unless the request sets Accept, and is decoded from the response")
    func get() async throws {
        let transport = StubTransport(#"{"id":1,"text":"a"}"#)
        let note: Note = try await service(transport).get("notes/1")
        #expect(note == Note(id: 1, text: "a"))
        #expect(transport.requests.first?.method == .get)
        #expect(transport.requests.first?.headerFields[.accept] == "application/json")
    }

    @Test("A posted model is JSON and sent once")
    func post() async throws {
        let transport = StubTransport(status: 201, #"{"id":2,"text":"b"}"#)
        let service = try service(transport)
        let created: Note = try await service.post("notes", body: ["text": "b"])
        try await service.post("notes", body: ["text": "b"])
        #expect(created.id == 2)
        #expect(transport.requests.count == 2)
        for sent in transport.requests {
            #expect(sent.method == .post)
            #expect(sent.headerFields[values: .contentType] == ["application/json; charset=utf-8"])
            guard case .bytes(let data) = sent.body.content else {
                Issue.record("The body is not in memory.")
                return
            }
            #expect(String(decoding: data, as: UTF8.self) == #"{"text":"b"}"#)
        }
    }

    @Test("A body that cannot be encoded as JSON is refused before anything is sent")
    func unencodable() async throws {
        let transport = StubTransport()
        let service = try service(transport)
        let failure = await #expect(throws: RequestFailure.self) {
            try await service.post("a", body: [Double.infinity])
        }
        #expect(failure?.reason == .encoding)
        #expect(transport.requests.isEmpty)
    }

    @Test("The content type set by a request with a model is kept and selects the codec")
    func contentType() async throws {
        let transport = StubTransport()
        let fields: HTTPFields = [.contentType: "application/merge-patch+json"]
        let request = DataRequest(.patch, "a", headerFields: fields, body: .model(["a": 1]))
        _ = try await service(transport).send(request)
        let type = transport.requests.first?.headerFields[values: .contentType]
        #expect(type?.first?.hasPrefix("application/merge-patch+json") == true)
        #expect(type?.count == 1)
        #expect(transport.requests.first?.bodyText == #"{"a":1}"#)
    }

    @Test("Shutting down the service shuts down the transport")
    func shutdown() async throws {
        let transport = StubTransport()
        try await service(transport).shutdown()
        #expect(transport.shutdownCount == 1)
    }
}
