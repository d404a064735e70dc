import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Paging by cursors and numbers")
struct CountedPagingTests {
    private typealias User = PagingFixture.User
    private typealias UserList = PagingFixture.UserList

    // MARK: Cursors

    @Test("A cursor of the model replaces the query parameter wherever the request has it")
    func cursor() async throws {
        let fixture = try PagingFixture()
        fixture.answer("/v1/users?a=1&after=x&b=2&role=admin", UserList(users: PagingFixture.pages[0], next: "k&1"))
        fixture.answer("/v1/users?a=1&b=2&after=k%261&role=admin", UserList(users: PagingFixture.pages[1], next: "é"))
        fixture.answer("/v1/users?a=1&b=2&after=%C3%A9&role=admin", UserList(users: PagingFixture.pages[2]))
        let request = DataRequest(.get, "users?a=1&after=x", parameters: ["role": "admin"], query: ["b": "2"])
        let pages = fixture.requests.pages(of: request, as: UserList.self, by: .cursor("after", in: \.next))
        let (lists, failure) = await collected(pages)
        #expect(failure == nil)
        #expect(lists.map(\.users) == PagingFixture.pages)
    }

    @Test("A cursor among the parameters is replaced, and one beside a body is added to the query")
    func cursorPlaces() async throws {
        let fixture = try PagingFixture()
        fixture.transport.on(nil, "/v1/users").answer { request in
            ScriptedAnswer(json: UserList(users: [], next: request.url.target.contains("after=b") ? nil : "b"))
        }
        let parameters: FormParameters = ["after": "a", "x": 1]
        let paging = Paging<UserList>.cursor("after", in: \.next)
        for method in [HTTPRequest.Method.get, .post] {
            let request = DataRequest(method, "users", parameters: parameters)
            #expect(await collected(fixture.requests.pages(of: request, as: UserList.self, by: paging)).failure == nil)
        }
        #expect(
            fixture.targets == ["/v1/users?after=a&x=1", "/v1/users?after=b&x=1", "/v1/users", "/v1/users?after=b"])
        #expect(fixture.transport.requests.last?.bodyText == #"{"after":"a","x":1}"#)
    }

    @Test("A cursor can be a number, and can be in a header field")
    func otherCursors() async throws {
        struct Numbered: Codable, Sendable { var last: Int }
        let fixture = try PagingFixture()
        fixture.answer("/v1/a", Numbered(last: 7))
        fixture.answer("/v1/a?since=7", Numbered(last: 0))
        let numbers = fixture.requests.pages(
            of: .get("a"), as: Numbered.self, by: .cursor("since") { $0.last == 0 ? nil : $0.last })
        #expect(await collected(numbers).models.map(\.last) == [7, 0])

        fixture.transport.on(.get, "/v1/b").answer(json: [User(id: 1)], headerFields: .fields("X-Next", "n"))
        fixture.answer("/v1/b?c=n", [User(id: 2)])
        let fields = fixture.requests.pages(
            of: .get("b"), as: [User].self, by: .cursor("c", inResponse: { $0.headerFields["X-Next"] }))
        #expect(await collected(fields).models.flatMap { $0 }.map(\.id) == [1, 2])
    }

    @Test("A cursor that repeats ends the list with a failure that does not show it")
    func repeatedCursor() async throws {
        let fixture = try PagingFixture()
        fixture.transport.on(.get, "/v1/users").answer { request in
            let isSecond = request.url.target.hasSuffix("secret1")
            return ScriptedAnswer(json: UserList(users: [], next: isSecond ? "secret2" : "secret1"))
        }
        let (lists, failure) = await collected(
            fixture.requests.pages(of: .get("users"), as: UserList.self, by: .cursor("after", in: \.next)))
        #expect(lists.count == 3)
        #expect(failure?.reason == .protocolViolation)
        #expect(failure?.message == "The cursor after page 3 leads to a page that was already requested.")

        let long = UserList(users: [], next: String(repeating: "x", count: 70_000))
        fixture.answer("/v1/long", long)
        let endless = await collected(
            fixture.requests.pages(of: .get("long"), as: UserList.self, by: .cursor("after", in: \.next))
        ).failure
        #expect(endless?.reason == .tooLarge)
        let link = await collected(
            fixture.requests.pages(of: .get("long"), as: UserList.self, by: .link(in: \.next))
        ).failure
        #expect(link?.reason == .tooLarge)
    }

    // MARK: Environments

    @Test(
        "A list by cursor or number fails if the base URL changes, and no page of the other environment is delivered",
        arguments: ["https://other.example.com/v1/", "https://api.example.com/v2/"], [true, false])
    func changedEnvironment(baseURL: String, isByCursor: Bool) async throws {
        let transport = ScriptedTransport()
        let environment = try MutableEnvironment("https://api.example.com/v1/")
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        transport.on { _ in true }.answer { request in
            ScriptedAnswer(json: UserList(users: [User(id: 1)], next: request.url.query.map { $0 + "x" } ?? "k"))
        }
        let paging: Paging<UserList> = isByCursor ? .cursor("after", in: \.next) : .number(pageCount: { _ in 9 })
        var iterator = requests.pages(of: .get("users"), as: UserList.self, by: paging).makeAsyncIterator()
        for index in 0...1 { #expect(try await iterator.next()?.index == index) }
        try environment.set(baseURL: baseURL)
        let failure = try #require(await #expect(throws: RequestFailure.self) { try await iterator.next() })
        #expect(failure.reason == .hostRefused)
        #expect(
            failure.message == "Page 3 was requested from \(baseURL)users, and the pages before it from "
                + "https://api.example.com/v1/users.")
        #expect(failure.remedy == "The environment has changed, so begin the list again.")
        #expect(try await iterator.next() == nil)
        #expect(transport.requestCount == 3)
        #expect(try await requests.pages(of: .get("users"), as: UserList.self, by: paging).first { _ in true } != nil)
    }

    @Test("A list by links fails if the base URL changes, and nothing is sent to the other environment")
    func changedEnvironmentOfLinks() async throws {
        let transport = ScriptedTransport()
        let environment = try MutableEnvironment("https://api.example.com/v1/")
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        transport.on { _ in true }.answer(json: [User(id: 1)], headerFields: .fields("Link", "<?page=2>; rel=next"))
        var iterator = requests.pages(of: .get("users"), as: [User].self).makeAsyncIterator()
        #expect(try await iterator.next()?.index == 0)
        try environment.set(baseURL: "https://other.example.com/v1/")
        let failure = try #require(await #expect(throws: RequestFailure.self) { try await iterator.next() })
        #expect(failure.reason == .invalidRequest)
        #expect(failure.message.contains("https://api.example.com instead of https://other.example.com"))
        #expect(transport.requestCount == 1)
    }

    // MARK: Numbers

    @Test("Numbers count from the first one until a page is empty, beside the parameter for the size")
    func numbers() async throws {
        let fixture = try PagingFixture()
        fixture.transport.on(.get, "/v1/users").answer { request in
            let number = Int(request.url.query?.split(separator: "=").last ?? "") ?? 0
            return ScriptedAnswer(json: number < 3 ? PagingFixture.pages[number] : [])
        }
        let pages = fixture.requests.pages(
            of: .get("users?page=8", query: ["per_page": "9"]), as: [User].self,
            by: .number("page", from: 0, size: ("per_page", 2)))
        #expect(await collected(pages).models == PagingFixture.pages + [[]])
        #expect(fixture.targets == (0...3).map { "/v1/users?per_page=2&page=\($0)" })
    }

    @Test("A number of pages, a number of items or a closure ends the list without a further request")
    func ends() async throws {
        let fixture = try PagingFixture()
        fixture.transport.on(.get, "/v1/users").answer { request in
            let last = request.url.target.hasSuffix("=3") || request.url.target.hasSuffix("=4")
            return ScriptedAnswer(json: UserList(users: last ? PagingFixture.pages[2] : PagingFixture.pages[0]))
        }
        let rules: [(Paging<UserList>, [String])] = [
            (.number(pageCount: \.pages), ["?page=1", "?page=2", "?page=3"]),
            (.number("p", size: ("n", 2), itemCount: \.total), ["?n=2&p=1", "?n=2&p=2", "?n=2&p=3"]),
            (.number("p", size: ("n", .max), itemCount: \.total), ["?n=\(Int.max)&p=1"]),
            (
                .number("offset", from: 0, step: 2) { $0.model.users.count < 2 },
                ["?offset=0", "?offset=2", "?offset=4"]
            ),
            (.number("p", from: 3, step: -1) { $0.index == 1 }, ["?p=3", "?p=2"]),
        ]
        for (paging, queries) in rules {
            let before = fixture.transport.requestCount
            #expect(
                await collected(fixture.requests.pages(of: .get("users"), as: UserList.self, by: paging)).failure
                    == nil)
            #expect(fixture.targets.dropFirst(before) == queries.map { "/v1/users" + $0 }[...])
        }
    }

    @Test("A number that does not fit and a size below one fail instead of trapping")
    func unfitNumbers() async throws {
        let fixture = try PagingFixture()
        fixture.transport.on(.get, "/v1/users").answer(json: [User(id: 1)])
        for paging in [Paging<[User]>.number(from: .max), .number(step: .max), .number(from: .min, step: -1)] {
            let failure = await collected(fixture.requests.pages(of: .get("users"), as: [User].self, by: paging))
                .failure
            #expect(failure?.reason == .tooLarge)
            #expect(failure?.message.contains("does not fit into an Int") == true)
        }
        let sent = fixture.transport.requestCount
        let size = await collected(
            fixture.requests.pages(of: .get("users"), as: [User].self, by: .number(size: ("n", 0)))
        ).failure
        #expect(size?.reason == .invalidRequest)
        #expect(fixture.transport.requestCount == sent)
    }
}
