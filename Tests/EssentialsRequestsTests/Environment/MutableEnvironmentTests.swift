import EssentialsHTTP
import EssentialsRequests
import Testing

@Suite("Mutable environments")
struct MutableEnvironmentTests {
    @Test("Requests after a change use the new base URL and the same name and fields")
    func requests() async throws {
        let environment = try MutableEnvironment(
            "https://one.test/v1/", name: "own", headerFields: [.acceptLanguage: "en"])
        let fixture = ServiceFixture(environment: environment)
        #expect(try await fixture.sent(DataRequest(.get, "a")).url.description == "https://one.test/v1/a")
        try environment.set(baseURL: "https://two.test/v2/")
        let sent = try await fixture.sent(DataRequest(.get, "a"))
        #expect(sent.url.description == "https://two.test/v2/a")
        #expect(sent.headerFields[.acceptLanguage] == "en")
        #expect(environment.name == "own")
    }

    @Test("Observers are notified of each change, but not if nothing changes")
    func changes() async throws {
        var environment: MutableEnvironment? = try MutableEnvironment("https://one.test/")
        var changes = environment?.changes.makeAsyncIterator()
        try environment?.set(baseURL: "https://two.test/")
        #expect(await changes?.next()?.baseURL.description == "https://two.test/")
        try environment?.set(baseURL: "https://two.test/")
        environment?.set(EnvironmentSnapshot(name: "third", baseURL: try RequestURL("https://three.test/")))
        #expect(await changes?.next()?.name == "third")
        environment = nil
        #expect(await changes?.next() == nil)
    }

    @Test("An invalid base URL is refused, and the current one is kept")
    func wrong() throws {
        let environment = try MutableEnvironment("https://one.test/")
        let failure = #expect(throws: RequestFailure.self) { try environment.set(baseURL: "not a URL") }
        #expect(failure?.reason == .invalidRequest)
        #expect(environment.baseURL.description == "https://one.test/")
        #expect(throws: RequestFailure.self) { try MutableEnvironment("") }
    }
}
