import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Refresh tokens that a server has rotated", .timeLimit(.minutes(5)))
struct TokenRotationTests {
    /// A store whose next update fails after its closure has returned.
    private final class FailingStore: TokenStore {
        private let memory: MemoryTokenStore
        private let fails = Mutex(true)

        init(_ tokens: StoredTokens) { memory = MemoryTokenStore(tokens) }

        func update(
            _ change: @Sendable (StoredTokens?) async throws -> StoredTokens?
        ) async throws -> StoredTokens? {
            try await memory.update { [self] old in
                let new = try await change(old)
                let failsNow = fails.withLock { fails in
                    defer { fails = false }
                    return fails
                }
                if failsNow { throw ProviderFault() }
                return new
            }
        }
    }

    private final class Replies: Sendable {
        private let rest: Mutex<ArraySlice<(Int, String)>>

        init(_ replies: [(Int, String)]) { rest = Mutex(replies[...]) }

        func next() -> (Int, String)? { rest.withLock { $0.popFirst() } }
    }

    /// A provider with a refresh token, over a transport that has one response for each request.
    private func provider(
        _ store: any TokenStore, _ replies: [(Int, String)]
    ) throws -> (OAuth2Tokens, StubTransport) {
        let rest = Replies(replies)
        let transport = StubTransport { _ throws(RequestFailure) in
            guard let (status, body) = rest.next() else {
                throw RequestFailure(.connection, "No further response was expected.")
            }
            return TransportResponse(
                HTTPResponse(status: .init(code: status)), body: ResponseBody(Data(body.utf8)))
        }
        let provider = OAuth2Tokens(
            try OAuth2Tokens.Configuration(
                endpoint: "https://login/token", clientID: "shop", clientSecret: "s3cret", grant: .refreshToken),
            transport: transport, store: store, clock: ManualClock().requestClock)
        return (provider, transport)
    }

    /// The refresh tokens that were sent.
    private func spent(_ transport: StubTransport) -> [String] {
        transport.requests.map { String(($0.bodyText ?? "").suffix(2)) }
    }

    @Test(
        "A new refresh token is stored although the response has no access token that can be used",
        arguments: [
            (200, #"{"access_token":"t 1","refresh_token":"r1"}"#),
            (200, #"{"access_token":"t1","token_type":"mac","refresh_token":"r1"}"#),
            (200, #"{"error":"server_error","refresh_token":"r1"}"#),
            (202, #"{"refresh_token":"r1"}"#),
        ])
    func stored(status: Int, body: String) async throws {
        let store = MemoryTokenStore(StoredTokens(accessToken: "t0", refreshToken: "r0"))
        let (provider, transport) = try provider(
            store, [(status, body), (200, #"{"access_token":"t2","refresh_token":"r2"}"#)])
        let old = try AccessToken("t0")
        await #expect(throws: RequestFailure.self) { try await provider.token(replacing: old) }
        #expect(try await store.update { $0 } == StoredTokens(refreshToken: "r1"))
        #expect(try await provider.token(replacing: old).value == "t2")
        #expect(spent(transport) == ["r0", "r1"])
        #expect(try await store.update { $0 }?.refreshToken == "r2")
    }

    @Test("Without a new refresh token, a response that cannot be used changes nothing")
    func unchanged() async throws {
        let tokens = StoredTokens(accessToken: "t0", refreshToken: "r0")
        let store = MemoryTokenStore(tokens)
        let (provider, _) = try provider(store, [(200, #"{"access_token":"t 1"}"#), (400, #"{"error":"x"}"#)])
        await #expect(throws: RequestFailure.self) { try await provider.token(replacing: AccessToken("t0")) }
        await #expect(throws: AccessTokenRejection.self) { try await provider.token(replacing: AccessToken("t0")) }
        #expect(try await store.update { $0 } == tokens)
    }

    @Test("Tokens that the store could not write are used by the next call, and written by it")
    func unwritten() async throws {
        let store = FailingStore(StoredTokens(refreshToken: "r0"))
        let (provider, transport) = try provider(store, [(200, #"{"access_token":"t1","refresh_token":"r1"}"#)])
        await #expect(throws: ProviderFault.self) { try await provider.token(replacing: nil) }
        #expect(try await store.update { $0 }?.refreshToken == "r0")
        #expect(try await provider.token(replacing: nil).value == "t1")
        #expect(try await store.update { $0 } == StoredTokens(accessToken: "t1", refreshToken: "r1"))
        #expect(transport.requests.count == 1)
    }

    @Test("A refresh token that the store could not write is spent, and not the one before it")
    func unwrittenRefreshToken() async throws {
        let store = FailingStore(StoredTokens(refreshToken: "r0"))
        let (provider, transport) = try provider(
            store,
            [
                (200, #"{"access_token":"t1","refresh_token":"r1"}"#),
                (200, #"{"access_token":"t2","refresh_token":"r2"}"#),
            ])
        await #expect(throws: ProviderFault.self) { try await provider.token(replacing: nil) }
        #expect(try await provider.token(replacing: AccessToken("t1")).value == "t2")
        #expect(spent(transport) == ["r0", "r1"])
        #expect(try await store.update { $0 }?.refreshToken == "r2")
    }

    @Test("A login and a logout forget tokens that could not be written")
    func replaced() async throws {
        for login in [StoredTokens(refreshToken: "r0"), nil] {
            let store = FailingStore(StoredTokens(refreshToken: "r0"))
            let (provider, transport) = try provider(
                store,
                [
                    (200, #"{"access_token":"t1","refresh_token":"r1"}"#),
                    (200, #"{"access_token":"t2","refresh_token":"r2"}"#),
                ])
            await #expect(throws: ProviderFault.self) { try await provider.token(replacing: nil) }
            if let login { try await provider.save(login) } else { try await provider.clear() }
            if login == nil {
                await #expect(throws: AccessTokenRejection.self) { try await provider.token(replacing: nil) }
            } else {
                #expect(try await provider.token(replacing: nil).value == "t2")
                #expect(spent(transport) == ["r0", "r0"])
            }
        }
    }
}
