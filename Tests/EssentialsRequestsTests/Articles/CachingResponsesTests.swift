import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article CachingResponses", .timeLimit(.minutes(5)))
struct CachingResponsesTests {
    private struct Film: Codable, Sendable {
        var title = "M"
    }

    @Test("The article on caching responses shows a hit, an account, a policy and an offline cache")
    func caching() async throws {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/films").answer(json: [Film()], headerFields: [.cacheControl: "max-age=60"])
        let (token, userID) = ("secret", "account-7")
        var shown: [String] = []
        func show(_ value: some CustomStringConvertible) { shown.append("\(value)") }

        // Article begins
        let cache = ResponseCache(memory: .bytes(32 << 20))
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cache = cache
        let requests = HTTPDataRequestService(
            environment: environment, transport: transport,
            configuration: configuration)

        let first = try await requests.send(DataRequest(.get, "films"))
        let second = try await requests.send(DataRequest(.get, "films"))
        show(first.cacheStatus ?? "-")  // ServiceEssentials; fwd=uri-miss; …
        show(second.cacheStatus ?? "-")  // ServiceEssentials; hit; ttl=…
        // Article ends
        #expect(shown.first?.hasPrefix("ServiceEssentials; fwd=uri-miss;") == true, "\(shown)")
        #expect(shown.last?.hasPrefix("ServiceEssentials; hit; ttl=") == true, "\(shown)")
        #expect(transport.requests.count == 1)

        // Article begins
        var credentials = try Credentials.bearer(token)
        credentials.account = EntityPartition(userID)
        requests.setAuthorization(credentials)
        // Article ends

        // Article begins
        var request = DataRequest(.get, "films")
        request.cachePolicy = .reload
        let films = try await requests.model(of: request, as: [Film].self)
        // Article ends
        #expect(films.count == 1 && transport.requests.count == 2)
        let stale: HTTPFields = [.cacheControl: "max-age=0, stale-while-revalidate=100000"]
        let answer = { @Sendable in ScriptedAnswer(text: "\(transport.requestCount)", headerFields: stale) }
        transport.on(.get, "/v1/charts").answer { _ in answer() }
        _ = try await requests.send(DataRequest(.get, "charts"))
        // Article begins
        let charts = try await requests.send(DataRequest(.get, "charts"))
        show(charts.cacheStatus ?? "-")
        for await newer in requests.updates(of: charts) {
            show(newer.identity?.body == charts.identity?.body ? "same" : "new")
        }
        // Article ends
        #expect(charts.cache?.outcome == .stale && shown.last == "new" && transport.requests.count == 4)

        // Article begins
        cache.isOffline = true
        do throws(RequestFailure) {
            show(try await requests.get("films", as: [Film].self).count)
        } catch {
            show(error.reason == .notCached ? "not stored" : error.message)
        }
        // Article ends
        #expect(shown.last == "1" && transport.requests.count == 4)
    }
}
