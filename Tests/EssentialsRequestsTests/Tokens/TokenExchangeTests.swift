import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Refreshes that are cancelled after the refresh token was sent", .timeLimit(.minutes(5)))
struct TokenExchangeTests {
    /// A provider with a refresh token, whose server responds when a gate opens.
    private struct Fixture {
        let arrived = LoopbackGate()
        let gate = LoopbackGate()
        let clock = ManualClock()
        let store = MemoryTokenStore(StoredTokens(refreshToken: "r0"))
        let server: StubTransport
        let provider: OAuth2Tokens

        /// - Parameter ignoresCancellation: Whether the transport responds only when the gate opens.
        init(_ grant: OAuth2Tokens.Grant = .refreshToken, ignoresCancellation: Bool = false) throws {
            let (arrived, gate) = (arrived, gate)
            server = StubTransport { _ throws(RequestFailure) in
                arrived.open()
                while !gate.isOpen {
                    if !ignoresCancellation, Task.isCancelled { throw RequestFailure(.cancelled, "Cancelled.") }
                    await Task.yield()
                }
                return TransportResponse(
                    HTTPResponse(status: .ok),
                    body: ResponseBody(Data(#"{"access_token":"t1","refresh_token":"r1"}"#.utf8)))
            }
            provider = OAuth2Tokens(
                try OAuth2Tokens.Configuration(
                    endpoint: "https://login/token", clientID: "shop", clientSecret: "s3cret", grant: grant),
                transport: server, store: store, clock: clock.requestClock)
        }

        var credentials: Credentials { .tokens(provider, clock: clock.requestClock) }
    }

    private func source(of credentials: Credentials) throws -> TokenSource {
        guard case .tokens(let source) = credentials.content else { throw TokenFixture.NoSource() }
        return source
    }

    @Test("The new refresh token is stored, although the task that waits for it was cancelled")
    func cancelled() async throws {
        let fixture = try Fixture()
        let provider = fixture.provider
        let task = Task { try await provider.token(replacing: nil) }
        await fixture.arrived.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        fixture.gate.open()
        // The next call waits for the exchange, and has its tokens without a request.
        #expect(try await provider.token(replacing: nil).value == "t1")
        #expect(try await fixture.store.update { $0 }?.refreshToken == "r1")
        #expect(fixture.server.requests.count == 1)
    }

    @Test("A shutdown waits until the new refresh token is stored, and then closes the transport")
    func shutdown() async throws {
        let fixture = try Fixture()
        let service = try ServiceFixture()
        let credentials = fixture.credentials
        let source = try source(of: credentials)
        service.service.setAuthorization(credentials)
        let request = Task { [service = service.service] in try await service.get("a") }
        await fixture.arrived.opened()
        let ending = Task { [service = service.service] in await service.shutdown() }
        let failure = await #expect(throws: RequestFailure.self) { try await request.value }
        #expect(failure?.reason == .cancelled)
        await source.waitUntilIdle()
        for _ in 0..<1_000 { await Task.yield() }
        #expect(service.transport.shutdownCount == 0)
        fixture.gate.open()
        await ending.value
        #expect(service.transport.shutdownCount == 1)
        #expect(try await fixture.store.update { $0 }?.refreshToken == "r1")
    }

    @Test("A shutdown waits at most 30 seconds for a transport that does not end")
    func stuck() async throws {
        let fixture = try Fixture(ignoresCancellation: true)
        let service = try ServiceFixture()
        let credentials = fixture.credentials
        let source = try source(of: credentials)
        service.service.setAuthorization(credentials)
        let request = Task { [service = service.service] in try await service.get("a") }
        await fixture.arrived.opened()
        let ending = Task { [service = service.service] in await service.shutdown() }
        await #expect(throws: RequestFailure.self) { try await request.value }
        await source.waitUntilIdle()
        // That of the exchange and that of the shutdown.
        await fixture.clock.waitForSleepers(count: 2)
        fixture.clock.advance(by: TokenSource.limit)
        await ending.value
        #expect(service.transport.shutdownCount == 1)
        fixture.gate.open()
    }

    @Test("A shutdown whose task is cancelled does not wait for a refresh")
    func cancelledShutdown() async throws {
        let fixture = try Fixture()
        let service = try ServiceFixture()
        service.service.setAuthorization(fixture.credentials)
        let request = Task { [service = service.service] in try await service.get("a") }
        await fixture.arrived.opened()
        let ending = Task { [service = service.service] in await service.shutdown() }
        ending.cancel()
        await ending.value
        await #expect(throws: RequestFailure.self) { try await request.value }
        #expect(service.transport.shutdownCount == 1)
        fixture.gate.open()
        #expect(try await fixture.provider.token(replacing: nil).value == "t1")
    }

    @Test("A service that is not the last one with the credentials does not wait for the refresh when it shuts down")
    func shared() async throws {
        let fixture = try Fixture()
        let (first, second) = (try ServiceFixture(), try ServiceFixture())
        let credentials = fixture.credentials
        first.service.setAuthorization(credentials)
        second.service.setAuthorization(credentials)
        let request = Task { [service = second.service] in try await service.get("a") }
        await fixture.arrived.opened()
        await first.service.shutdown()
        fixture.gate.open()
        _ = try await request.value
        #expect(fixture.server.requests.count == 1)
    }

    @Test("A cancellation before the refresh token is sent sends nothing")
    func unsent() async throws {
        let fixture = try Fixture()
        let (held, gate) = (LoopbackGate(), LoopbackGate())
        let (provider, store) = (fixture.provider, fixture.store)
        let holder = Task {
            try await store.update { tokens in
                held.open()
                await gate.opened()
                return tokens
            }
        }
        await held.opened()
        let task = Task { try await provider.token(replacing: nil) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
        _ = try await holder.value
        #expect(fixture.server.requests.isEmpty)
    }

    @Test("A request with client credentials, which spend nothing, is cancelled with its task")
    func clientCredentials() async throws {
        let fixture = try Fixture(.clientCredentials)
        let provider = fixture.provider
        let task = Task { try await provider.token(replacing: nil) }
        await fixture.arrived.opened()
        task.cancel()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
    }

    @Test("A transport that does not observe the timeout is cancelled one second after it")
    func overdue() async throws {
        let fixture = try Fixture()
        let provider = fixture.provider
        let task = Task { try await provider.token(replacing: nil) }
        await fixture.arrived.opened()
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(21))
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
    }
}
