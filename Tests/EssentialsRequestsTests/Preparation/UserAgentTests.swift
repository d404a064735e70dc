import EssentialsRequests
import Testing

@Suite("User agent")
struct UserAgentTests {
    @Test("The user agent names the program, the system and this package, as far as they are known")
    func standard() throws {
        let text = HTTPDataRequestService.Configuration().userAgent
        let form = /[A-Za-z0-9._-]+ \(Linux; [a-z0-9_]+\) ServiceEssentials\/[0-9]+\.[0-9]+\.[0-9]+/
        #expect(text.wholeMatch(of: form) != nil, "\(text)")
        #expect(HTTPField.isValidValue(text))
    }

    @Test("The user agent can be set for a whole service")
    func own() async throws {
        let fixture = try ServiceFixture { $0.userAgent = "shop/2.1" }
        let sent = try await fixture.sent(DataRequest(.get, "a"))
        #expect(sent.headerFields[values: .userAgent] == ["shop/2.1"])
    }
}
