import EssentialsRequests
import Testing

/// DATA-REQUESTS.md 1.10, user agent.
@Suite("A service's user agent")
struct UserAgentTests {
    @Test("names program, system and this package, and nothing that is missing")
    func standard() throws {
        let text = HTTPDataRequestService.Configuration().userAgent
        #expect(text.wholeMatch(of: /[A-Za-z0-9._-]+ \(Linux; [a-z0-9_]+\) ServiceEssentials\/[0-9]+\.[0-9]+/) != nil)
        #expect(HTTPField.isValidValue(text))
    }

    @Test("can be another, for a whole service")
    func own() async throws {
        let fixture = try ServiceFixture { $0.userAgent = "shop/2.1" }
        let sent = try await fixture.sent(DataRequest(.get, "a"))
        #expect(sent.headerFields[values: .userAgent] == ["shop/2.1"])
    }
}
