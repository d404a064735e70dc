import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import TestTools
import Testing

/// A secret that is put into every value that can hold one.
private let marker = "hunter2-marker"

/// Passes on the draft and the encoded request that it receives.
private struct Observer: RequestInterceptor {
    let see: @Sendable (Any) -> Void

    func prepare(_ draft: inout RequestDraft) async throws { see(draft) }
    func sign(_ request: inout EncodedRequest) async throws { see(request) }
    func received(_ outcome: HopOutcome) async throws { see(outcome) }
}

@Suite("Secrets of service values") struct RequestSecretTests {
    private static func policy() throws -> TrustPolicy {
        let texts = try ["CERTIFICATE", "PRIVATE KEY"].map {
            try PEM("-----BEGIN \($0)-----\n\(marker)\n-----END \($0)-----\n")
        }
        return TrustPolicy(identity: try ClientIdentity(certificate: texts[0], privateKey: texts[1]))
    }

    private static func request() throws -> DataRequest {
        var request = DataRequest(
            .post, "a?token=\(marker)", parameters: ["password": marker], query: ["token": marker],
            headerFields: [.authorization: marker], body: .none)
        request.options.trust = try policy()
        return request
    }

    private static func values() throws -> [(name: String, value: Any)] {
        let url = try RequestURL("https://api.test/a?token=\(marker)")
        let fields: HTTPFields = [.authorization: "Bearer \(marker)"]
        let environment = EnvironmentSnapshot(name: "test", baseURL: url, headerFields: fields, trust: try policy())
        var curl = CurlTransport.Configuration()
        curl.proxy = .fixed(try Proxy("http://user:\(marker)@proxy.test:1"))
        curl.proxyTrust = try policy()
        let hop = RedirectHop(from: url, status: .found, to: url, method: .get)
        let response = TransportResponse(
            HTTPResponse(status: .ok, headerFields: [.setCookie: marker]), body: ResponseBody(Data(marker.utf8)))
        let sent = TransportRequest(.get, url, headerFields: fields)
        let data = DataResponse(response, url: url, redirects: [hop])
        let part = MultipartPart.field("password", marker)
        let bodies: [DataRequest.Body] = [
            .text(marker), .data(Data(marker.utf8)), .parameters(["password": marker]), .model(marker),
        ]
        return [
            ("DataRequest", try request()), ("RequestBuilder", RequestBuilder(try request())),
            ("bodies", bodies), ("EnvironmentSnapshot", environment),
            ("ConstantEnvironment", ConstantEnvironment(environment)),
            ("SwitchableEnvironment", try SwitchableEnvironment([environment])),
            ("CurlTransport.Configuration", curl), ("RedirectHop", hop),
            ("RedirectProposal", RedirectProposal(hop: hop, request: sent, history: [hop])),
            ("RedirectedResponse", RedirectedResponse(response: response, request: sent, history: [hop])),
            ("DataResponse", data), ("ModelResponse", ModelResponse(model: 1, response: data)),
            ("MultipartPart", part),
            (
                "EncodedRequest",
                EncodedRequest(
                    .post, url, headerFields: fields, content: .bytes(Data(marker.utf8)), environment: environment)
            ),
            ("HopOutcome", HopOutcome(.get, url, environment: environment, response: data)),
            ("basic Credentials", try Credentials.basic(user: "ada", password: marker)),
            ("bearer Credentials", try Credentials.bearer(marker)),
            ("header Credentials", try Credentials.header("Key \(marker)")),
            ("digest Credentials", try Credentials.digest(user: "ada", password: marker)),
        ]
    }

    @Test("Neither printing nor reflection shows the secrets of a service's values")
    func hidden() throws {
        for (name, value) in try Self.values() {
            #expect(!shown(value).contains(marker), "\(name): \(shown(value))")
        }
    }

    @Test("A service, its interceptors and its transport show no secrets of a request")
    func service() async throws {
        let seen = Mutex<[String]>([])
        let transport = ScriptedTransport()
        transport.on(.post, "/a").answer(.ok)
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = [Observer { value in seen.withLock { $0.append(shown(value)) } }]
        let environment = EnvironmentSnapshot(
            baseURL: try RequestURL("https://api.test/"), headerFields: [.cookie: marker], trust: try Self.policy())
        let service = HTTPDataRequestService(
            environment: ConstantEnvironment(environment), transport: transport, configuration: configuration)
        service.setAuthorization(try Credentials.bearer(marker))
        _ = try await service.send(Self.request())
        let recorded = try await transport.request(number: 1)
        let texts = seen.withLock { $0 } + [shown(recorded), shown(service), shown(configuration)]
        #expect(texts.count == 6)
        #expect(recorded.headerFields[.authorization]?.contains(marker) == true)
        for text in texts { #expect(!text.contains(marker), "\(text)") }
    }
}
