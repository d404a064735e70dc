import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article EntityCaches")
struct EntityCachesTests {
    private struct User: Codable { var name: String }

    private struct Report: Codable, Sendable {
        let text: String
        init(_ bytes: Data) throws { text = String(decoding: bytes, as: UTF8.self) }
    }

    /// Seals nothing, because the article shows only how the program supplies its functions.
    private struct Sealing: EntitySealing {
        let keyID = "1"
        func seal(_ bytes: Data, context: Data) -> Data { bytes }
        func open(_ bytes: Data, keyID: String, context: Data) -> Data? { bytes }
    }

    @Test("The article on entity caches shows a cache in files, caches of stages, sealing and problems")
    func caches() async throws {
        let directory = "/tmp/essentials-article-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/users/7").answer(json: User(name: "Ada"))
        transport.on(.get, "/v1/reports/1").answer(text: "report")
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        // Article begins
        let cache = try FileEntityCache(
            directory: directory, maximumBytes: 64 << 20)
        let service = try HTTPResourceService(
            requests: requests, environment: environment, cache: cache)
        let user = try await service.resource("users/7", as: User.self)
            .loadIfNeeded()
        await service.close()
        // Article ends
        #expect(user.name == "Ada")
        #expect(await cache.usage.count == 1)
        try await later(requests, environment, cache)
        // The bytes of the report and the value made of them.
        #expect(await cache.usage.count == 3)
        #expect(transport.requestCount == 2)
    }

    private func later(
        _ requests: HTTPDataRequestService, _ environment: ConstantEnvironment, _ cache: FileEntityCache
    ) async throws {
        let service = try HTTPResourceService(requests: requests, environment: environment, cache: cache)
        // Article begins
        try service.configure("/reports/*", methods: [.get]) {
            $0.pipeline.transform(at: .model) { (bytes: Data) in try Report(bytes) }
            $0.pipeline.cache(Report.self, in: cache, at: .model, schema: 2)
        }
        try service.configure("/session") { $0.usesServiceCache = false }
        // Article ends
        #expect(try await service.resource("users/7", as: User.self).loadIfNeeded().name == "Ada")
        #expect(try await service.resource("reports/1", as: Report.self).loadIfNeeded().text == "report")

        let sealing = Sealing()
        // Article begins
        let sealed = SealedEntityCache(cache, sealing: sealing)
        // Article ends
        #expect(sealed.isPersistent)

        func report(_ count: Int, _ last: String) { Issue.record("\(count) problems: \(last)") }
        // Article begins
        let problems = service.cacheProblems
        if problems.count > 0 { report(problems.count, problems.last ?? "") }
        // Article ends
        await service.close()
    }
}
