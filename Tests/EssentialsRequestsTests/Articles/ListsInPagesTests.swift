import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article ListsInPages")
struct ListsInPagesTests {
    struct User: Codable, Hashable, Sendable {
        var id = 1
    }

    // Article begins
    struct UserList: Codable, Sendable {
        var users: [User]
        var cursor: String?
    }
    // Article ends

    private let transport = ScriptedTransport()

    private func service() throws -> any DataRequestService {
        HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport)
    }

    @Test("The article on paging shows pages and items by links")
    func links() async throws {
        let requests = try service()
        transport.on(.get, "/v1/users", query: ["per_page": "2"])
            .answer(json: [User(), User(id: 2)], headerFields: .fields("Link", "</v1/users?page=2>; rel=next"))
        transport.on(.get, "/v1/users", query: ["page": "2"]).answer(json: [User(id: 3)])
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        let users = requests.pages(
            of: .get("users", query: ["per_page": "2"]), as: [User].self)
        for try await page in users {
            let status = page.response.status.code
            show("page \(page.index): \(page.model.count) users, status \(status)")
        }
        for try await user in users.items { show("user \(user.id)") }
        // Article ends
        #expect(
            shown == [
                "page 0: 2 users, status 200", "page 1: 1 users, status 200", "user 1", "user 2", "user 3",
            ])
        #expect(transport.requestCount == 4)

        // Article begins
        // sends one request
        for try await page in users.prefix(1) { show("\(page.model)") }
        // Article ends
        #expect(transport.requestCount == 5)
    }

    @Test("The article on paging shows cursors and numbers")
    func cursors() async throws {
        let requests = try service()
        transport.on(.get, "/v1/users").answer { request in
            let isFirst = request.url.query == nil
            return ScriptedAnswer(json: UserList(users: [User(id: isFirst ? 1 : 2)], cursor: isFirst ? "c" : nil))
        }
        transport.on(.get, "/v1/films").answer { request in
            ScriptedAnswer(json: request.url.target.hasSuffix("page=3") ? [] : ["Metropolis"])
        }
        transport.on(.get, "/v1/logs").answer { request in
            let isLast = request.url.target.hasSuffix("offset=100")
            return ScriptedAnswer(json: Array(repeating: "x", count: isLast ? 1 : 100))
        }
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        let lists = requests.pages(
            of: .get("users"), as: UserList.self, by: .cursor("after", in: \.cursor)
        )
        for try await user in lists.items(\.users) { show("user \(user.id)") }

        let films = requests.pages(
            of: .get("films"), as: [String].self,
            by: .number("page", size: ("per_page", 50)))
        for try await film in films.items { show(film) }

        let lines = requests.pages(
            of: .get("logs"), as: [String].self,
            by: .number("offset", from: 0, step: 100) { $0.model.count < 100 })
        // Article ends
        var count = 0
        for try await line in lines.items where !line.isEmpty { count += 1 }
        #expect(shown == ["user 1", "user 2", "Metropolis", "Metropolis"])
        #expect(count == 101)
        #expect(
            transport.requests.map(\.url.target) == [
                "/v1/users", "/v1/users?after=c", "/v1/films?per_page=50&page=1", "/v1/films?per_page=50&page=2",
                "/v1/films?per_page=50&page=3", "/v1/logs?offset=0", "/v1/logs?offset=100",
            ])
    }

    @Test("The article on paging shows a link to another server and the links of a response")
    func refused() async throws {
        let requests = try service()
        transport.on(.get, "/v1/users").answer(
            json: [User()],
            headerFields: .fields("Link", "<https://other.example/users?page=2>; rel=next, </docs/users>; rel=help"))
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        do throws(RequestFailure) {
            for try await user in requests.pages(of: .get("users"), as: [User].self)
                .items
            { show("user \(user.id)") }
        } catch {
            // hostRefused, after the users of the first page
            show("\(error.reason)")
        }
        // Article ends
        #expect(shown == ["user 1", "hostRefused"])

        // Article begins
        let response = try await requests.get("users")
        if let help = response.link(rel: "help"), let url = response.url {
            // https://api.example.com/docs/users
            show("\(try help.url(relativeTo: url))")
        }
        // Article ends
        #expect(shown.last == "https://api.example.com/docs/users")
    }
}
