import EssentialsHTTP
import EssentialsTestKit
import Logging
import Testing

@testable import EssentialsRequests

@Suite("Log of the response cache", .timeLimit(.minutes(5)))
struct CacheLogTests {
    @Test("The log says what the cache has done, and names the validation by an identifier of its own")
    func log() async throws {
        let lines = LogLines()
        let fields: HTTPFields = [.cacheControl: "max-age=10, stale-while-revalidate=60"]
        let origin = CacheOrigin { CacheOrigin.reply(to: $0, tag: "\"1\"", fields, body: "one") }
        let service = try origin.service(ResponseCache()) { $0.logger = lines.logger(.debug) }
        _ = try await service.text("a")
        let first = lines.metadata(of: "response")?["cache"]
        #expect(first == "ServiceEssentials; fwd=uri-miss; fwd-status=200; stored")
        origin.clock.advance(by: .seconds(20))
        let served = try await service.response("a")
        await until { service.requestsInFlight == 0 }
        let cached = lines.all.filter { $0.message == "response" }.compactMap { $0.metadata["cache"] }
        #expect(cached.contains { $0 == served.cacheStatus })
        #expect(cached.contains { $0.contains("fwd=stale; fwd-status=304") })
        #expect(Set(lines.all.compactMap { $0.metadata["request-id"] }).count == 3)
    }
}
