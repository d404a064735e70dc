import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article OutboxPromises")
struct OutboxPromisesTests {
    // Article begins
    struct Views: FetchingService {
        let requests: any DataRequestService

        func seen(
            _ id: Int, through outbox: Outbox
        ) async throws(RequestFailure) {
            try await fireAndForget(
                DataRequest(.post, "views", parameters: ["id": id]),
                through: outbox)
        }
    }
    // Article ends

    @Test("The article on the outbox shows how requests are added, listed, tried again and bound to an account")
    func outbox() async throws {
        let directory = "/tmp/essentials-article-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let transport = ScriptedTransport()
        transport.on(.post, "/v1/views").answer(.notFound).thenAnswer(.ok)
        transport.on(.post, "/v1/carts/7/items").answer(.created)
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        // Article begins
        let outbox = try Outbox(
            directory: directory, requests: requests, environment: environment)
        // Article ends
        try await Views(requests: requests).seen(7, through: outbox)
        // Article begins
        try await outbox.add(
            .post("carts/7/items", body: ["product": 12]), in: "carts/7")
        // Article ends
        try await outbox.drain()
        var shown: [String] = []
        func show(_ path: String, _ message: String) { shown.append(path) }
        // Article begins
        for entry in try await outbox.entries {
            if case .failed(let failure) = entry.state {
                show(entry.path, failure.message)
                try await outbox.retry(entry.id)
            }
        }
        // Article ends
        #expect(shown == ["views"])
        try await outbox.drain()
        #expect(try await outbox.entries == [])
        #expect(transport.requestCount == 3)
        try await changes(outbox, requests)
        try await attached(outbox, requests, environment)
    }

    private struct Item: Codable, Equatable, Sendable { var product: Int }

    private enum Carts: APIService {
        static func add(_ item: Item) -> APIRequest<Item> { request(.post, "carts/7/items") { RequestContent(item) } }
    }

    @Test("The article on the outbox shows how a definition is sent through it")
    func definition() async throws {
        let directory = "/tmp/essentials-article-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let transport = ScriptedTransport()
        transport.on(.post, "/v1/carts/7/items").answer(.created, json: Item(product: 12))
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        let outbox = try Outbox(directory: directory, requests: requests, environment: environment)
        // Article begins
        let addition = Carts.add(Item(product: 12)).idempotencyKey(.text("7-12"))
        let item = try await outbox.send(addition)  // Item
        // Article ends
        #expect(item == Item(product: 12))
        #expect(transport.requests.first?.headerFields[HTTPField.Name("Idempotency-Key")!] == "7-12")
        await outbox.close()
    }

    @Test("The article on the outbox begins with its promise, and says what each kind of server makes of it")
    func promise() throws {
        let article = try ArticleText("OutboxPromises", of: "EssentialsFetching")
        let promise =
            "A request takes effect once where the server honours its idempotency key, and at least once elsewhere."
        #expect(article.lines.dropFirst().first { !$0.isEmpty } == promise[...])
        let promises = article.table(under: "| the server | a request takes effect |")
        #expect(promises == [["honours the key", "once"], ["ignores it", "at least once"]])
    }

    private func changes(_ outbox: Outbox, _ requests: HTTPDataRequestService) async throws {
        let token = "new"
        // Article begins
        await outbox.leave()
        requests.setAuthorization(try .bearer(token))
        await outbox.enter("account-8")
        // Article ends
        #expect(outbox.partition == "account-8")
    }

    private func attached(
        _ outbox: Outbox, _ requests: HTTPDataRequestService, _ environment: ConstantEnvironment
    ) async throws {
        let reachability = ControlledReachability(.local)
        // Article begins
        let service = try HTTPResourceService(
            requests: requests, environment: environment, reachability: reachability
        )
        service.attach(outbox)
        // Article ends
        await service.close()
        await outbox.close()
    }
}
