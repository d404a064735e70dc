import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("Error models")
struct ErrorModelTests {
    private struct Problem: Codable, Sendable, Equatable { var title: String }

    private static let problem = #"{"title":"No."}"#

    private func transport(_ body: String = problem, type: String? = "application/problem+json") -> StubTransport {
        let fields: HTTPFields = type.map { [.contentType: $0] } ?? [:]
        return StubTransport { _ in
            TransportResponse(
                HTTPResponse(status: .notFound, headerFields: fields), body: ResponseBody(Data(body.utf8)))
        }
    }

    private func failure(
        _ body: String = problem, type: String? = "application/problem+json",
        model: (any (Decodable & Sendable).Type)? = Problem.self, request: DataRequest = DataRequest(.get, "a")
    ) async throws -> RequestFailure {
        let fixture = try ServiceFixture(transport(body, type: type)) { $0.errorModel = model }
        return try #require(
            await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) })
    }

    @Test("The service's error model is decoded from an unexpected response and returned with its type")
    func serviceWide() async throws {
        let failure = try await failure()
        #expect(failure.reason == .status)
        #expect(failure.errorModel(as: Problem.self) == Problem(title: "No."))
        #expect(failure.errorModel(as: Note.self) == nil)
        #expect(failure.response?.body == Data(Self.problem.utf8))
        #expect(failure.underlying == nil)
    }

    @Test("A request's error model takes precedence over that of its service")
    func requestWins() async throws {
        var request = DataRequest(.get, "a")
        request.errorModel = JSONValue.self
        let failure = try await failure(request: request)
        #expect(failure.errorModel(as: JSONValue.self) == ["title": "No."])
        #expect(failure.errorModel(as: Problem.self) == nil)
    }

    @Test(
        "A body that does not match the error model keeps the decoder's failure and the raw body",
        arguments: [(#"{"id":1}"#, "application/json"), ("{", "application/json"), ("<html>", "text/html")])
    func unfit(body: String, type: String) async throws {
        let failure = try await failure(body, type: type)
        #expect(failure.reason == .status)
        #expect(failure.errorModel(as: Problem.self) == nil)
        #expect(failure.response?.body == Data(body.utf8))
        #expect((failure.underlying as? RequestFailure)?.reason == .decoding)
    }

    @Test("An empty body is not decoded as an error model")
    func empty() async throws {
        let failure = try await failure("")
        #expect(failure.reason == .status)
        #expect(failure.underlying == nil)
    }

    @Test("The service's error model is decoded for downloads and requests to absolute URLs")
    func everywhere() async throws {
        let fixture = try ServiceFixture(transport()) { $0.errorModel = Problem.self }
        let download = await #expect(throws: RequestFailure.self) {
            try await fixture.service.download("a", to: "/tmp/essentials-\(UUID())")
        }
        #expect(download?.errorModel() == Problem(title: "No."))
        var configuration = HTTPDataRequestService.Configuration()
        configuration.errorModel = Problem.self
        let unsafe = HTTPDataRequestService.forAnyServer(over: transport(), configuration: configuration)
        let other = await #expect(throws: RequestFailure.self) { try await unsafe.get("https://any.test/a") }
        #expect(other?.errorModel() == Problem(title: "No."))
    }

    @Test("A model can be decoded from a failure later, with the response's codec or as JSON")
    func decoding() async throws {
        for type in ["application/problem+json", nil] {
            let failure = try await failure(type: type, model: nil)
            #expect(try failure.decode(as: Problem.self) == Problem(title: "No."))
        }
        let form = try await failure("title=No.", type: "application/x-www-form-urlencoded", model: nil)
        #expect(try form.decode(as: Problem.self) == Problem(title: "No."))
        let text = try await failure("No.", type: "text/plain", model: nil)
        #expect(try text.decode(as: String.self) == "No.")
        let other = try CodecRegistry().registering(
            JSONCodec(), for: MediaPattern(MediaType("text/plain")))
        let misnamed = try await failure(type: "text/plain", model: nil)
        #expect(try misnamed.decode(as: Problem.self, codecs: other) == Problem(title: "No."))
    }

    @Test("Decoding a model from an invalid or missing body of a failure fails with decoding or emptyBody")
    func decodingFailures() async throws {
        let unfit = try await failure(#"{"id":1}"#, model: nil)
        let first = #expect(throws: RequestFailure.self) { try unfit.decode(as: Problem.self) }
        #expect(first?.reason == .decoding)
        #expect(first?.underlying is DecodingError)
        let empty = try await failure("", model: nil)
        #expect(#expect(throws: RequestFailure.self) { try empty.decode(as: Problem.self) }?.reason == .emptyBody)
        let without = RequestFailure(.timeout, "Late.", host: "h")
        let none = #expect(throws: RequestFailure.self) { try without.decode(as: Problem.self) }
        #expect(none?.reason == .emptyBody)
        #expect((none?.underlying as? RequestFailure)?.reason == .timeout)
        #expect(none?.host == "h")
    }
}
