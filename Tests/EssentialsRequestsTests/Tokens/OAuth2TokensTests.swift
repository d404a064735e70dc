import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@testable import EssentialsRequests

@Suite("OAuth 2.0 tokens", .timeLimit(.minutes(5)))
struct OAuth2TokensTests {
    /// A token server, a provider for it, and a service that uses the provider.
    private final class Fixture {
        let tokens: TokenServer
        let server: LoopbackServer
        let transport: CurlTransport
        let clock = ManualClock()
        let provider: OAuth2Tokens
        let service: HTTPDataRequestService
        let credentials: Credentials

        init(
            _ grant: OAuth2Tokens.Grant = .refreshToken, gate: LoopbackGate? = nil,
            store: any TokenStore = MemoryTokenStore(StoredTokens(refreshToken: "r0"))
        ) throws {
            let tokens = TokenServer(gate: gate)
            self.tokens = tokens
            server = try LoopbackServer { tokens.reply(to: $0) }
            transport = try CurlTransport()
            provider = OAuth2Tokens(
                try Self.configuration(server, grant), transport: transport, store: store, clock: clock.requestClock)
            service = HTTPDataRequestService(
                environment: try ConstantEnvironment(server.url + "/v1"), transport: try CurlTransport())
            credentials = .tokens(provider, clock: clock.requestClock)
            service.setAuthorization(credentials)
        }

        static func configuration(
            _ server: LoopbackServer, _ grant: OAuth2Tokens.Grant
        ) throws -> OAuth2Tokens.Configuration {
            try OAuth2Tokens.Configuration(
                endpoint: server.url + "/token", clientID: "shop", clientSecret: "s3cret", grant: grant)
        }

        func end() async {
            await service.shutdown()
            await transport.shutdown()
            server.stop()
        }
    }

    @Test("A service with client credentials requests a token and renews it when it has expired")
    func clientCredentials() async throws {
        let fixture = try Fixture(.clientCredentials)
        try await fixture.service.get("a")
        fixture.clock.advance(by: .seconds(3601))
        try await fixture.service.get("a")
        let state = fixture.tokens.state
        #expect(state.grants == Array(repeating: "grant_type=client_credentials", count: 2))
        #expect(state.clients.allSatisfy { $0?.hasPrefix("Basic ") == true })
        #expect(state.visits["/v1/a"] == 2)
        await fixture.end()
    }

    @Test("Each refresh token is used once, and the last one is stored")
    func rotation() async throws {
        let store = MemoryTokenStore(StoredTokens(refreshToken: "r0"))
        let fixture = try Fixture(store: store)
        for _ in 1...3 {
            try await fixture.service.get("a")
            fixture.tokens.change { $0.valid = [] }
        }
        let state = fixture.tokens.state
        #expect(state.grants.map { $0.suffix(2) } == ["r0", "r1", "r2"])
        #expect(state.misuses == 0)
        let stored = try await store.update { $0 }
        #expect(stored?.refreshToken == "r3" && stored?.accessToken == "t3")
        #expect(stored?.expiresAt == fixture.clock.date.addingTimeInterval(3600))
        await fixture.end()
    }

    @Test("A server that does not rotate refresh tokens lets the client keep its own")
    func withoutRotation() async throws {
        let store = MemoryTokenStore(StoredTokens(refreshToken: "r0"))
        let fixture = try Fixture(store: store)
        fixture.tokens.change { $0.rotates = false }
        try await fixture.service.get("a")
        #expect(try await store.update { $0 }?.refreshToken == "r0")
        await fixture.end()
    }

    @Test("A revoked refresh token ends all requests until the user has logged in again")
    func revoked() async throws {
        let fixture = try Fixture()
        fixture.tokens.change { $0.refreshToken = nil }
        for _ in 1...3 {
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
            #expect(failure?.reason == .authorization)
            #expect(failure?.underlying is AccessTokenRejection)
            #expect(failure?.description.contains("r0") == false)
        }
        #expect(fixture.tokens.state.grants.count == 1)
        fixture.tokens.change { $0.refreshToken = "r9" }
        try await fixture.provider.save(StoredTokens(refreshToken: "r9"))
        fixture.service.setAuthorization(fixture.credentials)
        try await fixture.service.get("a")
        await fixture.end()
    }

    @Test("Without a refresh token nothing is sent")
    func nothingStored() async throws {
        let fixture = try Fixture()
        try await fixture.provider.clear()
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect((failure?.underlying as? AccessTokenRejection)?.message == "There is no refresh token.")
        #expect(fixture.server.requestCount == 0)
        await fixture.end()
    }

    @Test("A stored token that has not expired is used without a request to the token endpoint")
    func stored() async throws {
        let store = MemoryTokenStore(
            StoredTokens(
                accessToken: "old", expiresAt: Date(timeIntervalSinceReferenceDate: 100), refreshToken: "r0"))
        let fixture = try Fixture(store: store)
        fixture.tokens.change { $0.valid = ["old"] }
        try await fixture.service.get("a")
        #expect(fixture.tokens.state.grants == [])
        fixture.clock.advance(by: .seconds(100))
        try await fixture.service.get("a")
        #expect(fixture.tokens.state.grants.count == 1)
        await fixture.end()
    }

    @Test("Programs that share a file spend each refresh token once, and all get the new token")
    func sharedFile() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer {
            try? FileManager.default.removeItem(atPath: path)
            try? FileManager.default.removeItem(atPath: path + ".lock")
        }
        let fixture = try Fixture(store: try FileTokenStore(path))
        try await fixture.provider.save(StoredTokens(refreshToken: "r0"))
        // Each has a store of its own, whose lock excludes the others like that of another process.
        let others = try (1...4).map { _ in
            OAuth2Tokens(
                try Fixture.configuration(fixture.server, .refreshToken), transport: fixture.transport,
                store: try FileTokenStore(path), clock: fixture.clock.requestClock)
        }
        var old: AccessToken?
        for round in 1...3 {
            let present = old
            let values = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                for provider in others { group.addTask { try await provider.token(replacing: present) } }
                return try await group.reduce(into: []) { $0.append($1.value) }
            }
            #expect(values == Array(repeating: "t\(round)", count: 4))
            old = try AccessToken("t\(round)")
        }
        #expect(fixture.tokens.state.misuses == 0)
        #expect(fixture.tokens.state.grants.count == 3)
        await fixture.end()
    }

    @Test("Requests go on only after the new refresh token is stored")
    func storedFirst() async throws {
        /// A store whose writing takes until the gate opens.
        final class SlowStore: TokenStore {
            let (begun, gate) = (LoopbackGate(), LoopbackGate())
            func update(
                _ change: @Sendable (StoredTokens?) async throws -> StoredTokens?
            ) async throws -> StoredTokens? {
                let new = try await change(StoredTokens(refreshToken: "r0"))
                begun.open()
                await gate.opened()
                return new
            }
        }
        let store = SlowStore()
        let fixture = try Fixture(store: store)
        let service = fixture.service
        let task = Task { try await service.get("a") }
        await store.begun.opened()
        #expect(fixture.tokens.state.visits.isEmpty)
        store.gate.open()
        _ = try await task.value
        #expect(fixture.tokens.state.visits == ["/v1/a": 1])
        await fixture.end()
    }

    @Test("A logout during a refresh leaves no tokens in the store")
    func logout() async throws {
        let gate = LoopbackGate()
        let store = MemoryTokenStore(StoredTokens(refreshToken: "r0"))
        let fixture = try Fixture(gate: gate, store: store)
        let service = fixture.service
        let task = Task { try await service.get("a") }
        while fixture.server.connectionCount == 0 { await Task.yield() }
        await service.clearAuthorization()
        gate.open()
        try await fixture.provider.clear()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .authorization)
        #expect(try await store.update { $0 } == nil)
        await fixture.end()
    }

    @Test(
        "A token endpoint that fails makes its requests fail, and is tried again",
        arguments: [
            (ServerReply.response(status: 500, body: "down"), RequestFailure.Reason.authorization),
            (.response(body: String(repeating: " ", count: 70_000)), .tooLarge), (.close, .interrupted),
            (.response(status: 302, headers: [("Location", "/v1/other")]), .authorization),
            (.response(body: "[]"), .protocolViolation),
        ])
    func failing(reply: ServerReply, reason: RequestFailure.Reason) async throws {
        let fixture = try Fixture()
        fixture.tokens.change { $0.override = reply }
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(failure?.reason == .authorization)
        #expect((failure?.underlying as? RequestFailure)?.reason == reason)
        #expect(fixture.tokens.state.visits.isEmpty)
        fixture.tokens.change { $0.override = nil }
        fixture.clock.advance(by: .seconds(1))
        try await fixture.service.get("a")
        await fixture.end()
    }
}
