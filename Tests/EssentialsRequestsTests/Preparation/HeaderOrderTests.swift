import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("Precedence of header fields")
struct HeaderOrderTests {
    private static let name = HTTPField.Name("X-Who")

    private func adding(_ value: String, _ collision: RequestDraft.Collision = .keepExisting) -> Intercepting {
        Intercepting { draft in
            try draft.add(.checked(name: "x-who", value: value), onCollision: collision)
        }
    }

    @Test(
        "A header field comes from the request, the preparation or the environment, in this order",
        arguments: [
            (true, true, true, "request"), (true, false, true, "request"), (false, true, true, "preparation"),
            (false, false, true, "environment"), (false, true, false, "preparation"),
        ])
    func order(request: Bool, preparation: Bool, environment: Bool, winner: String) async throws {
        let name = try #require(Self.name)
        let fixture = try ServiceFixture(fields: environment ? [name: "environment"] : [:]) {
            if preparation { $0.interceptors = [adding("preparation")] }
        }
        var asked = DataRequest(.get, "a")
        if request { asked.headerFields.append(try .checked(name: "X-WHO", value: "request")) }
        let sent = try await fixture.sent(asked)
        #expect(sent.headerFields[values: name] == [winner])
    }

    @Test("User-Agent and Accept of the request, preparation or environment replace the service's own")
    func defaults() async throws {
        let plain = try ServiceFixture()
        let standard = try await plain.sent(DataRequest(.get, "a")).headerFields
        #expect(standard[values: .userAgent] == ["test/1"])
        #expect(standard[values: .accept] == ["*/*"])
        let own = try await plain.sent(
            DataRequest(.get, "a", headerFields: [.userAgent: "mine", .accept: "text/csv"])
        ).headerFields
        #expect(own[values: .userAgent] == ["mine"])
        #expect(own[values: .accept] == ["text/csv"])
        let environment = try ServiceFixture(fields: [.userAgent: "theirs"])
        #expect(try await environment.sent(DataRequest(.get, "a")).headerFields[values: .userAgent] == ["theirs"])
    }

    @Test("A field of a preparation that replaces takes precedence over the request's")
    func replacing() async throws {
        let name = try #require(Self.name)
        let fixture = try ServiceFixture { $0.interceptors = [adding("preparation", .replace)] }
        let sent = try await fixture.sent(DataRequest(.get, "a", headerFields: [name: "request"]))
        #expect(sent.headerFields[values: name] == ["preparation"])
    }

    @Test("A preparation that refuses conflicting fields ends the request before anything is sent")
    func failing() async throws {
        let name = try #require(Self.name)
        let fixture = try ServiceFixture { $0.interceptors = [adding("preparation", .fail)] }
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.send(DataRequest(.get, "a", headerFields: [name: "request"]))
        }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.message.contains("x-who") == true)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("The first of several preparations sets a field")
    func severalPreparations() async throws {
        let name = try #require(Self.name)
        let fixture = try ServiceFixture { $0.interceptors = [adding("first"), adding("second")] }
        #expect(try await fixture.sent(DataRequest(.get, "a")).headerFields[values: name] == ["first"])
    }

    @Test("Authorization comes from the request, the preparation, the service or the environment, in this order")
    func authorization() async throws {
        let preparing = Intercepting { try $0.add(.checked(name: "authorization", value: "preparation")) }
        let fixture = try ServiceFixture(fields: [.authorization: "environment"])
        #expect(try await fixture.sent(DataRequest(.get, "a")).headerFields[values: .authorization] == ["environment"])
        fixture.service.setAuthorization(try .header("service"))
        #expect(try await fixture.sent(DataRequest(.get, "a")).headerFields[values: .authorization] == ["service"])
        let prepared = try ServiceFixture(fields: [.authorization: "environment"]) { $0.interceptors = [preparing] }
        prepared.service.setAuthorization(try .header("service"))
        #expect(
            try await prepared.sent(DataRequest(.get, "a")).headerFields[values: .authorization] == ["preparation"])
        let own = DataRequest(.get, "a", headerFields: [.authorization: "request"])
        #expect(try await prepared.sent(own).headerFields[values: .authorization] == ["request"])
    }

    @Test("Content-Type follows a body with a type, and Content-Length cannot be set by the caller")
    func contentFields() async throws {
        let fixture = try ServiceFixture()
        let fields: HTTPFields = [.contentType: "text/plain", .contentLength: "99"]
        let typed = DataRequest(
            .put, "a", headerFields: fields, body: .data(Data("x".utf8), type: try MediaType("image/png")))
        let sent = try await fixture.sent(typed)
        #expect(sent.headerFields[values: .contentType] == ["image/png"])
        #expect(sent.headerFields[.contentLength] == nil)
        let untyped = DataRequest(.put, "a", headerFields: fields, body: .data(Data("x".utf8)))
        #expect(try await fixture.sent(untyped).headerFields[values: .contentType] == ["text/plain"])
    }
}
