import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Digest authentication", .timeLimit(.minutes(5)))
struct DigestTests {
    private func text(_ response: DataResponse) async throws -> String {
        String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
    }

    @Test(
        "Digest costs one more request the first time and none later, for each algorithm and kind of server",
        arguments: [
            ("MD5", HashFunctions.Function.md5, "auth"), ("MD5", .md5, nil), ("md5-sess", .md5, "auth"),
            ("SHA-256", .sha256, "auth"), ("SHA-256-sess", .sha256, "auth"), ("SHA-512-256", .sha512Over256, "auth"),
            ("SHA-512-256", .sha512Over256, "auth-int"),
        ] as [(String, HashFunctions.Function, String?)])
    func twice(algorithm: String, function: HashFunctions.Function, qop: String?) async throws {
        let digest = DigestServer(algorithm: algorithm, function, qop: qop)
        try await withDigestService(digest, minimum: qop == nil ? .any : nil) { service, server in
            for number in 1...3 {
                let response = try await service.send(DataRequest(.get, "door?n=\(number)&q=a b"))
                #expect(try await text(response) == "secret ")
                #expect(response.redirects.isEmpty)
            }
            #expect(server.answers == [false, true, true, true])
            #expect(digest.counts == ["nonce-0": qop == nil ? [0, 0, 0] : [1, 2, 3]])
            #expect(server.connectionCount == 1)
        }
    }

    @Test("A wrong Digest password fails with the 401 after one attempt, and the next request starts afresh")
    func wrongPassword() async throws {
        try await withDigestService(password: "wrong") { service, server in
            for _ in 0..<2 {
                let failure = await #expect(throws: RequestFailure.self) { try await service.get("door") }
                #expect(failure?.reason == .status)
                #expect(failure?.response?.head.status == .unauthorized)
                #expect(failure?.response?.body == Data("refused".utf8))
                #expect(failure?.remedy == "Check the user name and the password. The server did not accept them.")
                #expect(failure?.description.contains("wrong") == false)
            }
            #expect(server.answers == [false, true, false, true])
        }
    }

    @Test(
        "A stale nonce is replaced whether or not the server reports it as stale", arguments: [true, false])
    func stale(saysStale: Bool) async throws {
        let digest = DigestServer()
        try await withDigestService(digest) { service, server in
            try await service.get("door")
            digest.change {
                $0.nonce = "another"
                $0.saysStale = saysStale
            }
            try await service.get("door")
            try await service.get("door")
            #expect(server.answers == [false, true, true, true, true])
            #expect(digest.counts == ["nonce-0": [1], "another": [1, 2]])
        }
    }

    @Test("A server that always reports a stale nonce gets two attempts, and one that does not gets one")
    func neverContent() async throws {
        let digest = DigestServer()
        try await withDigestService(digest) { service, server in
            digest.change { $0.isNeverContent = true }
            let failure = await #expect(throws: RequestFailure.self) { try await service.get("door") }
            #expect(failure?.response?.head.status == .unauthorized)
            #expect(server.answers == [false, true, true])
            digest.change { $0.saysStale = false }
            await #expect(throws: RequestFailure.self) { try await service.get("door") }
            #expect(server.answers == [false, true, true, false, true])
        }
    }

    @Test("Each use of a nonce has its own count, even in concurrent requests")
    func concurrent() async throws {
        let digest = DigestServer()
        try await withDigestService(digest) { service, server in
            try await service.get("door")
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { try await service.get("door") } }
                try await group.waitForAll()
            }
            #expect(server.requestCount == 22)
            #expect(digest.counts["nonce-0"]?.sorted() == Array(1...21))
        }
    }

    @Test("Concurrent requests that are all challenged use separate counts", arguments: [true, false])
    func concurrentChallenges(renewsNonce: Bool) async throws {
        let digest = DigestServer()
        digest.change { $0.renewsNonce = renewsNonce }
        try await withDigestService(digest) { service, _ in
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { try await service.get("door") } }
                try await group.waitForAll()
            }
            #expect(digest.counts.values.reduce(0) { $0 + $1.count } == 20)
            for counts in digest.counts.values { #expect(counts.sorted() == Array(1...counts.count)) }
            if !renewsNonce { #expect(digest.counts.count == 1) }
        }
    }

    @Test("The next nonce that the server announces is used for the next request")
    func nextNonce() async throws {
        let digest = DigestServer()
        try await withDigestService(digest) { service, server in
            for number in 1...3 {
                digest.change { $0.nextNonce = "next-\(number)" }
                try await service.get("door")
            }
            #expect(server.answers == [false, true, true, true])
            #expect(digest.counts == ["nonce-0": [1], "next-1": [1], "next-2": [1]])
        }
    }

    @Test("Cleared Digest credentials answer no challenge and start afresh when set again")
    func clearing() async throws {
        let digest = DigestServer()
        try await withDigestService(digest) { service, server in
            try await service.get("door")
            await service.clearAuthorization()
            digest.change { $0.nonce = "another" }
            let failure = await #expect(throws: RequestFailure.self) { try await service.get("door") }
            #expect(failure?.reason == .status)
            #expect(failure?.remedy == RequestFailure.Reason.status.remedy)
            service.setAuthorization(try .digest(user: DigestServer.user, password: DigestServer.password))
            try await service.get("door")
            #expect(server.answers == [false, true, false, false, true])
        }
    }

    @Test("A redirect within the origin gets its own Digest response")
    func redirectInside() async throws {
        let digest = DigestServer { request in
            request.path == "/v1/a"
                ? .response(status: 303, headers: [("Location", "/v1/b?x")]) : .response(body: request.method)
        }
        try await withDigestService(digest) { service, server in
            let response = try await service.send(DataRequest(.post, "a", body: .text("body")))
            #expect(try await text(response) == "GET")
            #expect(server.requests.map(\.target) == ["/v1/a", "/v1/a", "/v1/b?x"])
            #expect(server.answers == [false, true, true])
            #expect(digest.counts == ["nonce-0": [1, 2]])
        }
    }

    @Test("A redirect to another origin drops Digest credentials, even if it leads back")
    func redirectElsewhere() async throws {
        let home = Mutex("")
        let other = DigestServer { _ in .response(body: "never") }
        let strangers = try LoopbackServer { request in
            request.path == "/back"
                ? .response(status: 302, headers: [("Location", home.withLock { $0 } + "/v1/door")])
                : other.reply(to: request)
        }
        let digest = DigestServer { request in
            .response(status: 302, headers: [("Location", strangers.url + "/" + (request.query("to") ?? "door"))])
        }
        try await withDigestService(digest) { service, server in
            home.withLock { $0 = server.url }
            let failure = await #expect(throws: RequestFailure.self) { try await service.get("a") }
            #expect(failure?.response?.head.status == .unauthorized)
            #expect(failure?.remedy == RequestFailure.Reason.status.remedy)
            #expect(strangers.requests.map { $0.header("Authorization") } == [nil])
            let returned = await #expect(throws: RequestFailure.self) {
                try await service.get("a", parameters: ["to": "back"])
            }
            #expect(returned?.response?.head.status == .unauthorized)
            #expect(strangers.requests.map { $0.header("Authorization") } == [nil, nil])
            #expect(server.answers == [false, true, true, false])
        }
        strangers.stop()
    }

    @Test("A request's own Authorization takes precedence over Digest, and Digest over the environment's")
    func precedence() async throws {
        let digest = DigestServer()
        let server = try LoopbackServer { digest.reply(to: $0) }
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url, headerFields: [.authorization: "Environment x"]),
            transport: try CurlTransport())
        service.setAuthorization(try .digest(user: DigestServer.user, password: DigestServer.password))
        try await service.get("door")
        await #expect(throws: RequestFailure.self) {
            try await service.send(DataRequest(.get, "door", headerFields: [.authorization: "Own x"]))
        }
        #expect(server.requests.count == 3)
        #expect(server.requests.first?.header("Authorization") == nil)
        #expect(server.answers == [false, true, false])
        #expect(server.requests.last?.allHeaders("Authorization") == ["Own x"])
        await service.shutdown()
        server.stop()
    }

    @Test("Digest credentials belong to their origin and do not follow a switch of the environment")
    func origins() async throws {
        let (digest, other) = (DigestServer(), DigestServer())
        let server = try LoopbackServer { digest.reply(to: $0) }
        let stranger = try LoopbackServer { other.reply(to: $0) }
        let environment = try SwitchableEnvironment([
            EnvironmentSnapshot(name: "a", baseURL: RequestURL(server.url)),
            EnvironmentSnapshot(name: "b", baseURL: RequestURL(stranger.url)),
        ])
        let service = HTTPDataRequestService(environment: environment, transport: try CurlTransport())
        service.setAuthorization(try .digest(user: DigestServer.user, password: DigestServer.password))
        try await service.get("door")
        try environment.select("b")
        await #expect(throws: RequestFailure.self) { try await service.get("door") }
        try environment.select("a")
        try await service.get("door")
        #expect(stranger.requests.map { $0.header("Authorization") } == [nil])
        #expect(server.answers == [false, true, true])
        await service.shutdown()
        server.stop()
        stranger.stop()
    }

    @Test("A Digest response covers the URL that an interceptor signed, and the interceptor may replace it")
    func signing() async throws {
        struct Signing: RequestInterceptor {
            func sign(_ request: inout EncodedRequest) async throws {
                #expect(request.headerFields[.authorization] == nil)
                request.append(query: ["signature": "a b"])
                if request.method == .delete { request.headerFields[.authorization] = "Own x" }
            }
        }
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = [Signing()]
        try await withDigestService(configuration: configuration) { service, server in
            try await service.get("door")
            await #expect(throws: RequestFailure.self) { try await service.delete("door") }
            #expect(server.requests.map(\.target) == Array(repeating: "/v1/door?signature=a%20b", count: 3))
            #expect(server.answers == [false, true, false])
        }
    }
}
