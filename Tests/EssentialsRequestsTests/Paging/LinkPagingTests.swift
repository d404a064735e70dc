import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Paging by links")
struct LinkPagingTests {
    private typealias User = PagingFixture.User
    private typealias UserList = PagingFixture.UserList
    private typealias Pages = PageSequence<[User]>

    private struct Problem: Codable, Sendable { var title: String }
    private struct Unprepared: Error {}

    @Test("Pages follow the link with the relation next until a page has none")
    func follows() async throws {
        let fixture = try PagingFixture()
        fixture.serveLinks()
        var (indices, statuses): ([Int], [Int]) = ([], [])
        var users: [[User]] = []
        for try await page in fixture.requests.pages(
            of: .get("users", parameters: ["role": "admin"]), as: [User].self)
        {
            indices.append(page.index)
            statuses.append(page.response.status.code)
            users.append(page.model)
        }
        #expect(indices == [0, 1, 2])
        #expect(statuses == [200, 200, 200])
        #expect(users == PagingFixture.pages)
        // The query of a link replaces the query of the request.
        #expect(fixture.targets == ["/v1/users?role=admin", "/v1/users?page=2", "/v1/users?page=3"])
    }

    @Test("One request is sent for each page that is asked for, and every iteration begins with the first page")
    func lazy() async throws {
        let fixture = try PagingFixture()
        fixture.serveLinks()
        let pages = fixture.requests.pages(of: .get("users", query: ["role": "admin"]), as: [User].self)
        #expect(fixture.targets == [])
        var iterator = pages.makeAsyncIterator()
        #expect(try await iterator.next()?.model == PagingFixture.pages[0])
        #expect(fixture.targets.count == 1)
        var copy = iterator
        #expect(try await iterator.next()?.model == PagingFixture.pages[1])
        #expect(try await copy.next()?.model == PagingFixture.pages[1])
        #expect(fixture.targets.count == 3)
        #expect(try await iterator.next()?.index == 2)
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(fixture.targets.count == 4)

        var again: [User] = []
        for try await page in pages.prefix(2) { again += page.model }
        #expect(again == PagingFixture.pages[0] + PagingFixture.pages[1])
        #expect(fixture.targets.suffix(2) == ["/v1/users?role=admin", "/v1/users?page=2"])
    }

    @Test("The parts of the request other than its path and query are the same for every page")
    func keepsRequest() async throws {
        let fixture = try PagingFixture()
        fixture.transport.on(.post, "/v1/search")
            .answer(.accepted, json: [User(id: 1)], headerFields: .fields("Link", "<?p=2>; rel=next"))
        fixture.transport.on(.post, "/v1/search", query: ["p": "2"]).answer(.badRequest, json: Problem(title: "p"))
        var request = DataRequest(.post, "search?p=1", parameters: ["name": "Ada"], query: ["x": "1"])
        request.headerFields["X-Tenant"] = "acme"
        request.options.totalTimeout = .seconds(7)
        request.expectedStatus = [202...202]
        request.errorModel = Problem.self
        let (models, failure) = await collected(fixture.requests.pages(of: request, as: [User].self))
        #expect(models == [[User(id: 1)]])
        #expect(failure?.reason == .status)
        #expect(failure?.errorModel(as: Problem.self)?.title == "p")
        #expect(fixture.targets == ["/v1/search?p=1&x=1", "/v1/search?p=2"])
        for sent in fixture.transport.requests {
            #expect(sent.headerFields["X-Tenant"] == "acme")
            #expect(sent.options.totalTimeout == .seconds(7))
            #expect(sent.bodyText == #"{"name":"Ada"}"#)
        }
    }

    @Test("The URL of the next page can be in the model, and an empty one ends the list")
    func linkInModel() async throws {
        let fixture = try PagingFixture()
        let next = "https://api.example.com/v1/users?cursor=b%2Fc"
        fixture.answer("/v1/users", UserList(users: [User(id: 1)], next: next))
        fixture.answer("/v1/users?cursor=b%2Fc", UserList(users: [User(id: 2)], next: ""))
        let pages = fixture.requests.pages(of: .get("users"), as: UserList.self, by: .link(in: \.next))
        let (lists, failure) = await collected(pages)
        #expect(failure == nil)
        #expect(lists.flatMap(\.users) == [User(id: 1), User(id: 2)])
    }

    @Test(
        "A link that leaves the environment is refused, and nothing is sent",
        arguments: [
            ("https://evil.example/v1/users?page=2&token=secret", RequestFailure.Reason.hostRefused),
            ("//evil.example/v1/users?secret", .hostRefused), ("http://api.example.com/v1/users", .hostRefused),
            ("https://api.example.com:8443/v1/users", .hostRefused), ("/v2/users?secret", .invalidRequest),
            ("../admin?secret", .invalidRequest), ("/v1/..%2fadmin", .invalidRequest), ("/v1evil", .invalidRequest),
            ("ftp://api.example.com/v1/users", .protocolViolation),
            ("https://ada:secret@api.example.com/v1/users", .protocolViolation), ("/v1/%zz", .protocolViolation),
        ])
    func leaves(target: String, reason: RequestFailure.Reason) async throws {
        let fixture = try PagingFixture()
        fixture.requests.setAuthorization(try .bearer("token"))
        fixture.answer("/v1/users", [User(id: 1)], link: "<\(target)>; rel=next")
        let pages = fixture.requests.pages(of: .get("users"), as: [User].self)
        var iterator = pages.makeAsyncIterator()
        #expect(try await iterator.next()?.model == [User(id: 1)])
        let failure = try #require(await #expect(throws: RequestFailure.self) { try await iterator.next() })
        #expect(failure.reason == reason)
        #expect(failure.host == "api.example.com")
        #expect(!"\(failure)\(failure.remedy ?? "")".contains("secret"))
        #expect(try await iterator.next() == nil)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("The failures for refused links say where the link leads and what to do")
    func texts() async throws {
        let fixture = try PagingFixture()
        fixture.answer("/v1/users", [User(id: 1)], link: "<https://evil.example/x>; rel=next")
        fixture.answer("/v1/teams", [User(id: 1)], link: "</v2/teams>; rel=next")
        let origin = await collected(fixture.requests.pages(of: .get("users"), as: [User].self)).failure
        #expect(
            origin?.message == "The link after page 1 leads to https://evil.example instead of "
                + "https://api.example.com, so it was not requested.")
        #expect(origin?.remedy?.contains("credentials") == true)
        let path = await collected(fixture.requests.pages(of: .get("teams"), as: [User].self)).failure
        #expect(
            path?.message == "The link to page 2 was not requested. The path climbs out of /v1/, the base URL's path.")
        #expect(path?.remedy?.contains("base URL") == true)
    }

    @Test(
        "A failure of an interceptor on a later page keeps its texts and does not blame the link",
        arguments: [true, false])
    func interceptorFailure(throwsFailure: Bool) async throws {
        let own = RequestFailure(.invalidRequest, "No tenant is selected.", remedy: "Select a tenant.")
        let fixture = try PagingFixture { configuration in
            configuration.interceptors = [
                Intercepting { draft in
                    guard draft.request.path.contains("page=2") else { return }
                    if throwsFailure { throw own }
                    throw Unprepared()
                }
            ]
        }
        fixture.answer("/v1/users", [User(id: 1)], link: "<?page=2>; rel=next")
        let (models, failure) = await collected(fixture.requests.pages(of: .get("users"), as: [User].self))
        #expect(models.count == 1)
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.message == (throwsFailure ? own.message : "The interceptor Intercepting refused the request."))
        #expect(failure?.remedy == (throwsFailure ? own.remedy : "See the underlying error."))
        #expect((failure?.underlying is Unprepared) == !throwsFailure)
    }

    @Test("A failure of the first page is not changed")
    func firstFailure() async throws {
        let fixture = try PagingFixture()
        let invalid = await collected(fixture.requests.pages(of: .get("../x"), as: [User].self)).failure
        #expect(invalid?.message.hasPrefix("The path climbs out of") == true)
        let unbuilt = RequestBuilder(.post, "users").body(text: "a").body(text: "b", type: nil).body(model: User(id: 1))
        let conflict = await collected(fixture.requests.pages(of: unbuilt, as: [User].self)).failure
        #expect(conflict?.reason == .invalidRequest)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("A link to a page that was already requested ends the list with a failure")
    func loop() async throws {
        let fixture = try PagingFixture()
        fixture.answer("/v1/users", [User(id: 1)], link: "<?page=2>; rel=next")
        fixture.answer("/v1/users?page=2", [User(id: 2)], link: "</v1/users#top>; rel=next")
        fixture.answer("/v1/self", [User(id: 1)], link: "<>; rel=next")
        let (models, failure) = await collected(fixture.requests.pages(of: .get("users"), as: [User].self))
        #expect(models.count == 2)
        #expect(failure?.reason == .protocolViolation)
        #expect(failure?.message == "The link after page 2 leads to a page that was already requested.")
        let own = await collected(fixture.requests.pages(of: .get("self"), as: [User].self))
        #expect(own.models.count == 1)
        #expect(own.failure?.reason == .protocolViolation)
    }

    @Test("An endless list fails at the maximum number of pages, and a list with exactly that many pages does not")
    func maximum() async throws {
        let fixture = try PagingFixture()
        fixture.transport.on(.get, "/v1/users").answer { request in
            let number = Int(request.url.query?.dropFirst(2) ?? "1") ?? 1
            return ScriptedAnswer(
                json: [User(id: number)], headerFields: .fields("Link", "<?p=\(number + 1)>; rel=next"))
        }
        let (models, failure) = await collected(
            fixture.requests.pages(of: .get("users"), as: [User].self, maximumPages: 5))
        #expect(models.flatMap { $0 }.map(\.id) == [1, 2, 3, 4, 5])
        #expect(failure?.reason == .tooLarge)
        #expect(failure?.message == "The list has more than the maximum of 5 pages.")
        #expect(fixture.transport.requestCount == 5)
        let standard = await collected(fixture.requests.pages(of: .get("users"), as: [User].self))
        #expect(standard.models.count == Pages.standardMaximum)

        fixture.serveLinks()
        let exact = fixture.requests.pages(of: .get("users?role=admin"), as: [User].self, maximumPages: 3)
        #expect(await collected(exact).failure == nil)
        let none = fixture.requests.pages(of: .get("users"), as: [User].self, maximumPages: 0)
        #expect(await collected(none).failure?.reason == .tooLarge)
    }

    @Test("A redirect within the environment is followed, and links are relative to the URL after it")
    func redirect() async throws {
        let fixture = try PagingFixture()
        fixture.transport.on(.get, "/v1/users").answer(.found, headerFields: [.location: "/v1/people/all"])
        fixture.answer("/v1/people/all", [User(id: 1)], link: "<more>; rel=next")
        fixture.answer("/v1/people/more", [User(id: 2)])
        let (models, failure) = await collected(fixture.requests.pages(of: .get("users"), as: [User].self))
        #expect(failure == nil)
        #expect(models.flatMap { $0 } == [User(id: 1), User(id: 2)])
    }

    @Test("After a redirect to another origin, only links back to the environment are requested")
    func redirectElsewhere() async throws {
        let fixture = try PagingFixture()
        fixture.transport.on { $0.url.target == "/v1/users" }
            .answer(.found, headerFields: [.location: "https://cdn.example/1"])
        fixture.answer("/1", [User(id: 1)], link: "<2>; rel=next")
        let other = await collected(fixture.requests.pages(of: .get("users"), as: [User].self)).failure
        #expect(other?.reason == .hostRefused)
        fixture.answer("/1", [User(id: 1)], link: "<https://api.example.com/v1/users?page=2>; rel=next")
        fixture.answer("/v1/users?page=2", [User(id: 2)])
        let back = await collected(fixture.requests.pages(of: .get("users"), as: [User].self))
        #expect(back.failure == nil)
        #expect(back.models.count == 2)
    }

    @Test("Links with another relation or for another resource are not followed")
    func otherLinks() async throws {
        let fixture = try PagingFixture()
        fixture.answer(
            "/v1/users", [User(id: 1)], link: #"<?page=9>; rel=last, <?page=2>; rel=next; anchor="/v1/teams""#)
        let pages = fixture.requests.pages(of: .get("users"), as: [User].self)
        #expect(await collected(pages).models.count == 1)
        let last = fixture.requests.pages(of: .get("users"), as: [User].self, by: .link(relation: "LAST"))
        fixture.answer("/v1/users?page=9", [User(id: 9)])
        #expect(await collected(last).models.flatMap { $0 }.map(\.id) == [1, 9])

        let response = try await fixture.requests.send(.get("users"))
        #expect(response.links.map(\.target) == ["?page=9", "?page=2"])
        #expect(response.link(rel: "Last")?.target == "?page=9")
        #expect(response.link(rel: "next") == nil)
    }

    @Test("A test double that implements one method serves pages, with and without a leading slash in the path")
    func double() async throws {
        let seen = Mutex<[String]>([])
        let requests: any DataRequestService = ListDouble { request in
            seen.withLock { $0.append(request.path) }
            let isFirst = !request.path.contains("?")
            let fields: HTTPFields = isFirst ? .fields("Link", "<?page=2>; rel=next") : [:]
            return DataResponse(headerFields: fields, body: Data("[{\"id\":\(isFirst ? 1 : 2)}]".utf8))
        }
        for path in ["users", "/users"] {
            let (models, failure) = await collected(requests.pages(of: .get(path), as: [User].self))
            #expect(failure == nil)
            #expect(models == [[User(id: 1)], [User(id: 2)]])
        }
        #expect(seen.withLock { $0 } == ["users", "/users?page=2", "/users", "/users?page=2"])
    }
}
