import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("The lifetime of OAuth 2.0 tokens", .timeLimit(.minutes(5)))
struct TokenLifetimeTests {
    private static let reply = Data(#"{"access_token": "t1", "token_type": "Bearer", "expires_in": 3600}"#.utf8)

    /// A store whose writing takes 100 seconds, in which the date jumps.
    private struct SlowStore: TokenStore {
        let clock: ManualClock
        let jump: Double

        func update(
            _ change: @Sendable (StoredTokens?) async throws -> StoredTokens?
        ) async throws -> StoredTokens? {
            let new = try await change(StoredTokens(refreshToken: "r0"))
            clock.advance(by: .seconds(100))
            clock.date = clock.date.addingTimeInterval(jump)
            return new
        }
    }

    /// A body in one piece. Reading it takes ten seconds.
    private final class SlowBody: ResponseBody.Source {
        private let clock: ManualClock
        private let piece = Mutex<BodyChunk?>(BodyChunk(Array(TokenLifetimeTests.reply)))

        init(_ clock: ManualClock) { self.clock = clock }

        func next() async throws(RequestFailure) -> BodyChunk? {
            clock.advance(by: .seconds(5))
            return piece.withLock { $0.take() }
        }

        func cancel() {}
    }

    private func provider(
        _ store: any TokenStore, _ clock: ManualClock, _ body: @escaping @Sendable () -> ResponseBody
    ) throws -> OAuth2Tokens {
        OAuth2Tokens(
            try OAuth2Tokens.Configuration(
                endpoint: "https://login/token", clientID: "shop", clientSecret: "s3cret", grant: .refreshToken),
            transport: StubTransport { _ throws(RequestFailure) in
                TransportResponse(HTTPResponse(status: .ok), body: body())
            }, store: store, clock: clock.requestClock)
    }

    @Test(
        "The lifetime of a new token counts from the arrival of its response, whatever the date does while it is stored",
        arguments: [0.0, -86_400, 86_400])
    func storing(jump: Double) async throws {
        let clock = ManualClock()
        let provider = try provider(SlowStore(clock: clock, jump: jump), clock) { ResponseBody(Self.reply) }
        let token = try await provider.token(replacing: nil)
        #expect(token.value == "t1")
        #expect(token.expiresIn == .seconds(3_500))
    }

    @Test("The time in which the body of a response arrives is part of the lifetime of its token")
    func slowBody() async throws {
        let clock = ManualClock()
        let store = MemoryTokenStore(StoredTokens(refreshToken: "r0"))
        let provider = try provider(store, clock) { ResponseBody(source: SlowBody(clock)) }
        #expect(try await provider.token(replacing: nil).expiresIn == .seconds(3_590))
        let stored = try #require(try await store.update { $0 })
        #expect(stored.expiresAt == Date(timeIntervalSinceReferenceDate: 3_600))
    }

    @Test("A token that another program has stored meanwhile has the lifetime of its date")
    func foreignToken() async throws {
        /// A store that keeps what another program has written after the closure had returned.
        struct SharedStore: TokenStore {
            func update(
                _ change: @Sendable (StoredTokens?) async throws -> StoredTokens?
            ) async throws -> StoredTokens? {
                _ = try await change(StoredTokens(refreshToken: "r0"))
                return StoredTokens(
                    accessToken: "other", expiresAt: Date(timeIntervalSinceReferenceDate: 60), refreshToken: "r1")
            }
        }
        let provider = try provider(SharedStore(), ManualClock()) { ResponseBody(Self.reply) }
        let token = try await provider.token(replacing: nil)
        #expect(token.value == "other")
        #expect(token.expiresIn == .seconds(60))
    }
}
