import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Resource: mutations and decorators", .leavesNothing)
struct DecoratorTests {
    private struct Refused: Error {}

    @Test("Mutations run after the changes of the caller, in order")
    func mutations() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.post, "/v1/item").answer(text: "ok")
        try fixture.service.configure("/item") {
            $0.mutate { request in request.headerFields[.userAgent] = (request.headerFields[.userAgent] ?? "") + "b" }
            $0.mutate { request in
                await Task.yield()
                request.headerFields[.userAgent] = (request.headerFields[.userAgent] ?? "") + "c"
            }
        }
        let item: Resource<String> = fixture.service.resource("item")
        _ = try await item.request(.post, as: String.self) { $0.headerFields[.userAgent] = "a" }.content
        #expect(fixture.transport.requests.last?.headerFields[.userAgent] == "abc")
    }

    @Test("A mutation that throws sends nothing")
    func throwing() async throws {
        let fixture = try ResourceFixture()
        try fixture.service.configure("/item") { $0.mutate { _ in throw Refused() } }
        let item: Resource<String> = fixture.service.resource("item")
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.underlying is Refused)
        #expect(item.state.failure?.reason == .invalidRequest)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("The method before the mutations selects them, and the method after them selects decorators and pipeline")
    func changedMethod() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.put, "/v1/item").answer(text: "ok")
        let journal = Journal()
        try fixture.service.configure("/item", methods: [.post]) {
            $0.mutate { request in request.method = .put }
            $0.decorate { call, next in
                journal.add("post")
                return try await next(call.request)
            }
        }
        try fixture.service.configure("/item", methods: [.put]) {
            $0.mutate { _ in journal.add("mutation of put") }
            $0.decorate { call, next in
                journal.add("put")
                return try await next(call.request)
            }
            $0.pipeline.transform(at: .raw) { (_: Data) in Data("pipeline of put".utf8) }
        }
        let item: Resource<String> = fixture.service.resource("item")
        #expect(try await item.request(.post, as: String.self).content == "pipeline of put")
        #expect(journal.all == ["put"])
    }

    @Test("The decorator that was added last is the outermost, and receives the resource")
    func nesting() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(text: "ok")
        let journal = Journal()
        let item: Resource<String> = fixture.service.resource("item")
        // The service would hold itself by a block or a decorator that holds the resource.
        let id = item.any.id
        for name in ["first", "last"] {
            try fixture.service.configure("/**") {
                $0.decorate { call, next in
                    #expect(call.resource.id == id)
                    journal.add("\(name) before")
                    let response = try await next(call.request)
                    journal.add("\(name) after")
                    return response
                }
            }
        }
        try await item.load()
        #expect(journal.all == ["last before", "first before", "first after", "last after"])
    }

    @Test("A request that a decorator replaces is never sent")
    func replacing() async throws {
        let fixture = try ResourceFixture()
        try fixture.service.configure("/item") {
            $0.decorate { _, _ in DataResponse(.ok, headerFields: [.contentType: "text/plain"], body: Data("own".utf8))
            }
        }
        let item: Resource<String> = fixture.service.resource("item")
        #expect(try await item.load() == "own")
        #expect(item.content == "own")
        #expect(fixture.transport.requestCount == 0)
        try fixture.service.configure("/item") { $0.decorate { _, _ in throw Refused() } }
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.underlying is Refused)
    }

    @Test("A repeated request is changed by mutations again, but not decorated again")
    func repeated() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(text: "ok")
        let journal = Journal()
        try fixture.service.configure("/item") {
            $0.mutate { _ in journal.add("mutation") }
            $0.decorate { call, next in
                journal.add("decorator")
                return try await next(call.request)
            }
        }
        let item: Resource<String> = fixture.service.resource("item")
        let request = item.loadRequest()
        _ = try await request.content
        _ = try await request.repeated().content
        #expect(journal.all == ["mutation", "decorator", "mutation"])
    }

    /// Renews a token once for all requests that were refused with the old one.
    private actor Login {
        private var token = "old"
        private var renewal: Task<String, any Error>?
        private(set) var renewals = 0

        var current: String { token }

        /// - Parameter resource: A resource whose request was refused. The actor does not hold the service, because the
        ///   service holds the actor.
        func token(after refused: String, by resource: AnyResource) async throws -> String {
            if refused != token { return token }
            if let renewal { return try await renewal.value }
            renewals += 1
            let login = try #require(resource.resource(as: String.self).relative("/v1/login", as: String.self))
            let task = Task<String, any Error> { try await login.request(.post, as: String.self).content }
            renewal = task
            defer { renewal = nil }
            token = try await task.value
            return token
        }
    }

    @Test("A login by hand renews the token once after refusals and repeats the requests")
    func login() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.post, "/v1/login").answer(text: "new")
        for path in ["/v1/a", "/v1/b", "/v1/c"] {
            fixture.transport.on(.get, path).answer { request in
                request.headerFields[.authorization] == "Bearer new"
                    ? ScriptedAnswer(text: path) : ScriptedAnswer(.unauthorized)
            }
        }
        let login = Login()
        try fixture.service.configure("/*", methods: [.get]) {
            $0.decorate { call, next in
                var request = call.request
                let token = await login.current
                request.headerFields[.authorization] = "Bearer \(token)"
                do {
                    return try await next(request)
                } catch let failure as RequestFailure where failure.response?.head.status == .unauthorized {
                    let renewed = try await login.token(after: token, by: call.resource)
                    request.headerFields[.authorization] = "Bearer \(renewed)"
                    return try await next(request)
                }
            }
        }
        let service = fixture.service
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for path in ["a", "b", "c"] {
                group.addTask { try await service.resource(path, as: String.self).load() }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(texts == ["/v1/a", "/v1/b", "/v1/c"])
        #expect(await login.renewals == 1)
        #expect(fixture.transport.requests.filter { $0.method == .post }.map(\.url.path) == ["/v1/login"])
    }
}
