import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@Suite("The article CacheOnDisk", .timeLimit(.minutes(5)))
struct CacheOnDiskTests {
    @Test("The client of the article on the cache on disk works without a network, also after a restart")
    func withoutNetwork() async throws {
        let scratch = try ScratchDirectory()
        let directory = scratch("cache")
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }
        let environment = try ConstantEnvironment("https://api.example.com/")
        for isReachable in [true, false] {
            let server = ScriptedTransport()
            if isReachable {
                server.on(.get, "/films").answer(json: ["M"], headerFields: [.eTag: "\"1\""])
            } else {
                server.on(.get, "/films").fail(.connection)
            }
            let transport = TrustedTransport(next: server)

            // Article begins
            var options = ResponseCache.Options()
            options.staleWhenUnreachable = true
            var configuration = HTTPDataRequestService.Configuration()
            configuration.cache = try ResponseCache(
                disk: .directory(directory), options: options)
            let requests = HTTPDataRequestService(
                environment: environment, transport: transport,
                configuration: configuration)
            let response = try await requests.send(DataRequest(.get, "films"))
            show(response.cache?.outcome == .stale ? "from an earlier day" : "new")
            // Article ends
            await configuration.cache?.flush()
        }
        #expect(shown == ["new", "from an earlier day"])
    }

    @Test("A directory is all that a cache in files needs")
    func oneLine() throws {
        // It is compiled and not run, because the directory is one of the system.
        _ = {
            // Article begins
            let cache = try ResponseCache(
                disk: .directory("/var/cache/films", bytes: 64 << 20))
            // Article ends
            _ = cache
        }
    }
}

/// A transport whose trust policy is known, as that of `CurlTransport` is.
struct TrustedTransport: TrustBearing {
    let next: ScriptedTransport
    var trustPolicy: TrustPolicy { .system }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try await next.send(request)
    }

    func shutdown() async { await next.shutdown() }
}
