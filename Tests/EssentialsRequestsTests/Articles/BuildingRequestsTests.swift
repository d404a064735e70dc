import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article BuildingRequests")
struct BuildingRequestsTests {
    private struct User: Codable, Hashable, Sendable {
        var id = 1
        var name = "Ada"
    }

    // Article begins
    struct Search: Encodable {
        var name: String
        var tags: [String]
        var since: Date?
    }
    // Article ends

    // Article begins
    struct Tenant: RequestInterceptor {
        let name: String

        func prepare(_ draft: inout RequestDraft) async throws {
            try draft.add(.checked(name: "X-Tenant", value: name))
            draft.parameters["lang"] = "en"
        }
    }
    // Article ends

    private struct Person: Codable, Sendable {
        var firstName = "Ada"
    }

    private let transport = ScriptedTransport()

    private func service(
        _ configuration: HTTPDataRequestService.Configuration = HTTPDataRequestService.Configuration()
    ) throws -> HTTPDataRequestService {
        transport.on(nil, "/**").answer(json: [User()])
        return HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport,
            configuration: configuration)
    }

    private var targets: [String] { transport.requests.map { "\($0.method.rawValue) \($0.url.target)" } }

    @Test("The article on building requests shows parameters, an ordered query and a model as parameters")
    func parameters() async throws {
        let requests = try service()
        let (role, page, since) = ("admin", 2, nil as Date?)

        // Article begins
        try await requests.get(
            "users",
            parameters: [
                "role": role, "page": page, "tags": ["a", "b"], "since": since,
            ])
        // GET /v1/users?page=2&role=admin&since&tags[]=a&tags[]=b
        try await requests.get("users", query: ["sort": "name", "sort": "id"])
        // GET /v1/users?sort=name&sort=id
        let search = Search(name: "Ada & Co", tags: ["x"], since: nil)
        try await requests.get(
            "users", parameters: FormParameters(encoding: search))
        // GET /v1/users?name=Ada%20%26%20Co&tags[]=x
        // Article ends

        #expect(
            targets == [
                "GET /v1/users?page=2&role=admin&since&tags[]=a&tags[]=b", "GET /v1/users?sort=name&sort=id",
                "GET /v1/users?name=Ada%20%26%20Co&tags[]=x",
            ])
    }

    @Test("The article on building requests shows bodies of every kind and their content types")
    func bodies() async throws {
        let requests = try service()
        let user = User()

        // Article begins
        try await requests.put("users/1", body: user)  // {"id":1,"name":"Ada"}
        // {"keys":[1,null],"name":"Ada"}
        try await requests.post("login", body: ["name": "Ada", "keys": [1, nil]])
        // name=Ada
        try await requests.post(
            "login", body: .parameters(["name": "Ada"], as: .form))

        var note = DataRequest(.post, "notes", query: ["draft": "1"])
        note.body = .text(
            "# Today", type: try MediaType("text/markdown; charset=utf-8"))
        let stored = try await requests.send(note)
        // Article ends

        #expect(
            transport.requests.map { "\($0.headerFields[.contentType] ?? "-"): \($0.bodyText)" } == [
                #"application/json; charset=utf-8: {"id":1,"name":"Ada"}"#,
                #"application/json; charset=utf-8: {"keys":[1,null],"name":"Ada"}"#,
                "application/x-www-form-urlencoded; charset=utf-8: name=Ada", "text/markdown; charset=utf-8: # Today",
            ])
        #expect(stored.url?.target == "/v1/notes?draft=1")
    }

    @Test("The article on building requests shows the builder and conflicting settings")
    func builder() async throws {
        let requests = try service()
        let (data, user) = (Data("name,role\n".utf8), User())
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        let builder = try RequestBuilder(.put, "users/import")
            .header("X-Batch", "7")
            .query("dry-run", "1")
            .body(data: data, type: MediaType("text/csv"))
            .expecting(200, 409)
            .deadline(.seconds(30))
        let response = try await requests.send(builder)
        // Article ends

        #expect(response.status == .ok)
        let request = try await transport.request(number: 1)
        #expect(targets == ["PUT /v1/users/import?dry-run=1"])
        #expect(request.headerFields[.contentType] == "text/csv")
        #expect(request.options.totalTimeout == .seconds(30))

        // Article begins
        do {
            _ = try RequestBuilder(.post, "users").body(model: user).body(
                text: "Ada"
            ).build()
        } catch {
            // “body(text:)” was set, and “body(model:)” before it.
            show(error.message)
        }
        // Article ends
        #expect(shown == ["“body(text:)” was set, and “body(model:)” before it."])
    }

    @Test("The article on building requests shows a form with a file")
    func multipart() async throws {
        let requests = try service()
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).png").path
        try Data("png".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let user = User()

        // Article begins
        var form = try MultipartBody()
        try form.append(.field("title", "Summer"))
        try form.append(.json(user, name: "author"))
        try form.append(.file(path, name: "picture", fileName: "summer.png"))
        let response = try await requests.send(
            DataRequest(.post, "pictures", body: .multipart(form)))
        // Article ends

        #expect(response.status == .ok)
        let request = try await transport.request(number: 1)
        #expect(request.headerFields[.contentType] == "multipart/form-data; boundary=\(form.boundary)")
        #expect(request.bodyByteCount == form.contentLength)
        #expect(request.bodyText.contains("name=\"picture\"; filename=\"summer.png\"\r\nContent-Type: image/png\r\n"))
    }

    @Test("The article on building requests shows statuses, an interceptor and a service's formats")
    func configuration() async throws {
        // Article begins
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = [Tenant(name: "acme")]
        configuration.codecs.register(
            JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
        configuration.formEncoding.arrays = .comma
        // Article ends
        let requests = try service(configuration)
        let user = User()
        transport.on(.post, "/v1/users").answer(.created).thenAnswer()

        // Article begins
        var request = DataRequest(.get, "users", parameters: ["ids": [1, 2]])
        // or 201, .codes([200, 404]), .matching { $0 < 500 }, .any
        request.expectedStatus = [200...299, 304...304]
        request.headerFields[.ifNoneMatch] = "\"1\""
        // a name that is none is `invalidRequest` when the request is sent
        request.headerFields["X-Batch"] = "7"
        request.options.delivery = .collected(upTo: 1 << 20)
        request.options.idleTimeout = .seconds(10)
        request.redirects = .limit(3)
        let response = try await requests.send(request)
        try await requests.post(
            "users", body: user, headerFields: HTTPFields(["X-Batch": "7"]),
            expecting: 201)
        // Article ends

        #expect(response.status == .ok)
        #expect(targets == ["GET /v1/users?ids=1,2&lang=en", "POST /v1/users?lang=en"])
        #expect(transport.requests.map { $0.headerFields["X-Batch"] } == ["7", "7"])
        let sent = try await transport.request(number: 1)
        #expect(sent.headerFields.contains { $0.name.canonicalName == "x-tenant" && $0.value == "acme" })
        try sent.expect(headerFields: [.ifNoneMatch: "\"1\""])
        #expect(sent.options.delivery == .collected(upTo: 1 << 20))
        try await requests.post("users", body: Person())
        #expect(transport.requests.last?.bodyText == #"{"first_name":"Ada"}"#)
    }
}
