import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Page sequences")
struct PageSequenceTests {
    private typealias User = PagingFixture.User
    private typealias UserList = PagingFixture.UserList

    @Test("The items of all pages come in order, and empty pages are passed over")
    func items() async throws {
        let fixture = try PagingFixture()
        fixture.answer("/v1/users", [User](), link: "<?page=2>; rel=next")
        fixture.answer("/v1/users?page=2", PagingFixture.pages[0], link: "<?page=3>; rel=next")
        fixture.answer("/v1/users?page=3", [User](), link: "<?page=4>; rel=next")
        fixture.answer("/v1/users?page=4", PagingFixture.pages[2])
        let items = fixture.requests.pages(of: .get("users"), as: [User].self).items
        var found: [Int] = []
        for try await user in items { found.append(user.id) }
        #expect(found == [1, 2, 5])
        #expect(fixture.transport.requestCount == 4)

        var iterator = items.makeAsyncIterator()
        #expect(try await iterator.next() == User(id: 1))
        #expect(try await iterator.next() == User(id: 2))
        #expect(fixture.transport.requestCount == 6)
    }

    @Test("Items can be a part of the model, and those before a failure are delivered")
    func itemsOfModels() async throws {
        let fixture = try PagingFixture()
        fixture.answer("/v1/users", UserList(users: PagingFixture.pages[0], next: "?page=2"))
        fixture.transport.on(.get, "/v1/users", query: ["page": "2"]).answer(.internalServerError)
        let users = fixture.requests.pages(of: .get("users"), as: UserList.self, by: .link(in: \.next)).items(\.users)
        var found: [Int] = []
        var iterator = users.makeAsyncIterator()
        do throws(RequestFailure) {
            while let user = try await iterator.next() { found.append(user.id) }
            Issue.record("The second page has failed.")
        } catch {
            #expect(error.reason == .status)
        }
        #expect(found == [1, 2])
        #expect(try await iterator.next() == nil)
    }

    @Test("A body that cannot be decoded ends the list with the failure, and later pages are nil")
    func undecodable() async throws {
        let fixture = try PagingFixture()
        fixture.transport.on(.get, "/v1/users").answer(text: "{", headerFields: .fields("Link", "<?page=2>; rel=next"))
        var iterator = fixture.requests.pages(of: .get("users"), as: [User].self).makeAsyncIterator()
        let failure = try #require(await #expect(throws: RequestFailure.self) { try await iterator.next() })
        #expect(failure.reason == .decoding)
        #expect(try await iterator.next() == nil)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("Cancelling the task ends a page that is being received, and no other is requested")
    func cancelled() async throws {
        let fixture = try PagingFixture()
        fixture.answer("/v1/users", [User(id: 1)], link: "<?page=2>; rel=next")
        fixture.transport.on(.get, "/v1/users", query: ["page": "2"]).answer(json: [User(id: 2)], after: .seconds(60))
        let pages = fixture.requests.pages(of: .get("users"), as: [User].self)
        let task = Task { await collected(pages) }
        _ = try await fixture.transport.request(number: 2)
        task.cancel()
        let (models, failure) = await task.value
        #expect(models == [[User(id: 1)]])
        #expect(failure?.reason == .cancelled)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("A cancelled task requests no page of a test double that ignores cancellation")
    func cancelledDouble() async throws {
        let count = Mutex(0)
        let requests: any DataRequestService = ListDouble { _ in
            count.withLock { $0 += 1 }
            withUnsafeCurrentTask { $0?.cancel() }
            return DataResponse(headerFields: .fields("Link", "<?page=2>; rel=next"), body: Data("[]".utf8))
        }
        let pages = requests.pages(of: .get("users"), as: [User].self)
        let (models, failure) = await Task { await collected(pages) }.value
        #expect(models == [[]])
        #expect(failure?.reason == .cancelled)
        #expect(count.withLock { $0 } == 1)
    }

    @Test("An interceptor prepares every page")
    func interceptors() async throws {
        let fixture = try PagingFixture { configuration in
            configuration.interceptors = [Intercepting { $0.headerFields["X-Tenant"] = "acme" }]
        }
        fixture.serveLinks()
        for try await _ in fixture.requests.pages(of: .get("users?role=admin"), as: [User].self) {}
        #expect(fixture.transport.requests.map { $0.headerFields["X-Tenant"] } == ["acme", "acme", "acme"])
    }

    @MainActor
    @Test("Pages can be iterated on an actor, and the sequence can be sent to a task")
    func isolation() async throws {
        let fixture = try PagingFixture()
        fixture.serveLinks()
        let pages = fixture.requests.pages(of: .get("users?role=admin"), as: [User].self)
        var count = 0
        for try await page in pages {
            MainActor.assertIsolated()
            count += page.model.count
        }
        let task = Task.detached { await collected(pages).models.count }
        #expect(count == 5)
        #expect(await task.value == 3)
    }

    @Test("Printed properties of pages contain no links and no cursors")
    func printed() async throws {
        let fixture = try PagingFixture()
        fixture.answer("/v1/users", [User(id: 1)], link: "<?secret=2>; rel=next")
        var iterator = fixture.requests.pages(of: .get("users"), as: [User].self).makeAsyncIterator()
        let page = try #require(try await iterator.next())
        var text = ""
        dump(page, to: &text)
        dump(iterator, to: &text)
        dump(fixture.requests.pages(of: .get("users?secret=1"), as: [User].self), to: &text)
        #expect(!text.contains("secret"))
        #expect(text.contains("maximumPages: 1000"))
    }

    @Test("Pages of a server are requested with credentials, and a link to another server is not")
    func network() async throws {
        let other = try LoopbackServer { _ in .response(body: "[]") }
        let foreign = "<\(other.url)/v1/users>; rel=next"
        let server = try LoopbackServer { request in
            let number = Int(request.query("page") ?? "1") ?? 1
            let link = number < 3 ? #"<\#(request.path)?page=\#(number + 1)>; rel="next""# : foreign
            return .response(
                headers: [("Content-Type", "application/json"), ("link", "</x>; rel=y"), ("Link", link)],
                body: #"[{"id":\#(number)}]"#)
        }
        let service = try HTTPDataRequestService(environment: ConstantEnvironment(server.url + "/v1"))
        service.setAuthorization(try .bearer("token"))
        let (models, failure) = await collected(service.pages(of: .get("users"), as: [User].self))
        #expect(models.flatMap { $0 }.map(\.id) == [1, 2, 3])
        #expect(failure?.reason == .hostRefused)
        #expect(server.requests.map(\.target) == ["/v1/users", "/v1/users?page=2", "/v1/users?page=3"])
        #expect(server.requests.allSatisfy { $0.header("Authorization") == "Bearer token" })
        #expect(server.connectionCount == 1)
        #expect(other.connectionCount == 0)
        await service.shutdown()
        server.stop()
        other.stop()
    }
}
