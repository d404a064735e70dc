import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Small requests")
struct PlainRequestTests {
    private static let base = "https://api.example.com/v1/"
    private static let methods: [HTTPRequest.Method] = [.get, .head, .delete, .options, .post, .put, .patch]

    @Test(
        "A small request has the service's fields, the credentials and the options, and nothing else",
        arguments: methods)
    func sent(method: HTTPRequest.Method) async throws {
        let accepted: [ResponseKind: String] = [.response: "*/*", .model: "application/json", .bytes: "*/*"]
        for (kind, accept) in accepted {
            for credentials in [nil, "secret"] {
                let fixture = try ServiceFixture(base: Self.base)
                if let credentials { fixture.service.setAuthorization(try .bearer(credentials)) }
                for (path, target) in [("users/1", "/v1/users/1"), ("/users", "/v1/users"), ("a?x=1", "/v1/a?x=1")] {
                    var request = DataRequest(method, path)
                    request.responseKind = kind
                    request.options.totalTimeout = .seconds(7)
                    let sent = try await fixture.sent(request)
                    #expect(sent.method == method)
                    #expect(sent.url.description == "https://api.example.com\(target)")
                    var fields: HTTPFields = credentials.map { [.authorization: "Bearer \($0)"] } ?? [:]
                    fields.append(HTTPField(name: .accept, value: accept))
                    fields.append(HTTPField(name: .userAgent, value: "test/1"))
                    #expect(sent.headerFields == fields)
                    #expect(sent.options == request.options)
                    #expect(sent.body.isEmpty)
                }
            }
        }
    }

    @Test("A request has the trust policy of its environment")
    func trust() async throws {
        let policy = TrustPolicy(minimumTLS: .tls13)
        let fixture = ServiceFixture(environment: try ConstantEnvironment(Self.base, trust: policy))
        #expect(try await fixture.sent(DataRequest(.get, "a")).options.trust == policy)
    }

    @Test("A request that expects no status at all fails before it is sent")
    func nothingExpected() async throws {
        let fixture = try ServiceFixture(base: Self.base)
        var request = DataRequest(.get, "a")
        request.expectedStatus = []
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
        #expect(failure?.reason == .invalidRequest)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("A request has the credentials that are set, and none after they are cleared")
    func credentials() async throws {
        let transport = ScriptedTransport()
        _ = transport.on(.get, "/v1/a").answer(.ok)
        let service = HTTPDataRequestService(environment: try ConstantEnvironment(Self.base), transport: transport)
        try await service.get("a")
        service.setAuthorization(try .bearer("secret"))
        try await service.get("a")
        await service.clearAuthorization()
        try await service.get("a")
        #expect(transport.requests.map { $0.headerFields[.authorization] } == [nil, "Bearer secret", nil])
    }
}
