import Dispatch
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

private typealias Users = SendingDefinitionsTests.Users

@Suite("The article SendingDefinitions", .timeLimit(.minutes(5)))
struct SendingDefinitionsTests {
    struct User: Codable, Hashable, Sendable {
        var id: Int
        var name: String
    }

    struct NewUser: Codable, Hashable, Sendable { var name: String }
    struct Problem: Codable, Hashable, Sendable { var title: String }

    enum Shop: APIService {
        static let baseURL: RequestBase = "https://shop.example.com/v1/"
        static var errorModel: (any (Decodable & Sendable).Type)? { Problem.self }
    }

    enum Users: Endpoint {
        typealias Parent = Shop
        typealias User = SendingDefinitionsTests.User
        static let path: RequestPath = "users"
        static let getAll: APIRequest<[User]> = request(.get)
        static func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
        static func create(_ user: NewUser) -> APIRequest<User> { request(.post) { RequestContent { user } } }
        static func delete(id: Int) -> APIRequest<Void> { request(.delete, "\(id)") }
    }

    struct UserList: Sendable {
        let requests: any DataRequestService

        func replace(_ id: Int, by name: String) async throws(RequestFailure) {
            try await requests.send(Users.delete(id: id))
            _ = try await requests.send(Users.create(NewUser(name: name)))
        }
    }

    private let transport = ScriptedTransport()

    private func service() throws -> HTTPDataRequestService {
        HTTPDataRequestService(environment: try ConstantEnvironment("https://api.test/"), transport: transport)
    }

    @Test("The article on sending shows what the type of a definition returns")
    func responses() async throws {
        let requests = try service()
        transport.stub(Users.get(id: 7), with: User(id: 7, name: "Ada"))
        transport.stub(Users.draft, status: .noContent)
        transport.stub(Users.delete(id: 7))
        transport.on(Users.picture(id: 7)).answer(text: "png")
        transport.on(Users.log).answer(text: "one\ntwo\n")
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        let user = try await requests.send(Users.get(id: 7))  // User
        let draft = try await requests.send(Users.draft)  // User?
        try await requests.send(Users.delete(id: 7))  // Void: a body is ignored
        // Data: never decoded
        let picture = try await requests.send(Users.picture(id: 7))
        // a stream
        for try await line in try await requests.send(Users.log).lines() {
            show(line)
        }
        // Article ends
        #expect(user == User(id: 7, name: "Ada"))
        #expect(draft == nil)
        #expect(picture == Data("png".utf8))
        #expect(shown == ["one", "two"])
    }

    @Test("The article on sending shows other functions for the same definitions")
    func readings() async throws {
        let requests = try service()
        let ada = User(id: 7, name: "Ada")
        transport.stub(Users.get(id: 7), inOrder: [ada, ada, ada]).thenAnswer(.failure(.connection))
        transport.stub(Users.getAll, with: [ada])
        transport.on(Users.picture(id: 7)).answer(text: "png")
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        // both.model and both.response
        let both = try await requests.response(to: Users.get(id: 7))
        let bytes = try await requests.data(of: Users.get(id: 7))
        // stream.head, and stream.body at the reader's pace
        let stream = try await requests.stream(of: Users.getAll)
        let file = try await requests.download(Users.picture(id: 7), to: path)
        for try await user in requests.pages(of: Users.getAll).items {
            show(user.name)
        }
        for try await user in requests.values(
            of: Users.get(id: 7), every: .seconds(30))
        {
            if user.name == "Ada" { break }
        }
        // Article ends
        #expect(both.model == ada)
        #expect(both.response.status == .ok)
        #expect(bytes == Data(#"{"id":7,"name":"Ada"}"#.utf8))
        #expect(try await stream.body.collect(upTo: 100) == Data(#"[{"id":7,"name":"Ada"}]"#.utf8))
        #expect(file.bytes == 3)
    }

    @Test("The article on sending shows a completion handler whose request waits for its token")
    func handlers() async throws {
        let requests = try service()
        transport.stub(Users.get(id: 7), with: User(id: 7, name: "Ada"))
        let queue = DispatchQueue(label: "app")
        let (texts, text) = AsyncStream.makeStream(of: String.self)
        @Sendable func show(_ shown: String) { text.yield(shown) }

        // Article begins
        let token = requests.send(
            Users.get(id: 7), completionQueue: queue, autoResume: false
        ) { result in
            switch result {
            case .success(let user): show(user.name)
            case .failure(let failure): show(failure.message)
            }
        }
        token.resume()
        // Article ends
        var shown = texts.makeAsyncIterator()
        #expect(await shown.next() == "Ada")
        token.resume()
        #expect(transport.requests.count == 1)

        let other = requests.send(Users.delete(id: 7), autoResume: false) { (result: Result<Void, RequestFailure>) in
            if case .failure(let failure) = result { show(failure.reason.name) }
        }
        #expect(other.state == .suspended)
        other.cancel()
        #expect(await shown.next() == "cancelled")
        #expect(transport.requests.count == 1)
    }

    @Test("The article on sending shows named statuses, the error model and the time of the next attempt")
    func failures() async throws {
        let requests = try service()
        transport.stub(Users.get(id: 99), status: .notFound, error: Problem(title: "No such user"))
            .thenAnswer(.tooManyRequests, headerFields: [.retryAfter: "5"]).thenAnswer(.failure(.timeout))
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        for _ in 1...3 {
            // Article begins
            do throws(RequestFailure) {
                show(try await requests.send(Users.get(id: 99)).name)
            } catch {
                switch error.status {
                case .notFound?, .gone?:
                    show(error.errorModel(as: Problem.self)?.title ?? "Unknown")
                case .tooManyRequests?:
                    show("Again in \(error.retryAfter() ?? .seconds(60))")
                default: show(error.message)
                }
            }
            // Article ends
        }
        #expect(shown.prefix(2) == ["No such user", "Again in 5.0 seconds"])
        #expect(shown.count == 3)

        let first = await #expect(throws: RequestFailure.self) { try await requests.send(Users.get(id: 99)) }
        let second = await #expect(throws: RequestFailure.self) { try await requests.send(Users.get(id: 99)) }
        #expect(first == second)
        #expect(first?.request == "GET https://shop.example.com/v1/users/99")
        let task = Task { () async -> RequestFailure? in
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(RequestFailure) {
                _ = try await requests.send(Users.getAll)
                return nil
            } catch {
                return error
            }
        }
        #expect(await task.value?.reason == .cancelled)
    }

    @Test("The article on sending shows definitions as data")
    func data() throws {
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        let create = Users.create(NewUser(name: "Ada")).settingHeader(
            "Authorization", "Bearer secret")
        show("\(create)")  // POST users
        show("\(try create.url())")  // https://shop.example.com/v1/users
        // with “Authorization: …”; showsSecrets: true shows the token
        show(try create.curlCommand())
        // a Codable value: method, URL, header fields, body
        let snapshot = try create.snapshot()
        // false: the header fields differ
        show("\(create == Users.create(NewUser(name: "Ada")))")
        // Article ends
        #expect(shown[0] == "POST users")
        #expect(shown[1] == "https://shop.example.com/v1/users")
        #expect(shown[2].contains("Authorization: …"))
        #expect(try create.curlCommand(showsSecrets: true).contains("Bearer secret"))
        #expect(shown[3] == "false")
        #expect(snapshot.body == #"{"name":"Ada"}"#)
        #expect(try JSONDecoder().decode(RequestSnapshot.self, from: JSONEncoder().encode(snapshot)) == snapshot)
        let own = APIRequest<User>(.get, "users/7")
        let url = try own.url(under: RequestURL("https://api.example.com/"))
        #expect(url.description == "https://api.example.com/users/7")
    }

    @Test("The article on sending shows a test of code that sends definitions")
    func tests() async throws {
        let app = Assembly("app") { locator in
            try locator.register(ConstantEnvironment("https://api.test/"), as: (any EnvironmentService).self)
            try locator.registerLazy((any DataRequestService).self) { locator in
                try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self))
            }
            try locator.registerLazy(UserList.self) { locator in
                try UserList(requests: locator.resolve((any DataRequestService).self))
            }
        }

        // Article begins
        let transport = ScriptedTransport()
        transport.stub(Users.getAll, with: [User(id: 7, name: "Ada")]).thenAnswer(
            .failure(.connection))
        transport.stub(
            Users.get(id: 99), status: .notFound,
            error: Problem(title: "No such user"))
        transport.stub(Users.delete(id: 7))  // 204
        transport.on(Users.create(NewUser(name: "Grace"))).answer(
            .created, json: User(id: 8, name: "Grace"))

        let doubles = Assembly("doubles") { locator in
            try locator.registerLazy((any DataRequestService).self) { locator in
                try HTTPDataRequestService(
                    environment: locator.resolve((any EnvironmentService).self),
                    transport: transport)
            }
        }
        let locator = try app.makeLocator(overriding: [doubles])
        let users = try locator.resolve(UserList.self)
        try await users.replace(7, by: "Grace")

        try transport.expect(sent: [
            Users.delete(id: 7), Users.create(NewUser(name: "Grace")),
        ])
        try transport.verify()
        // Article ends
        await locator.close()
    }
}

extension SendingDefinitionsTests {
    @Test("A decorator and an interceptor see definitions as requests")
    func chain() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/users").answer(json: [User]())
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = [Mark()]
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://shop.example.com/v1/"), transport: transport,
            configuration: configuration)
        #expect(try await Marking(next: service).send(Users.getAll) == [])
        #expect(transport.requests[0].headerFields["X-Interceptor"] == "1")
        #expect(transport.requests[0].headerFields["X-Decorator"] == "1")
    }

    private struct Mark: RequestInterceptor {
        func prepare(_ draft: inout RequestDraft) async throws {
            try draft.add(.checked(name: "X-Interceptor", value: "1"))
        }
    }

    private struct Marking: DataRequestDecorator {
        let next: any DataRequestService

        func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
            var request = request
            request.headerFields["X-Decorator"] = "1"
            return try await next.send(request)
        }
    }
}

// Article begins
extension Users {
    // `nil` if the body is empty, as for 204
    static let draft: APIRequest<User?> = request(.get, "draft")
    static let log: APIRequest<ResponseBody> = request(.get, "log")
    static func picture(id: Int) -> APIRequest<Data> {
        request(.get, "\(id)/picture")
    }
}
// Article ends
