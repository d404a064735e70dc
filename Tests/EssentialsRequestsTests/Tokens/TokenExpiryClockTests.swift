import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Expiry of tokens and changes of the date", .timeLimit(.minutes(5)))
struct TokenExpiryClockTests {
    /// Changes of the date in seconds.
    private static let shifts: [Double] = [-100_000_000, -3_600, 3_600, 100_000_000]

    private static func oauth(_ transport: StubTransport, _ clock: ManualClock) throws -> OAuth2Tokens {
        OAuth2Tokens(
            try OAuth2Tokens.Configuration(
                endpoint: "https://login.example/token", clientID: "a", clientSecret: "b", grant: .clientCredentials),
            transport: transport, clock: clock.requestClock)
    }

    private static let issued = #"{"access_token":"t","token_type":"Bearer","expires_in":1000}"#

    @Test("A change of the date does not change when a token is renewed", arguments: Self.shifts)
    func renewal(shift: Double) async throws {
        let provider = CountingProvider { number, _ in try AccessToken("t\(number)", expiresIn: .seconds(1000)) }
        let fixture = try TokenFixture(accepting: ["t1", "t2", "t3"], provider: provider)
        try await fixture.service.get("a")
        fixture.clock.date = fixture.clock.date.addingTimeInterval(shift)
        try await fixture.service.get("a")
        fixture.clock.advance(by: .seconds(939))
        try await fixture.service.get("a")
        #expect(try !fixture.source.isRefreshing)
        #expect(provider.calls == 1)
        // In the background, shortly before the expiry.
        fixture.clock.date = fixture.clock.date.addingTimeInterval(-2 * shift)
        fixture.clock.advance(by: .seconds(60))
        try await fixture.service.get("a")
        try await fixture.source.waitUntilIdle()
        #expect(fixture.sent == ["t1", "t1", "t1", "t1"])
        #expect(provider.calls == 2)
        // After the expiry, whatever the date is.
        fixture.clock.advance(by: .seconds(1000))
        fixture.clock.date = fixture.clock.date.addingTimeInterval(shift)
        try await fixture.service.get("a")
        #expect(fixture.sent.last == "t3")
    }

    @Test("A change of the date does not change when a token of OAuth 2.0 is renewed", arguments: Self.shifts)
    func renewalOfOAuth(shift: Double) async throws {
        let clock = ManualClock()
        let endpoint = StubTransport(status: 200, Self.issued)
        let fixture = try ServiceFixture()
        fixture.service.setAuthorization(.tokens(try Self.oauth(endpoint, clock), clock: clock.requestClock))
        try await fixture.service.get("a")
        clock.date = clock.date.addingTimeInterval(shift)
        clock.advance(by: .seconds(939))
        try await fixture.service.get("a")
        #expect(endpoint.requests.count == 1)
        clock.advance(by: .seconds(61))
        try await fixture.service.get("a")
        #expect(endpoint.requests.count == 2)
    }

    @Test("A change of the date during the request for a token does not change its lifetime", arguments: Self.shifts)
    func changeDuringRequest(shift: Double) async throws {
        let clock = ManualClock()
        let endpoint = StubTransport { _ throws(RequestFailure) in
            clock.date = clock.date.addingTimeInterval(shift)
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data(Self.issued.utf8)))
        }
        let token = try await Self.oauth(endpoint, clock).token(replacing: nil)
        #expect(token.expiresIn == .seconds(1000))
    }

    @Test("The lifetime of a token begins when its response arrives, not when it was requested")
    func arrival() async throws {
        let clock = ManualClock()
        let endpoint = StubTransport { _ throws(RequestFailure) in
            clock.advance(by: .seconds(20))
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data(Self.issued.utf8)))
        }
        let token = try await Self.oauth(endpoint, clock).token(replacing: nil)
        #expect(token.expiresIn == .seconds(1000))
    }
}
