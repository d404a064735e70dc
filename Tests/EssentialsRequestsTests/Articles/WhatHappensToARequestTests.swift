import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article WhatHappensToARequest", .timeLimit(.minutes(5)))
struct WhatHappensToARequestTests {
    private final class Numbers: AccessTokenProvider {
        private let count = Mutex(0)

        func token(replacing old: AccessToken?) async throws -> AccessToken {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return try AccessToken("t\(number)")
        }
    }

    @Test("The article on the chain sets all stages of a service, and its request passes them")
    func chain() async throws {
        let transport = ScriptedTransport()
        let environment = try ConstantEnvironment("https://api.test/v1/")
        let provider = Numbers()
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }
        transport.on(.get, "/v1/users/1", headerFields: [.authorization: "Bearer t1"])
            .answer(.init(.unauthorized, headerFields: [.setCookie: "visit=1; Path=/"]))
        transport.on(.get, "/v1/users/1", headerFields: [.authorization: "Bearer t2", .cookie: "visit=1"])
            .answer(.init(.found, headerFields: [.location: "/v1/users/ada"]))
        transport.on(.get, "/v1/users/ada", headerFields: [.authorization: "Bearer t2", .cookie: "visit=1"])
            .answer(.noContent)

        // Article begins
        var configuration = HTTPDataRequestService.Configuration()
        configuration.joins = true
        configuration.redirects = .limit(3)
        configuration.retry = .standard
        configuration.limits = OriginLimits(concurrency: 8, breaker: .standard)
        configuration.cookies = CookieJar()
        let requests = HTTPDataRequestService(
            environment: environment, transport: transport,
            configuration: configuration)
        requests.setAuthorization(.tokens(provider))

        var request = DataRequest(.get, "users/1")
        request.retry = .attempts(5)
        request.options.totalTimeout = .seconds(20)
        let response = try await requests.send(request)
        show("\(response.attempts) attempts, \(response.redirects.count) redirects")
        // Article ends
        #expect(shown == ["1 attempts, 1 redirects"])
        #expect(requests.limits?.state(of: environment.baseURL.origin).permitsInUse == 0)
        try transport.verify()
    }

    @Test("The diagram of the article has the stages in the order in which the chain builds them")
    func diagram() throws {
        let article = try ArticleText("WhatHappensToARequest")
        let names = [
            "prepare", "status", "joining", "redirects", "receiving", "cache", "retries", "tokens", "limits",
            "signing", "Digest", "cookies",
        ]
        let drawn = article.blocks("text").joined().compactMap { line in
            line.split(separator: " ").dropFirst().first.map(String.init)
        }
        #expect(drawn.filter(names.contains) == names)
        let rows = article.table(under: "| stage | on the way to the server | on the way back |")
        #expect(rows.map(\.first) == names)

        let types = [
            "PrepareStage", "StatusStage", "JoinStage", "RedirectStage", "ReceivingStage", "CacheStage", "RetryStage",
            "TokenStage", "GateStage", "CookieStage", "SigningStage", "DigestStage", "CookieStage", "TransportStage",
        ]
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let file = root.appending(path: "Sources/EssentialsRequests/Chain/Chain.swift")
        let code = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let written = code.split(whereSeparator: { !$0.isLetter }).map(String.init).filter { types.contains($0) }
        // The first two are declared as properties before the chain is written as a list.
        #expect(Array(written.dropFirst(2)) == types)
    }
}
