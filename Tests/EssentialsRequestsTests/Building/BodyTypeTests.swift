import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("Body content types")
struct BodyTypeTests {
    private static let utf16: [UInt8] = [0xff, 0xfe, 0x61, 0, 0xe9, 0]

    private func sent(
        _ body: DataRequest.Body, _ fields: HTTPFields = [:]
    ) async throws -> (type: [String], body: Data?) {
        let sent = try await ServiceFixture().sent(DataRequest(.put, "a", headerFields: fields, body: body))
        guard case .bytes(let data) = sent.body.content else { return (sent.headerFields[values: .contentType], nil) }
        return (sent.headerFields[values: .contentType], data)
    }

    @Test(
        "The content type of a text is the given one with one charset, and the bytes use that charset",
        arguments: [
            (nil, "text/plain; charset=utf-8", [0x61, 0xc3, 0xa9]),
            ("text/plain", "text/plain; charset=utf-8", [0x61, 0xc3, 0xa9]),
            ("text/html;charset=\"UTF-8\"", "text/html; charset=UTF-8", [0x61, 0xc3, 0xa9]),
            ("text/plain; charset=utf-16", "text/plain; charset=utf-16", utf16),
            ("Text/Plain ;Charset=ISO-8859-1", "text/plain; charset=ISO-8859-1", [0x61, 0xe9]),
            ("application/xml", "application/xml", [0x61, 0xc3, 0xa9]),
            ("application/json", "application/json", [0x61, 0xc3, 0xa9]),
            ("application/x-unknown", "application/x-unknown", [0x61, 0xc3, 0xa9]),
        ] as [(String?, String, [UInt8])])
    func text(type: String?, written: String, bytes: [UInt8]) async throws {
        let named = try await sent(.text("aé", type: type.map { try MediaType($0) }))
        #expect(named.type == [written])
        #expect(named.body == Data(bytes))
        // The same type set by the request's field and by the model's codec.
        let field = try await sent(.text("aé"), type.map { [.contentType: $0] } ?? [:])
        #expect(field.type == [written])
        #expect(field.body == Data(bytes))
        guard let type, type.lowercased().hasPrefix("text") else { return }
        let model = try await sent(.model("aé", as: MediaType(type)))
        #expect(model.type == [written])
        #expect(model.body == Data(bytes))
    }

    @Test(
        "A text in an unknown or insufficient charset is refused",
        arguments: ["nonsense", "us-ascii"])
    func unwritable(charset: String) async throws {
        let fixture = try ServiceFixture()
        let body = DataRequest.Body.text("aé", type: try MediaType("text/plain; charset=\(charset)"))
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.send(DataRequest(.put, "a", body: body))
        }
        #expect(failure?.reason == .encoding)
        #expect(failure?.message.contains(charset) == true)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("The content type of bytes is exactly the given one, without a charset, or octet-stream")
    func bytes() async throws {
        let data = Data([0xff, 0])
        for body in [DataRequest.Body.data(data), .model(data), .model([UInt8]([0xff, 0]))] {
            let plain = try await sent(body)
            #expect(plain.type == ["application/octet-stream"])
            #expect(plain.body == data)
            for type in ["text/plain", "application/json", "application/x-unknown", "TEXT/csv ; Header=present"] {
                #expect(try await sent(body, [.contentType: type]).body == data)
                let named = try await sent(.model(data, as: MediaType(type)))
                #expect(named.type == [try MediaType(type).description])
                #expect(named.body == data)
            }
        }
    }

    @Test("A String body is text/plain, and JSON only if that type is named")
    func string() async throws {
        let plain = try await sent(.model("aé"))
        #expect(plain.type == ["text/plain; charset=utf-8"])
        #expect(plain.body == Data("aé".utf8))
        for json in [
            try await sent(.model("aé", as: .json)), try await sent(.model("aé"), [.contentType: "application/json"]),
        ] {
            #expect(json.type == ["application/json; charset=utf-8"])
            #expect(json.body == Data("\"aé\"".utf8))
        }
        let array = try await sent(.model(["a"]))
        #expect(array.type == ["application/json; charset=utf-8"])
    }

    @Test("An empty text or data sets a content type")
    func empty() async throws {
        let text = try await sent(.text(""))
        #expect(text.type == ["text/plain; charset=utf-8"])
        #expect(text.body == Data())
        let data = try await sent(.data(Data()))
        #expect(data.type == ["application/octet-stream"])
        #expect(data.body == Data())
    }

    @Test("The content type of a model is JSON with one charset, or without one if the codec says so")
    func json() async throws {
        #expect(try await sent(.model([1])).type == ["application/json; charset=utf-8"])
        #expect(
            try await sent(.model([1]), [.contentType: "Application/JSON ;charset=\"utf-8\""]).type == [
                "application/json; charset=utf-8"
            ])
        let fixture = try ServiceFixture {
            $0.codecs.register(JSONCodec(addsCharset: false), for: MediaPattern(.json))
        }
        let sent = try await fixture.sent(DataRequest(.put, "a", body: .model([1])))
        #expect(sent.headerFields[values: .contentType] == ["application/json"])
    }

    @Test(
        "The content type of a multipart body has its boundary, and parameters are not added"
    )
    func multipart() async throws {
        var form = try MultipartBody(boundary: "B")
        try form.append(.field("a", "b"))
        final class Delegate: RequestPreparationDelegate {
            func additionalHeaderFields(for method: HTTPRequest.Method, path: String) -> HTTPFields {
                [.acceptLanguage: "en", .contentType: "text/csv"]
            }
            func additionalParameters(for method: HTTPRequest.Method, path: String) -> FormParameters { ["x": 1] }
        }
        let fixture = try ServiceFixture { $0.interceptors = [DelegateInterceptor(Delegate())] }
        let sent = try await fixture.sent(
            DataRequest(.post, "a", headerFields: [.contentType: "text/plain"], body: .multipart(form)))
        #expect(sent.headerFields[values: .contentType] == ["multipart/form-data; boundary=B"])
        #expect(sent.headerFields[.acceptLanguage] == "en")
        #expect(sent.url.target == "/v1/a")
    }

    @Test(
        "The content type of a response is parsed regardless of case, spaces and quotation marks",
        arguments: ["application/json", "Application/JSON ;charset=\"utf-8\"", "text/json", "application/problem+json"])
    func answer(type: String) async throws {
        let transport = StubTransport { _ in
            TransportResponse(
                HTTPResponse(status: .ok, headerFields: [.contentType: type]),
                body: ResponseBody(Data(#"{"id":1,"text":"é"}"#.utf8)))
        }
        #expect(try await ServiceFixture(transport).service.get("a", as: Note.self) == Note(id: 1, text: "é"))
    }
}
