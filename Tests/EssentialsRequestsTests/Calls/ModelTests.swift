import Dispatch
import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("Response models")
struct ModelTests {
    private func service(
        _ body: String, type: String? = "application/json", status: Int = 200, streamed: Bool = false
    ) throws -> HTTPDataRequestService {
        let fields: HTTPFields = type.map { [.contentType: $0] } ?? [:]
        return try ServiceFixture(
            StubTransport { _ in
                TransportResponse(
                    HTTPResponse(status: .init(code: status), headerFields: fields),
                    body: ResponseBody(Data(body.utf8)))
            }
        ).service
    }

    @Test("A response model can be optional, an array, text, bytes or empty")
    func kinds() async throws {
        let one = #"{"id":1,"text":"a"}"#
        #expect(try await service(one).get("a", as: Note?.self) == Note(id: 1, text: "a"))
        #expect(try await service("null").get("a", as: Note?.self) == nil)
        #expect(try await service("[\(one),\(one)]").get("a", as: [Note].self).count == 2)
        #expect(try await service("5").get("a", as: Int.self) == 5)
        #expect(try await service("plain", type: "text/plain").get("a", as: String.self) == "plain")
        #expect(try await service(one).get("a", as: Data.self) == Data(one.utf8))
        #expect(try await service(one).get("a", as: JSONValue.self) == ["id": 1, "text": "a"])
        #expect(try await service(one).get("a").body.data == Data(one.utf8))
    }

    @Test("An empty body is nil for an optional model or an empty status, otherwise the failure emptyBody")
    func empty() async throws {
        for status in [200, 201, 204, 205] {
            #expect(try await service("", status: status).get("a", as: Note?.self) == nil)
            let failure = await #expect(throws: RequestFailure.self) {
                try await service("", status: status).get("a", as: Note.self)
            }
            #expect(failure?.reason == .emptyBody)
            #expect(failure?.host == "h")
            #expect(failure?.response?.head.status.code == status)
        }
        #expect(try await service("").get("a", as: Data.self).isEmpty)
        try await service("", status: 204).delete("a")
        _ = try await service("", status: 204).delete("a", as: EmptyResponse.self)
    }

    @Test("Text in an unknown charset fails as decoding, and the failure says what to do instead")
    func unknownCharset() async throws {
        let type = "text/plain; charset=nonsense"
        let failure = await #expect(throws: RequestFailure.self) {
            try await service("é", type: type).get("a", as: String.self)
        }
        #expect(failure?.reason == .decoding)
        #expect(failure?.message.contains("“nonsense”") == true)
        #expect(failure?.remedy?.contains("request Data") == true)
        #expect(failure?.response?.body == Data("é".utf8))
        #expect(try await service("é", type: type).get("a", as: Data.self) == Data("é".utf8))
        #expect(try await service("é", type: "text/plain").get("a", as: String.self) == "é")
    }

    @Test("An invalid element fails the whole model unless skipping is requested")
    func lossy() async throws {
        let body = #"[{"id":1,"text":"a"},5,{"id":"x"},{"id":2,"text":"b"}]"#
        let failure = await #expect(throws: RequestFailure.self) { try await service(body).get("a", as: [Note].self) }
        #expect(failure?.reason == .decoding)
        #expect(failure?.message.contains("[1]") == true)
        #expect(failure?.response?.body == Data(body.utf8))
        let some = try await service(body).get("a", as: LossyArray<Note>.self)
        #expect(some.elements.map(\.id) == [1, 2])
    }

    @Test("An unexpected status decodes the request's error model")
    func errorModel() async throws {
        struct Problem: Decodable, Sendable, Equatable { let title: String }
        let service = try service(#"{"title":"No."}"#, type: "application/problem+json", status: 422)
        var request = DataRequest(.get, "a")
        request.errorModel = Problem.self
        let failure = await #expect(throws: RequestFailure.self) { try await service.send(request) }
        #expect(failure?.reason == .status)
        #expect(failure?.response?.model as? Problem == Problem(title: "No."))
        #expect(failure?.response?.body == Data(#"{"title":"No."}"#.utf8))
        #expect(failure?.message.contains("422") == true)
        #expect(failure?.legacyCode == 422)
        request.errorModel = Note.self
        let other = await #expect(throws: RequestFailure.self) { try await service.send(request) }
        #expect(other?.reason == .status)
        #expect(other?.response?.model == nil)
        #expect(other?.response?.body.isEmpty == false)
        let below = other?.underlying as? RequestFailure
        #expect(below?.reason == .decoding)
        #expect(below?.underlying is DecodingError)
        #expect(below?.message.contains("“id” is missing") == true)
    }

    @Test("The delay before the next attempt is parsed from seconds or a date")
    func retryAfter() async throws {
        let now = Date(timeIntervalSince1970: 784_111_777)
        let values: [(String, Duration?)] = [
            ("120", .seconds(120)), ("0", .zero), ("Sun, 06 Nov 1994 08:50:37 GMT", .seconds(60)),
            ("Sun, 06 Nov 1994 08:48:37 GMT", .zero), ("soon", nil), ("-1", nil), ("", nil),
            ("99999999999999999999", .seconds(10_000_000_000)),
        ]
        for (value, duration) in values {
            let fixture = try ServiceFixture(
                StubTransport { _ in
                    TransportResponse(
                        HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: value]),
                        body: ResponseBody(Data()))
                })
            let failure = await #expect(throws: RequestFailure.self) {
                try await fixture.service.send(DataRequest(.get, "a"))
            }
            #expect(failure?.response?.retryAfter(now: now) == duration)
        }
    }

    @Test("A body of more than 64 KiB is decoded off the caller's actor")
    @MainActor
    func large() async throws {
        struct Where: Decodable, Sendable {
            static let key = DispatchSpecificKey<Bool>()
            let isOnMainQueue: Bool
            init(from decoder: any Decoder) throws {
                _ = try decoder.singleValueContainer().decode(String.self)
                isOnMainQueue = DispatchQueue.getSpecific(key: Self.key) ?? false
            }
        }
        DispatchQueue.main.setSpecific(key: Where.key, value: true)
        let text = String(repeating: "x", count: 70 << 10)
        #expect(try await service("\"\(text)\"").get("a", as: Where.self).isOnMainQueue == false)
        #expect(try await service("\"x\"").get("a", as: Where.self).isOnMainQueue)
    }

    @Test("Every failure has the code of the Objective-C library", arguments: RequestFailure.Reason.all)
    func legacyCode(reason: RequestFailure.Reason) {
        let codes: [RequestFailure.Reason: Int] = [
            .encoding: 1000, .decoding: 1000, .emptyBody: 1000, .trustChain: 1001, .trustHost: 1001,
            .pinMismatch: 1001, .unexpectedPeer: 1001, .otherTrust: 1001, .tlsTooOld: 1001, .trustEvidence: 1001,
            .revoked: 1001, .hostRefused: 1001, .plaintextRefused: 1001, .cancelled: 1002, .invalidRequest: 1003,
            .closed: 1003, .queueFull: 1003, .circuitOpen: 1003, .notCached: 1003, .file: 1004,
        ]
        #expect(RequestFailure(reason, "No.").legacyCode == codes[reason])
    }
}
