import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article KeepingCookies")
struct KeepingCookiesTests {
    private struct Login: Codable, Sendable { var name = "ada" }
    private struct User: Codable, Hashable, Sendable { var id = 1 }

    @Test("The article on cookies gives a service a jar")
    func jar() async throws {
        let transport = ScriptedTransport()
        transport.on(.post, "/v1/login").answer(.init(.noContent, headerFields: [.setCookie: "session=1; Path=/"]))
        transport.on(.get, "/v1/me", headerFields: [.cookie: "session=1"]).answer(json: User())
        let environment = try ConstantEnvironment("https://api.test/v1/")
        let login = Login()

        // Article begins
        let jar = CookieJar()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cookies = jar
        let requests = HTTPDataRequestService(
            environment: environment, transport: transport,
            configuration: configuration)
        try await requests.post("login", body: login)
        // with the cookie of the login
        let user: User = try await requests.get("me")
        // Article ends
        #expect(user == User())
        try transport.verify()

        let url = try RequestURL("https://api.test/v1/me")
        // Article begins
        var settings = RequestSettings()
        settings.cookies = .storage(CookieJar())
        let staging = EnvironmentSnapshot(
            name: "staging", baseURL: url, settings: settings)
        // Article ends
        #expect(staging.settings.cookies?.storage is CookieJar)
        // Article begins
        for cookie in jar.cookies(for: url, includingHTTPOnly: true) {
            print(cookie.name, cookie.domain, cookie.path, cookie.isSecure)
        }
        jar.store("consent=yes; Path=/; Max-Age=86400", from: url)
        jar.removeCookies { $0.name == "consent" }
        // Article ends
        #expect(jar.cookies(for: url, includingHTTPOnly: true).map(\.name) == ["session"])
    }

    @Test("The article on cookies keeps them in a file, and in a locator")
    func file() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        // Article begins
        let jar = try CookieJar(file: CookieFile(path))
        // Article ends
        #expect(jar.count == 0)
        let locator = ServiceLocator(name: "app")
        var configuration = HTTPDataRequestService.Configuration()
        // Article begins
        try locator.register(jar, as: (any CookieStorage).self)
        configuration.cookies = try locator.resolve((any CookieStorage).self)
        // Article ends
        #expect(configuration.cookies is CookieJar)
    }
}
