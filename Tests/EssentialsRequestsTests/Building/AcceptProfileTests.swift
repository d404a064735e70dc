import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("Accept header")
struct AcceptProfileTests {
    private static let json = "application/json"
    private static let original = "application/json; charset=utf-8"

    private func fixture(_ profile: AcceptProfile?, fields: HTTPFields = [:]) throws -> ServiceFixture {
        try ServiceFixture(
            StubTransport { _ in
                TransportResponse(
                    HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                    body: ResponseBody(Data(#""text""#.utf8)))
            }, fields: fields
        ) { if let profile { $0.accept = profile } }
    }

    private func accepted(_ fixture: ServiceFixture) throws -> [String] {
        try fixture.last().headerFields[values: .accept]
    }

    @Test(
        "The Accept header names JSON for a model, and optionally has the exact form of the Objective-C library",
        arguments: [
            (AcceptProfile?.none, json, "*/*"), (.typed, json, "*/*"), (.seCompatible, original, original),
        ])
    func profiles(profile: AcceptProfile?, model: String, other: String) async throws {
        let fixture = try fixture(profile)
        let service = fixture.service
        _ = try await service.get("a", as: JSONValue.self)
        #expect(try accepted(fixture) == [model])
        _ = try await service.post("a", body: .parameters(["b": 1]), as: JSONValue?.self)
        #expect(try accepted(fixture) == [model])
        _ = try await service.get("a", as: String?.self)
        #expect(try accepted(fixture) == [other])
        _ = try await service.get("a", as: EmptyResponse.self)
        #expect(try accepted(fixture) == [other])
        try await service.get("a")
        #expect(try accepted(fixture) == [other])
    }

    @Test(
        "The Accept header accepts anything for bytes and files in every profile",
        arguments: [AcceptProfile.typed, .seCompatible])
    func bytes(profile: AcceptProfile) async throws {
        let fixture = try fixture(profile)
        for request in [DataRequest(.get, "a"), DataRequest(.post, "a", body: .text("x"))] {
            _ = try await fixture.service.model(of: request, as: Data.self)
            #expect(try accepted(fixture) == ["*/*"])
            _ = try await fixture.service.model(of: request, as: [UInt8]?.self)
            #expect(try accepted(fixture) == ["*/*"])
        }
        let file = FileManager.default.temporaryDirectory.path + "/accept-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await fixture.service.download("a", to: file)
        #expect(try accepted(fixture) == ["*/*"])
    }

    @Test(
        "The Accept header comes from the request, the preparation or the environment, in this order",
        arguments: [AcceptProfile.typed, .seCompatible])
    func order(profile: AcceptProfile) async throws {
        let fixture = try fixture(profile, fields: [.accept: "text/environment"])
        _ = try await fixture.service.get("a", as: JSONValue.self)
        #expect(try accepted(fixture) == ["text/environment"])
        let prepared = try ServiceFixture(StubTransport("1"), fields: [.accept: "text/environment"]) {
            $0.accept = profile
            $0.interceptors = [Intercepting { try $0.add(HTTPField(name: .accept, value: "text/prepared")) }]
        }
        _ = try await prepared.service.get("a", as: Int.self)
        #expect(try accepted(prepared) == ["text/prepared"])
        let own = DataRequest(.get, "a", headerFields: [.accept: "text/own"])
        _ = try await prepared.service.model(of: own, as: Int.self)
        #expect(try accepted(prepared) == ["text/own"])
    }
}
