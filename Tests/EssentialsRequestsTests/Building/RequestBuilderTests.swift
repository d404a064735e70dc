import EssentialsHTTP
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Request builder")
struct RequestBuilderTests {
    private func sent(_ builder: RequestBuilder) async throws -> TransportRequest {
        try await ServiceFixture().sent(builder.build())
    }

    @Test("A builder has one method of any name", arguments: ["GET", "PUT", "PROPFIND"])
    func method(name: String) async throws {
        let method = try #require(HTTPRequest.Method(name))
        #expect(try await sent(RequestBuilder(method, "a")).method == method)
    }

    @Test("A builder sets, appends and removes fields regardless of case, and refuses invalid ones")
    func fields() async throws {
        let request = try RequestBuilder(.get, "a").header("X-A", "1").header("x-a", "2").appendingHeader("X-A", "3")
            .header("X-B", "1").removingHeader("x-b").build()
        #expect(request.headerFields.map { "\($0.name.canonicalName)=\($0.value)" } == ["x-a=2", "x-a=3"])
        for builder in [
            RequestBuilder(.get, "a").header("X A", "1"), RequestBuilder(.get, "a").header("X-A", "1\r\nX-B: 2"),
            RequestBuilder(.get, "a").appendingHeader("", "1"), RequestBuilder(.get, "a").removingHeader("a b"),
        ] {
            let failure = #expect(throws: RequestFailure.self) { try builder.build() }
            #expect(failure?.reason == .invalidRequest)
        }
    }

    @Test("A builder sets, appends and removes fields by field name as by text")
    func fieldNames() throws {
        let builder = RequestBuilder(.get, "a").header(.accept, "a/b").header(.accept, "c/d")
            .appendingHeader(.accept, "e/f").header(.via, "1").removingHeader(.via)
        #expect(try builder.build().headerFields.map(\.value) == ["c/d", "e/f"])
        #expect(throws: RequestFailure.self) { try builder.header(.accept, "a\nb").build() }
    }

    @Test("A builder appends query items in order and keeps repeated ones")
    func query() async throws {
        let builder = RequestBuilder(.post, "a?x=1").query("b", "2").query("a", nil).query("b", "3 4")
        #expect(try await sent(builder).url.target == "/v1/a?x=1&b=2&a&b=3%204")
    }

    @Test("A builder places parameters by the method, and later values win")
    func parameters() async throws {
        let get = RequestBuilder(.get, "a").parameters(["list": ["p", "q"], "x": 1]).parameters(["x": 2])
        #expect(try await sent(get).url.target == "/v1/a?list[]=p&list[]=q&x=2")
        let post = RequestBuilder(.post, "a").parameters(["x": 1]).parameters(["x": 2]).contentEncoding(.form)
        #expect(try await sent(post).bodyText == "x=2")
        let failure = #expect(throws: RequestFailure.self) {
            try RequestBuilder(.post, "a").body(text: "x").parameters(["x": 1]).build()
        }
        #expect(failure?.underlying as? SettingConflict == SettingConflict("body(text:)", "parameters"))
    }

    @Test("A second body is a conflict that names both bodies")
    func bodies() throws {
        let multipart = try MultipartBody()
        let steps: [(String, (RequestBuilder) -> RequestBuilder)] = [
            ("parameters", { $0.parameters(["a": 1]) }), ("body(parameters:)", { $0.body(parameters: [:]) }),
            ("body(model:)", { $0.body(model: 1) }),
            ("body(data:)", { $0.body(data: Data()) }), ("body(text:)", { $0.body(text: "") }),
            ("body(file:)", { $0.body(file: #filePath) }),
            ("body(stream:)", { $0.body(stream: AsyncStream<Data> { $0.finish() }, length: nil) }),
            ("body(multipart:)", { $0.body(multipart: multipart) }),
        ]
        for (first, one) in steps {
            for (second, other) in steps where first != "parameters" || second != "parameters" {
                let failure = #expect(throws: RequestFailure.self) {
                    try other(one(RequestBuilder(.post, "a"))).build()
                }
                #expect(failure?.reason == .invalidRequest)
                #expect(failure?.underlying as? SettingConflict == SettingConflict(first, second))
                #expect(failure?.legacyCode == 1004)
                #expect(failure?.message.contains(second) == true)
            }
        }
    }

    @Test("The encoding may be set before or after the body, only once, and not for parts")
    func contentEncoding() async throws {
        let before = RequestBuilder(.post, "a").contentEncoding(.form).body(parameters: ["b": 1, "a": 2])
        let after = RequestBuilder(.post, "a").body(parameters: ["b": 1, "a": 2]).contentEncoding(.form)
        for builder in [before, after] {
            let request = try await sent(builder)
            #expect(request.bodyText == "a=2&b=1")
            #expect(request.headerFields[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true)
        }
        let multipart = try MultipartBody()
        for builder in [
            RequestBuilder(.post, "a").body(text: "x").contentEncoding(.json).contentEncoding(.json),
            RequestBuilder(.post, "a").body(multipart: multipart).contentEncoding(.json),
            RequestBuilder(.post, "a").contentEncoding(.json).body(multipart: multipart),
            RequestBuilder(.post, "a").body(data: Data(), type: .octetStream).contentEncoding(.json),
            RequestBuilder(.post, "a").contentEncoding(.json).body(text: "x", type: .text),
        ] {
            let failure = #expect(throws: RequestFailure.self) { try builder.build() }
            #expect(failure?.reason == .invalidRequest)
        }
        let unknown = RequestBuilder(.post, "a").contentEncoding(try MediaType("application/x-unknown"))
            .body(parameters: [:])
        let failure = await #expect(throws: RequestFailure.self) { try await sent(unknown) }
        #expect(failure?.reason == .encoding)
    }

    @Test("An encoding without a body, even an unknown one, is accepted and sends no Content-Type")
    func contentEncodingWithoutBody() async throws {
        for type in [MediaType.json, try MediaType("application/x-unknown")] {
            let post = try await sent(RequestBuilder(.post, "a").contentEncoding(type))
            #expect(post.bodyText == nil)
            #expect(post.headerFields[.contentType] == nil)
            let get = try await sent(RequestBuilder(.get, "a").parameters(["x": 1]).contentEncoding(type))
            #expect(get.url.target.hasSuffix("a?x=1"))
            #expect(get.headerFields[.contentType] == nil)
        }
    }

    @Test("Empty parameters in a body are sent as an empty body")
    func emptyParameters() async throws {
        #expect(try await sent(RequestBuilder(.post, "a").body(parameters: [:])).bodyText == "{}")
    }

    @Test("Expected statuses are ranges, codes or a closure, and must not be empty")
    func statuses() async throws {
        let builders = [
            RequestBuilder(.get, "a").expecting(404...404), RequestBuilder(.get, "a").expecting(.codes([404, 500])),
            RequestBuilder(.get, "a").expecting(.matching { $0 == 404 }), RequestBuilder(.get, "a").expecting(.any),
        ]
        for builder in builders {
            let fixture = try ServiceFixture(StubTransport(status: 404))
            #expect(try await fixture.service.send(builder).status == .notFound)
        }
        let failure = #expect(throws: RequestFailure.self) { try RequestBuilder(.get, "a").expecting([]).build() }
        #expect(failure?.reason == .invalidRequest)
        var empty = DataRequest(.get, "a")
        empty.expectedStatus = .codes([])
        let fixture = try ServiceFixture()
        await #expect(throws: RequestFailure.self) { try await fixture.service.send(empty) }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("A builder sets accept, timeout, trust, redirects and delivery")
    func rest() async throws {
        let policy = try TrustPolicy(json: #"{"minimumTLS": "1.3"}"#)
        let builder = RequestBuilder(.get, "a").accept(.json, .text).deadline(.seconds(3)).trust(policy)
            .redirects(.refused).streaming().finishingOnShutdown()
        let request = try builder.build()
        #expect(request.redirects != nil)
        #expect(request.finishesOnShutdown == true)
        let sent = try await sent(builder)
        #expect(sent.headerFields[values: .accept] == ["application/json, text/plain"])
        #expect(sent.options.totalTimeout == .seconds(3))
        #expect(sent.options.trust == policy)
        #expect(sent.options.delivery == .streamed)
        let fixture = try ServiceFixture(StubTransport(status: 302))
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(builder) }
        #expect(failure?.reason == .status)
    }

    @Test("A builder is a value: changing a copy does not affect the original or built requests")
    func value() async throws {
        let base = RequestBuilder(.get, "a").query("x", "1")
        let (one, two) = (base.query("y", "2"), base.query("z", "3"))
        #expect(try await sent(one).url.target == "/v1/a?x=1&y=2")
        #expect(try await sent(two).url.target == "/v1/a?x=1&z=3")
        #expect(try await sent(base).url.target == "/v1/a?x=1")
    }

    @Test("A conflict in a builder fails once, in the handler with a token as well, and sends nothing")
    func failing() async throws {
        let fixture = try ServiceFixture()
        let builder = RequestBuilder(.post, "a").body(text: "x").body(text: "y")
        let conflict = SettingConflict("body(text:)", "body(text:)")
        typealias Models = CheckedContinuation<Result<Note, RequestFailure>, Never>
        typealias Responses = CheckedContinuation<Result<DataResponse, RequestFailure>, Never>
        let response = await withCheckedContinuation { (continuation: Responses) in
            let token = fixture.service.send(builder) { continuation.resume(returning: $0) }
            #expect(!token.isCancelled)
        }
        #expect(#expect(throws: RequestFailure.self) { try response.get() }?.underlying as? SettingConflict == conflict)
        let model = await withCheckedContinuation { (continuation: Models) in
            fixture.service.send(builder, deserializeTo: Note.self) { continuation.resume(returning: $0) }
        }
        #expect(#expect(throws: RequestFailure.self) { try model.get() }?.legacyCode == 1004)
        let thrown = await #expect(throws: RequestFailure.self) {
            try await fixture.service.model(of: builder, as: Note.self)
        }
        #expect(thrown?.underlying as? SettingConflict == conflict)
        await #expect(throws: RequestFailure.self) { try await fixture.service.download(builder, to: "/nowhere/a") }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("A builder is sent in one call, with a handler and as a model")
    func sending() async throws {
        let fixture = try ServiceFixture(StubTransport(#"{"id":1,"text":"a"}"#))
        let builder = RequestBuilder(.post, "a").body(text: "x")
        let note = Note(id: 1, text: "a")
        #expect(try await fixture.service.model(of: builder, as: Note.self) == note)
        typealias Models = CheckedContinuation<Result<Note, RequestFailure>, Never>
        let model = await withCheckedContinuation { (continuation: Models) in
            fixture.service.send(builder, deserializeTo: Note.self) { continuation.resume(returning: $0) }
        }
        #expect(try model.get() == note)
        #expect(fixture.transport.requests.map(\.bodyText) == ["x", "x"])
    }

    @Test("A builder can start from a request and keeps its body")
    func fromRequest() throws {
        let request = DataRequest(.post, "a", body: .text("x"))
        let failure = #expect(throws: RequestFailure.self) { try RequestBuilder(request).body(text: "y").build() }
        #expect(failure?.underlying as? SettingConflict == SettingConflict("body", "body(text:)"))
    }
}
