import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsRequests

/// Requests without optional parts skip the stages that have nothing to do.
@Suite("Plain requests")
struct PlainRequestTests {
    private static let base = "https://api.example.com/v1/"

    private func assembly(
        _ request: DataRequest, configuration: HTTPDataRequestService.Configuration = .init(),
        trust: TrustPolicy? = nil, fields: HTTPFields = [:]
    ) throws -> RequestAssembly {
        let environment = EnvironmentSnapshot(
            baseURL: try RequestURL(Self.base), headerFields: fields, trust: trust)
        return RequestAssembly(request: request, environment: environment, settings: ServiceSettings(configuration))
    }

    private static let methods: [HTTPRequest.Method] = [.get, .head, .delete, .options, .post, .put, .patch]

    @Test(
        "A plain request is sent exactly as the full preparation would create it", arguments: methods,
        [AnswerKind.response, .model, .bytes])
    func same(method: HTTPRequest.Method, answer: AnswerKind) throws {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.userAgent = "test/1"
        for path in ["users/1", "/users", "a?x=1"] {
            for trust in [nil, TrustPolicy(anchors: .system)] {
                var request = DataRequest(method, path)
                request.answer = answer
                request.options.totalTimeout = .seconds(7)
                let assembly = try assembly(request, configuration: configuration, trust: trust)
                for credentials in [nil, "Bearer secret"] {
                    let plain = try #require(try assembly.plain(authorization: credentials))
                    let careful = try assembly.result(
                        of: assembly.draft(), authorization: credentials.map { .field($0) })
                    #expect(plain.head == careful.request.head)
                    #expect(plain.headerFields[.authorization] == credentials)
                    #expect(plain.options == careful.request.options)
                    #expect(plain.body.isEmpty == careful.request.body.isEmpty)
                    #expect(careful.passedOver.isEmpty)
                    #expect(careful.redirects.sensitiveFields == configuration.redirects.sensitiveFields)
                }
            }
        }
    }

    @Test("A request with any additional part, or with a path that must be normalized, is not plain")
    func others() throws {
        var requests = [
            DataRequest(.get, "a", parameters: ["x": 1]), DataRequest(.get, "a", query: ["x": "1"]),
            DataRequest(.get, "a", headerFields: [.accept: "*/*"]), DataRequest(.post, "a", body: .text("x")),
            DataRequest(.post, "a", body: .data(Data())), DataRequest(.get, "../a"), DataRequest(.get, "ä"),
            DataRequest(.get, "https://api.example.com/v1/a"), DataRequest(.get, ""),
        ]
        requests.append(DataRequest(.post, "a", parameters: ["x": 1]))
        for request in requests { #expect(try assembly(request).plain(authorization: nil) == nil, "\(request.path)") }
        let plain = DataRequest(.get, "a")
        #expect(try assembly(plain).plain(authorization: nil) != nil)
        #expect(try assembly(plain, fields: [.cacheControl: "no-cache"]).plain(authorization: nil) == nil)
        var configuration = HTTPDataRequestService.Configuration()
        configuration.sendsPriority = true
        #expect(try assembly(plain, configuration: configuration).plain(authorization: nil) == nil)
        configuration = HTTPDataRequestService.Configuration()
        configuration.pathResolution = .rfc3986
        #expect(try assembly(plain, configuration: configuration).plain(authorization: nil) == nil)
    }

    @Test("A request without expected statuses is refused")
    func nothingExpected() throws {
        var request = DataRequest(.get, "a")
        request.expectedStatus = []
        #expect(throws: RequestFailure.self) { try assembly(request).plain(authorization: nil) }
    }

    @Test("A plain request has the credentials that are set, and none after they are cleared")
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
