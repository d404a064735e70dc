import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("Authorization")
struct AuthorizationTests {
    @Test("Basic credentials contain user and password in UTF-8 (RFC 7617, 2)")
    func basic() async throws {
        let fixture = try ServiceFixture()
        fixture.service.setAuthorization(try .basic(user: "Aladdin", password: "open sesame"))
        let sent = try await fixture.sent(DataRequest(.get, "a"))
        #expect(sent.headerFields[.authorization] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        fixture.service.setAuthorization(try .basic(user: "test", password: "123£"))
        #expect(try await fixture.sent(DataRequest(.get, "a")).headerFields[.authorization] == "Basic dGVzdDoxMjPCow==")
    }

    @Test("Credentials that cannot be sent are refused without being shown")
    func refused() {
        let makers: [() throws -> Credentials] = [
            { try .basic(user: "se:cret", password: "x") },
            { try .basic(user: "secret", password: "a\nb") },
            { try .bearer("sec ret") }, { try .bearer("") },
            { try .bearer("==") },
            { try .bearer("secret\r\nX: y") },
            { try .header("") }, { try .header(" secret") },
        ]
        for make in makers {
            let failure = #expect(throws: RequestFailure.self) { try make() }
            #expect(failure?.reason == .invalidRequest)
            #expect(failure?.description.contains("sec") == false)
        }
    }

    @Test("Every description of credentials shows only their scheme")
    func text() throws {
        let credentials = try Credentials.bearer("c2VjcmV0")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(text.contains("Bearer"))
            #expect(!text.contains("c2VjcmV0"))
        }
    }

    @Test("Credentials belong to the origin for which they were set and do not follow a switch of the environment")
    func origins() async throws {
        let environment = try SwitchableEnvironment([
            EnvironmentSnapshot(name: "a", baseURL: RequestURL("https://a.test/")),
            EnvironmentSnapshot(name: "a2", baseURL: RequestURL("https://a.test/other/")),
            EnvironmentSnapshot(name: "port", baseURL: RequestURL("https://a.test:8443/")),
            EnvironmentSnapshot(name: "plain", baseURL: RequestURL("http://a.test/")),
            EnvironmentSnapshot(name: "b", baseURL: RequestURL("https://b.test/")),
        ])
        let fixture = ServiceFixture(environment: environment)
        fixture.service.setAuthorization(try .bearer("for-a"))
        var seen: [String: String?] = [:]
        for name in ["a", "a2", "port", "plain", "b"] {
            try environment.select(name)
            seen[name] = try await fixture.sent(DataRequest(.get, "x")).headerFields[.authorization]
        }
        #expect(
            seen == ["a": "Bearer for-a", "a2": "Bearer for-a", "port": String?.none, "plain": String?.none, "b": nil])
    }

    @Test("Clearing credentials affects one origin and its private state only")
    func clearing() async throws {
        final class Store: PrivateStateStore {
            let cleared = Mutex<[Origin]>([])
            func clearPrivateState(of origin: Origin) async { cleared.withLock { $0.append(origin) } }
        }
        let store = Store()
        let environment = try SwitchableEnvironment([
            EnvironmentSnapshot(name: "a", baseURL: RequestURL("https://a.test/")),
            EnvironmentSnapshot(name: "b", baseURL: RequestURL("https://b.test/")),
        ])
        let fixture = ServiceFixture(environment: environment) { $0.privateState = [store] }
        fixture.service.setAuthorization(try .bearer("for-a"))
        try environment.select("b")
        fixture.service.setAuthorization(try .bearer("for-b"))
        await fixture.service.clearAuthorization()
        #expect(try await fixture.sent(DataRequest(.get, "x")).headerFields[.authorization] == nil)
        try environment.select("a")
        #expect(try await fixture.sent(DataRequest(.get, "x")).headerFields[.authorization] == "Bearer for-a")
        #expect(store.cleared.withLock { $0.map(\.description) } == ["https://b.test"])
    }
}
