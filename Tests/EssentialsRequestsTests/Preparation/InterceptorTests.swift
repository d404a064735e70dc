import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("Interceptors")
struct InterceptorTests {
    private struct Refusal: Error, Equatable { let why: String }

    @Test("An interceptor may refuse a request with a failure, another error, or as cancelled")
    func refusing() async throws {
        let failures: [(any Error, RequestFailure.Reason)] = [
            (RequestFailure(.hostRefused, "Not there."), .hostRefused), (Refusal(why: "no"), .invalidRequest),
            (CancellationError(), .cancelled),
        ]
        for (error, reason) in failures {
            let fixture = try ServiceFixture { $0.interceptors = [Intercepting { _ in throw error }] }
            let failure = await #expect(throws: RequestFailure.self) {
                try await fixture.service.send(DataRequest(.get, "a"))
            }
            #expect(failure?.reason == reason)
            #expect(fixture.transport.requests.isEmpty)
            if let refusal = error as? Refusal { #expect(failure?.underlying as? Refusal == refusal) }
        }
    }

    @Test("An interceptor receives the final URL, the request, the environment, and the additions of earlier ones")
    func sight() async throws {
        let seen = Mutex<[String]>([])
        let looking = Intercepting { draft in
            let text = try draft.url.target
            seen.withLock {
                $0 = [text, draft.request.path, draft.environment.name, draft.headerFields[.acceptLanguage] ?? ""]
            }
        }
        let adding = Intercepting { draft in
            draft.parameters["z"] = "1"
            try draft.add(HTTPField(name: .acceptLanguage, value: "en"))
        }
        let environment = try ConstantEnvironment("https://h/v1", name: "live")
        let fixture = ServiceFixture(environment: environment) { $0.interceptors = [adding, looking] }
        let sent = try await fixture.sent(
            DataRequest(.get, "a?x=1", parameters: ["y": 2], query: [("w", "3")]))
        #expect(sent.url.target == "/v1/a?x=1&w=3&y=2&z=1")
        #expect(seen.withLock { $0 } == ["/v1/a?x=1&w=3&y=2&z=1", "a?x=1", "live", "en"])
    }

    @Test("An interceptor replaces the request's parameters in the query and in a body of parameters")
    func parameterCollision() async throws {
        let fixture = try ServiceFixture {
            $0.interceptors = [Intercepting { $0.parameters = $0.parameters.merging(["a": "prepared"]) }]
        }
        let query = try await fixture.sent(DataRequest(.get, "p", parameters: ["a": "asked", "b": "kept"]))
        #expect(query.url.target == "/v1/p?a=prepared&b=kept")
        let body = try await fixture.sent(DataRequest(.post, "p", parameters: ["a": "asked", "b": "kept"]))
        #expect(body.bodyText == #"{"a":"prepared","b":"kept"}"#)
        var form = DataRequest(.post, "p", body: .parameters(["a": "asked", "b": "kept"], as: .form))
        #expect(try await fixture.sent(form).bodyText == "a=prepared&b=kept")
        form.body = .data(Data("bytes".utf8))
        let beside = try await fixture.sent(form)
        #expect(beside.bodyText == "bytes")
        #expect(beside.url.target == "/v1/p?a=prepared")
        let empty = try await fixture.sent(DataRequest(.post, "p"))
        #expect(empty.url.target == "/v1/p?a=prepared")
        #expect(empty.bodyText == nil)
    }

    /// Redirects the first request to another origin with the status, and accepts the second one.
    private func redirecting(_ status: Int, to location: String) -> StubTransport {
        StubTransport { request in
            let isFirst = request.url.path == "/v1/p"
            return TransportResponse(
                HTTPResponse(
                    status: .init(code: isFirst ? status : 200), headerFields: isFirst ? [.location: location] : [:]),
                body: ResponseBody(Data()))
        }
    }

    @Test("A body that an interceptor changed is not sent to another origin", arguments: [307, 308])
    func bodyLeavingOrigin(status: Int) async throws {
        let adding = Intercepting { $0.parameters["key"] = "s3cret" }
        let fixture = try ServiceFixture(redirecting(status, to: "https://other/q")) { $0.interceptors = [adding] }
        for request in [
            DataRequest(.post, "p", parameters: ["a": 1]),
            DataRequest(.post, "p", body: .parameters(["a": 1], as: .form)),
        ] {
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
            #expect(failure?.reason == .redirectRefused)
            #expect(failure.map { !"\($0)".contains("s3cret") } == true)
        }
        #expect(fixture.transport.requests.allSatisfy { $0.url.origin.host.text == "h" })
        // A body of bytes is not changed: the addition is in the query, which is not sent to the other origin.
        let bytes = try await fixture.sent(DataRequest(.post, "p", body: .data(Data("bytes".utf8))))
        #expect("\(bytes.url)" == "https://other/q")
        #expect(bytes.bodyText == "bytes")
    }

    @Test("A changed body is sent again within the origin, and an unchanged one to any origin")
    func bodyWithinOrigin() async throws {
        let adding = Intercepting { $0.parameters["key"] = "s3cret" }
        let inside = try ServiceFixture(redirecting(307, to: "/v1/q")) { $0.interceptors = [adding] }
        let request = DataRequest(.post, "p", parameters: ["a": 1])
        #expect(try await inside.sent(request).bodyText == #"{"a":1,"key":"s3cret"}"#)
        let idle = Intercepting { $0.headerFields[.acceptLanguage] = "en" }
        let outside = try ServiceFixture(redirecting(307, to: "https://other/q")) { $0.interceptors = [idle] }
        let sent = try await outside.sent(request)
        #expect(sent.bodyText == #"{"a":1}"#)
        #expect(sent.headerFields[.acceptLanguage] == nil)
        #expect("\(sent.url)" == "https://other/q")
    }

    /// A codec that writes parameters as text, into which nothing can be merged.
    private struct SealedCodec: BodyCodec {
        func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
            try JSONCodec().encode(model, as: .json)
        }

        func decode<Model: Decodable>(_ type: Model.Type, from body: Data, as mediaType: MediaType) throws -> Model {
            try JSONCodec().decode(type, from: body, as: .json)
        }
    }

    @Test("An interceptor's parameters go to the query if the body's codec does not merge parameters")
    func codecThatDoesNotMerge() async throws {
        struct Language: RequestPreparationDelegate {
            func additionalParameters(for method: HTTPRequest.Method, path: String) -> FormParameters { ["lang": "en"] }
        }
        let sealed = try MediaType("application/sealed")
        let fixture = try ServiceFixture {
            $0.codecs.register(SealedCodec(), for: MediaPattern(sealed))
            $0.interceptors = [
                DelegateInterceptor(Language()), Intercepting { $0.parameters["z"] = "1" },
            ]
        }
        let body = try await fixture.sent(DataRequest(.post, "p", body: .parameters(["a": 1], as: sealed)))
        #expect(body.bodyText == #"{"a":1}"#)
        #expect(body.url.target == "/v1/p?lang=en&z=1")
        let parameters = try await fixture.sent(.post("p", body: .parameters(["a": 1], as: sealed)))
        #expect(parameters.bodyText == #"{"a":1}"#)
        #expect(parameters.url.target == "/v1/p?lang=en&z=1")
        let form = try await fixture.sent(.post("p", body: .parameters(["a": 1], as: .form)))
        #expect(form.bodyText == "a=1&lang=en&z=1")
    }

    @Test("A delegate's parameters are requested when they are used, and the delegate is retained")
    func delegate() async throws {
        final class Delegate: RequestPreparationDelegate {
            let asked = Mutex<[String]>([])
            func additionalHeaderFields(for method: HTTPRequest.Method, path: String) -> HTTPFields {
                asked.withLock { $0.append("fields \(method) \(path)") }
                var fields: HTTPFields = [.acceptLanguage: "en", .authorization: "delegate"]
                fields.append(HTTPField(name: .acceptLanguage, value: "de"))
                return fields
            }
            func additionalParameters(for method: HTTPRequest.Method, path: String) -> FormParameters {
                asked.withLock { $0.append("parameters \(method) \(path)") }
                return ["lang": "en"]
            }
        }
        var delegate: Delegate? = Delegate()
        weak let held = delegate
        let fixture = try ServiceFixture { [delegate] configuration in
            if let delegate { configuration.interceptors = [DelegateInterceptor(delegate)] }
        }
        delegate = nil
        let sent = try await fixture.sent(DataRequest(.get, "a", headerFields: [.authorization: "request"]))
        #expect(sent.url.target == "/v1/a?lang=en")
        #expect(sent.headerFields[values: .acceptLanguage] == ["en", "de"])
        #expect(sent.headerFields[values: .authorization] == ["request"])
        let posted = try await fixture.sent(DataRequest(.post, "b", body: .text("x")))
        #expect(posted.url.target == "/v1/b")
        #expect(
            held?.asked.withLock { $0 } == ["parameters GET a", "fields GET a", "fields POST b"])
    }

    @Test(
        "A delegate's parameters are in the query of a request without a body",
        arguments: [
            DataRequest.Body.none, .raw(.none),
        ])
    func delegateWithoutBody(body: DataRequest.Body) async throws {
        struct Language: RequestPreparationDelegate {
            func additionalParameters(for method: HTTPRequest.Method, path: String) -> FormParameters {
                ["lang": "\(method)"]
            }
        }
        let fixture = try ServiceFixture { $0.interceptors = [DelegateInterceptor(Language())] }
        for method in [HTTPRequest.Method.post, .put, .patch] {
            let sent = try await fixture.sent(DataRequest(method, "a?x=1", body: body))
            #expect(sent.url.target == "/v1/a?x=1&lang=\(method)")
            #expect(sent.body.isEmpty)
            #expect(sent.headerFields[.contentType] == nil)
        }
        let form = try await fixture.sent(DataRequest(.post, "a", body: .parameters(["lang": "x", "b": 1], as: .form)))
        #expect(form.bodyText == "b=1&lang=POST")
        #expect(form.url.target == "/v1/a")
    }

    @Test("An interceptor's fields stay with the environment's origin when a redirect leaves it")
    func redirectElsewhere() async throws {
        let transport = StubTransport { request throws(RequestFailure) in
            guard request.url.origin.host.text == "h" else {
                return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data()))
            }
            return TransportResponse(
                HTTPResponse(status: .found, headerFields: [.location: "https://other/x"]), body: ResponseBody(Data()))
        }
        let tenant = try #require(HTTPField.Name("X-Tenant"))
        let key = try #require(HTTPField.Name("X-Api-Key"))
        let trace = try #require(HTTPField.Name("X-Trace"))
        let fixture = try ServiceFixture(transport, fields: [key: "secret"]) {
            $0.interceptors = [
                Intercepting { draft in
                    try draft.add(HTTPField(name: tenant, value: "acme"))
                    try draft.add(HTTPField(name: trace, value: "prepared"), onCollision: .replace)
                }
            ]
        }
        fixture.service.setAuthorization(try .bearer("token"))
        let response = try await fixture.service.send(
            DataRequest(.get, "a", headerFields: [.acceptLanguage: "en", trace: "asked"]))
        #expect(response.redirects.map(\.to.origin.host.text) == ["other"])
        #expect(response.url?.description == "https://other/x")
        let (first, second) = (transport.requests[0].headerFields, transport.requests[1].headerFields)
        let names = [tenant, key, trace, .authorization]
        #expect(names.map { first[$0] } == ["acme", "secret", "prepared", "Bearer token"])
        #expect(names.map { second[$0] } == [nil, nil, nil, nil])
        #expect(second[.acceptLanguage] == "en")
    }
}
