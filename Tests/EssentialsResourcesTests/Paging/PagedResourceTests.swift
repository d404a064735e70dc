import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: lists in pages", .leavesNothing)
struct PagedResourceTests {
    struct Film: Codable, Sendable, Equatable, Identifiable { var id: Int }
    struct Films: Codable, Sendable, Equatable { var films: [Film]; var cursor: String? }

    let fixture: ResourceFixture

    init() throws { fixture = try ResourceFixture() }

    private var transport: ScriptedTransport { fixture.transport }

    private static func link(_ value: String) -> HTTPFields {
        var fields = HTTPFields()
        fields["Link"] = value
        return fields
    }

    private static func films(_ ids: Int...) -> [Film] { ids.map { Film(id: $0) } }

    /// A list of the pages 1 to `count` by number, each with two films.
    private func numbered(_ count: Int, maximumPages: Int = 64) -> PagedResource<[Film], Film> {
        transport.on(.get, "/v1/films").answer { request in
            let page = Int(request.queryItems.first { $0.name == "page" }?.value ?? "1") ?? 1
            return ScriptedAnswer(json: page > count ? [] : [Film(id: page * 2 - 1), Film(id: page * 2)])
        }
        let first: Resource<[Film]> = fixture.service.resource("films")
        return PagedResource(first, by: .number("page") { $0.model.isEmpty }, maximumPages: maximumPages)
    }

    private func queries() -> [String] { transport.requests.map { String($0.url.query ?? "") } }

    // MARK: Next

    @Test("The next page is found by number, and an empty page is the last one")
    func byNumber() async throws {
        let list = numbered(2)
        #expect(list.state.hasNext && list.state.items.isEmpty)
        #expect(try await list.next())
        #expect(list.state.items == Self.films(1, 2))
        #expect(try await list.next())
        #expect(try await list.next())
        #expect(try await list.next() == false)
        #expect(list.state.items == Self.films(1, 2, 3, 4))
        #expect(!list.state.hasNext && list.state.pageCount == 3)
        #expect(queries() == ["", "page=2", "page=3"])
    }

    @Test("The next page is found by a cursor in the content")
    func byCursor() async throws {
        transport.on(.get, "/v1/films").answer { request in
            switch request.queryItems.first(where: { $0.name == "after" })?.value {
            case nil: ScriptedAnswer(json: Films(films: Self.films(1), cursor: "a/b"))
            case "a/b": ScriptedAnswer(json: Films(films: Self.films(2), cursor: ""))
            default: ScriptedAnswer(.notFound)
            }
        }
        let first: Resource<Films> = fixture.service.resource("films")
        let list = PagedResource(first.withParam("size", "1"), by: .cursor("after") { $0.cursor }) { $0.films }
        while try await list.next() {}
        #expect(list.state.items == Self.films(1, 2))
        #expect(queries() == ["size=1", "after=a%2Fb&size=1"])
    }

    @Test("The next page is found by a cursor in a header field, and a cursor that is too long is a failure")
    func byCursorOfResponse() async throws {
        let cursor = Mutex("b")
        transport.on(.get, "/v1/films").answer { request in
            let isFirst = request.queryItems.isEmpty
            var fields = HTTPFields()
            fields["X-Next"] = isFirst ? cursor.withLock { $0 } : ""
            return ScriptedAnswer(json: Self.films(isFirst ? 1 : 2), headerFields: fields)
        }
        let first: Resource<[Film]> = fixture.service.resource("films")
        let paging = Paging<[Film]>.cursor("after", inResponse: { $0.headerFields["X-Next"] })
        let list = PagedResource(first, by: paging)
        while try await list.next() {}
        #expect(list.state.items == Self.films(1, 2))
        #expect(queries() == ["", "after=b"])
        cursor.withLock { $0 = String(repeating: "x", count: 70_000) }
        let failure = await #expect(throws: RequestFailure.self) { try await list.refresh() }
        #expect(failure?.reason == .tooLarge)
    }

    @Test(
        "Pages after the first one are requested as its definition says, also for pages that are read elsewhere",
        arguments: ["number", "link"])
    func definition(paging: String) async throws {
        let fields = paging == "link" ? Self.link("<films?page=2>; rel=\"next\"") : [:]
        transport.on(.get, "/v1/films").answer(data: Data(#"[{"the_id": 1}]"#.utf8), headerFields: fields)
            .thenAnswer(data: Data(#"[{"the_id": 2}]"#.utf8)).thenAnswer(data: Data("[]".utf8))
        var definition = APIRequest<[Named]>(.get, "films")
        definition.codecs = CodecRegistry.standard.registering(JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
        let first = fixture.service.resource(definition)
        let list = PagedResource(first, by: paging == "link" ? .link() : .number("page") { $0.model.isEmpty })
        while try await list.next() {}
        #expect(list.state.items.map(\.theId) == [1, 2])
        #expect(queries().prefix(2) == ["", "page=2"])
        // A handle for the second page by its path has the page's content, and loads it as the definition says.
        let second = fixture.service.resource("films", as: [Named].self).withParam("page", "2")
        #expect(second.content?.map(\.theId) == [2])
    }

    struct Named: Codable, Sendable, Equatable, Identifiable {
        var theId: Int
        var id: Int { theId }
    }

    @Test("An observer of a list with an invalid page size is shown the failure, and nothing is sent")
    func observedSize() async throws {
        let first: Resource<[Film]> = fixture.service.resource("films")
        let list = PagedResource(first, by: .number(size: ("n", 0)))
        var reasons: [RequestFailure.Reason] = []
        for await state in list.states(loading: .ifNeeded) {
            guard let failure = state.failure else { continue }
            reasons.append(failure.reason)
            break
        }
        #expect(reasons == [.invalidRequest])
        #expect(list.state.items.isEmpty && transport.requestCount == 0)
    }

    @Test("The size of a page is in the URL of every page, and a size below 1 is a failure without a request")
    func size() async throws {
        transport.on(.get, "/v1/films").answer { request in
            let isSecond = request.queryItems.contains { $0.name == "page" }
            return ScriptedAnswer(json: isSecond ? [] : Self.films(1))
        }
        let first: Resource<[Film]> = fixture.service.resource("films")
        let list = PagedResource(first, by: .number(size: ("n", 1)))
        while try await list.next() {}
        #expect(list.state.items == Self.films(1))
        #expect(queries() == ["n=1", "n=1&page=2"])
        let invalid = PagedResource(first, by: .number(size: ("n", 0)))
        let failure = await #expect(throws: RequestFailure.self) { try await invalid.next() }
        #expect(failure?.reason == .invalidRequest)
        #expect(transport.requestCount == 2)
    }

    @Test("The next page is found by a link field, relative to the page")
    func byLink() async throws {
        transport.on(.get, "/v1/films").answer(json: Self.films(1), headerFields: Self.link("<pages/2?x=1>; rel=next"))
        transport.on(.get, "/v1/pages/2").answer(
            json: Self.films(2), headerFields: Self.link("</v1/films>; rel=prev, <3>; rel=\"other next\""))
        transport.on(.get, "/v1/pages/3").answer(json: Self.films(3))
        let list = PagedResource(fixture.service.resource("films", as: [Film].self), by: .link())
        while try await list.next() {}
        #expect(list.state.items == Self.films(1, 2, 3))
        #expect(transport.requests.map(\.url.path) == ["/v1/films", "/v1/pages/2", "/v1/pages/3"])
    }

    @Test("The next page is found by a URL in the content, and a list that links back to itself ends")
    func leadsBack() async throws {
        transport.on(.get, "/v1/films").answer(json: Films(films: Self.films(1), cursor: "/v1/more"))
        transport.on(.get, "/v1/more").answer(json: Films(films: Self.films(2), cursor: "films"))
        let first: Resource<Films> = fixture.service.resource("films")
        let list = PagedResource(first, by: .link { $0.cursor }) { $0.films }
        var calls = 0
        while try await list.next(), calls < 10 { calls += 1 }
        #expect(list.state.items == Self.films(1, 2))
        try await list.refresh(.all)
        #expect(list.state.items == Self.films(1, 2))
    }

    @Test("A link to another origin is not followed unless its host is listed, and an invalid one is a failure")
    func foreign() async throws {
        for (link, reason) in [
            ("https://other/x", RequestFailure.Reason.hostRefused), ("ftp://h/x", .protocolViolation),
        ] {
            let fixture = try ResourceFixture()
            fixture.transport.on(.get, "/v1/films").answer(
                json: Self.films(1), headerFields: Self.link("<\(link)>; rel=next"))
            let list = PagedResource(fixture.service.resource("films", as: [Film].self), by: .link())
            let failure = await #expect(throws: RequestFailure.self) { while try await list.next() {} }
            #expect(failure?.reason == reason)
            #expect(fixture.transport.requestCount == 1)
        }
    }

    @Test("Tasks that request the next page at the same time load one page")
    func concurrent() async throws {
        let latch = Latch()
        transport.on(.get, "/v1/films").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Self.films(1))
        }
        let list = PagedResource(
            fixture.service.resource("films", as: [Film].self), by: .number("page") { _ in false })
        let tasks = (0..<100).map { _ in Task { try await list.next() } }
        _ = try await transport.request(number: 1)
        tasks[0].cancel()
        await #expect(throws: RequestFailure(.cancelled, "")) { _ = try await tasks[0].value }
        #expect(list.state.isLoading)
        latch.open()
        for task in tasks.dropFirst() { #expect(try await task.value) }
        #expect(list.state.pageCount == 1)
        #expect(transport.requestCount == 1)
    }

    @Test("The load of a page ends when the last task has stopped waiting, and the list does not fail")
    func abandoned() async throws {
        let latch = Latch()
        transport.on(.get, "/v1/films").once().answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Self.films(1))
        }
        let list = numbered(1)
        let task = Task { try await list.next() }
        while transport.requestCount == 0 { await Task.yield() }
        task.cancel()
        _ = await task.result
        while list.state.isLoading { await Task.yield() }
        #expect(list.state.failure == nil && !list.first.isLoading)
        latch.open()
        #expect(try await list.next())
    }

    // MARK: Failures

    @Test("After a failure the list stays, and only the failed page is loaded again")
    func failure() async throws {
        let first: Resource<[Film]> = fixture.service.resource("films")
        let isBroken = Mutex(true)
        transport.on(.get, "/v1/films").answer { request in
            let page = Int(request.queryItems.first?.value ?? "1") ?? 1
            if page == 2, isBroken.withLock({ $0 }) { return ScriptedAnswer(.notFound) }
            return ScriptedAnswer(json: [Film(id: page)])
        }
        let list = PagedResource(first, by: .number("page") { $0.model.first?.id == 3 })
        try await list.next()
        await #expect(throws: RequestFailure.self) { try await list.next() }
        #expect(list.state.failure?.status == .notFound)
        #expect(list.state.items == Self.films(1) && list.state.hasNext)
        isBroken.withLock { $0 = false }
        fixture.clock.advance(by: .seconds(2))
        #expect(try await list.retry())
        #expect(list.state.failure == nil && list.state.items == Self.films(1, 2))
        #expect(try await list.retry() == false)
        #expect(queries() == ["", "page=2", "page=2"])
    }

    @Test("A refresh that fails in the middle keeps the old list, and continues with the failed page")
    func refreshFailure() async throws {
        let generation = Mutex(0)
        let isBroken = Mutex(false)
        transport.on(.get, "/v1/films").answer { request in
            let page = Int(request.queryItems.first?.value ?? "1") ?? 1
            if page == 2, isBroken.withLock({ $0 }) { return ScriptedAnswer(.internalServerError) }
            return ScriptedAnswer(json: [Film(id: generation.withLock { $0 } + page)])
        }
        let list = PagedResource(
            fixture.service.resource("films", as: [Film].self), by: .number("page") { $0.model[0].id % 10 == 3 })
        while try await list.next() {}
        generation.withLock { $0 = 10 }
        isBroken.withLock { $0 = true }
        await #expect(throws: RequestFailure.self) { try await list.refresh(.allThenSwap) }
        #expect(list.state.items == Self.films(1, 2, 3))
        isBroken.withLock { $0 = false }
        #expect(try await list.retry())
        #expect(list.state.items == Self.films(11, 12, 13))
        #expect(queries() == ["", "page=2", "page=3", "", "page=2", "page=2", "page=3"])
    }

    // MARK: Refreshing

    @Test(
        "A refresh of all pages follows the new cursors, one request for each shown page",
        arguments: [
            PageRefresh.all, .allThenSwap,
        ])
    func refreshFollowsNewCursors(mode: PageRefresh) async throws {
        let generation = Mutex("a")
        transport.on(.get, "/v1/films").answer { request in
            let name = generation.withLock { $0 }
            switch request.queryItems.first?.value {
            case nil: return ScriptedAnswer(json: Films(films: Self.films(1), cursor: name + "2"))
            case name + "2": return ScriptedAnswer(json: Films(films: Self.films(2), cursor: name + "3"))
            case name + "3": return ScriptedAnswer(json: Films(films: Self.films(3)))
            default: return ScriptedAnswer(.gone)
            }
        }
        let first: Resource<Films> = fixture.service.resource("films")
        let list = PagedResource(first, by: .cursor("c") { $0.cursor }) { $0.films }
        try await list.next()
        try await list.next()
        generation.withLock { $0 = "b" }
        try await list.refresh(mode)
        #expect(list.state.pageCount == 2)
        try await list.next()
        #expect(list.state.items == Self.films(1, 2, 3))
        #expect(queries() == ["", "c=a2", "", "c=b2", "c=b3"])
    }

    @Test("A refresh of the first page shows the old list until the page is loaded, and then only this page")
    func refreshFirst() async throws {
        let list = numbered(3)
        while try await list.next() {}
        let version = list.state.version
        try await list.refresh(.first)
        #expect(list.state.items == Self.films(1, 2) && list.state.hasNext)
        #expect(list.state.version > version)
        #expect(transport.requestCount == 5)
        #expect(try await list.next())
        #expect(transport.requestCount == 5)
    }

    @Test("Pages that are replaced together are never shown partly, and each state has a greater version")
    func swap() async throws {
        let generation = Mutex(0)
        transport.on(.get, "/v1/films").answer { request in
            let page = Int(request.queryItems.first?.value ?? "1") ?? 1
            return ScriptedAnswer(json: [Film(id: generation.withLock { $0 } + page)])
        }
        let list = PagedResource(
            fixture.service.resource("films", as: [Film].self), by: .number("page") { $0.model[0].id % 100 == 3 })
        while try await list.next() {}
        let seen = Mutex<[PagedState<Film>]>([])
        let reader = Task {
            for await state in list.states { seen.withLock { $0.append(state) } }
        }
        while list.first.observerCount == 0 { await Task.yield() }
        for number in 1...20 {
            generation.withLock { $0 = number * 100 }
            try await list.refresh(.allThenSwap)
        }
        while seen.withLock({ $0.last?.items.first?.id }) != 2_001 { await Task.yield() }
        reader.cancel()
        await reader.value
        let states = seen.withLock { $0 }
        #expect(states.allSatisfy { state in Set(state.items.map { $0.id / 100 }).count == 1 })
        #expect(zip(states, states.dropFirst()).allSatisfy { $0.version < $1.version })
    }

    // MARK: The list

    @Test("Beyond the maximum the pages at the far end are dropped, and come back without a request while fresh")
    func maximum() async throws {
        let list = numbered(9, maximumPages: 2)
        for _ in 0..<4 { try await list.next() }
        #expect(list.state.items == Self.films(5, 6, 7, 8) && list.state.hasPrevious)
        #expect(try await list.previous())
        #expect(list.state.items == Self.films(3, 4, 5, 6))
        #expect(try await list.previous())
        #expect(try await list.previous() == false)
        #expect(list.state.items == Self.films(1, 2, 3, 4) && !list.state.hasPrevious && list.state.hasNext)
        #expect(transport.requestCount == 4)
    }

    @Test("An ID that occurs on two pages counts once")
    func ids() async throws {
        transport.on(.get, "/v1/films").answer(json: Self.films(1, 2)).thenAnswer(json: Self.films(2, 3))
        let list = PagedResource(
            fixture.service.resource("films", as: [Film].self), by: .number("page") { _ in false })
        try await list.next()
        try await list.next()
        #expect(list.state.items == Self.films(1, 2, 3))
    }

    @Test("A page that is changed elsewhere changes the list, and wiped pages are not shown")
    func changedPages() async throws {
        let list = numbered(3)
        for _ in 0..<3 { try await list.next() }
        var version = list.state.version
        let second: Resource<[Film]> = fixture.service.resource("films").withParam("page", "2")
        second.override(with: Self.films(30))
        #expect(list.state.items == Self.films(1, 2, 30, 5, 6))
        #expect(list.state.version > version)
        version = list.state.version
        second.wipe()
        #expect(list.state.items == Self.films(1, 2) && list.state.hasNext)
        #expect(list.state.version > version)
        list.first.wipe()
        #expect(list.state.items.isEmpty)
        #expect(try await list.next())
        #expect(list.state.items == Self.films(1, 2))
    }

    @Test(
        "After a change of the environment nothing of the old server is shown, and the list begins with its first page")
    func environment() async throws {
        let list = numbered(3)
        for _ in 0..<2 { try await list.next() }
        transport.on(.get, "/v2/films").answer(json: Self.films(9))
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
        fixture.service.checkEnvironment()
        #expect(list.state.items.isEmpty)
        #expect(try await list.next())
        #expect(list.state.items == Self.films(9))
    }

    @Test("The states of a failed refresh are not shown after the account was left, even if the pages have new content")
    func leftAccount() async throws {
        let list = numbered(3)
        for _ in 0..<2 { try await list.next() }
        transport.on(.get, "/v1/films").answer(.internalServerError)
        await #expect(throws: RequestFailure.self) { try await list.refresh(.allThenSwap) }
        #expect(list.state.items == Self.films(1, 2, 3, 4))
        fixture.service.enter("bob")
        // The list was not read since the account was left.
        list.first.override(with: Self.films(9))
        fixture.service.resource("films", as: [Film].self).withParam("page", "2").override(with: Self.films(10))
        #expect(list.state.items.isEmpty && list.state.failure == nil)
        #expect(try await list.next())
        #expect(list.state.items == Self.films(9))
    }

    @Test("Observing loads the first page if none is shown, keeps the shown pages, and ends with the service")
    func observing() async throws {
        let list = numbered(3)
        var states = list.states(loading: .ifNeeded).makeAsyncIterator()
        var state = try #require(await states.next())
        while state.items.isEmpty { state = try #require(await states.next()) }
        #expect(state.items == Self.films(1, 2))
        try await list.next()
        while state.pageCount < 2 { state = try #require(await states.next()) }
        let second: Resource<[Film]> = fixture.service.resource("films").withParam("page", "2")
        #expect(list.first.observerCount == 1 && second.observerCount == 1)
        await fixture.service.close()
        while await states.next() != nil {}
    }

    @Test("Three pages of a server are loaded over a connection, although the second one fails once")
    func loopback() async throws {
        let failures = Mutex(1)
        let server = try LoopbackServer { request in
            let page = Int(request.query("page") ?? "1") ?? 1
            let isBroken =
                page == 2
                && failures.withLock { failures in
                    defer { failures -= 1 }
                    return failures > 0
                }
            if isBroken { return .response(status: 500) }
            let link = page < 3 ? [("Link", "</films?page=\(page + 1)>; rel=\"next\"")] : []
            return .response(headers: [("Content-Type", "application/json")] + link, body: "[{\"id\":\(page)}]")
        }
        let environment = try ConstantEnvironment(server.url)
        var settings = HTTPDataRequestService.Configuration()
        settings.retry = .never
        let requests = HTTPDataRequestService(
            environment: environment, transport: try CurlTransport(), configuration: settings)
        let service = try HTTPResourceService(requests: requests, environment: environment)
        try service.configure("/**") { $0.retryTime = .zero }
        let list = PagedResource(service.resource("films", as: [Film].self), by: .link())
        try await list.next()
        await #expect(throws: RequestFailure.self) { try await list.next() }
        #expect(list.state.items == Self.films(1))
        #expect(try await list.retry())
        while try await list.next() {}
        #expect(list.state.items == Self.films(1, 2, 3))
        #expect(server.requests.map(\.target) == ["/films", "/films?page=2", "/films?page=2", "/films?page=3"])
        await service.close()
        await requests.shutdown()
    }
}
