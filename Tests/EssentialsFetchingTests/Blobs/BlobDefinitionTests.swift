import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

private enum Pictures: APIService {
    static var sharedProperties: RequestProperties { RequestHeader("X-Client", "shop") }

    static func picture(id: Int) -> APIRequest<Data> { request(.get, "pictures/\(id)") }
    static func description(id: Int) -> APIRequest<Item> { request(.get, "pictures/\(id)/item") }
    static func text(id: Int) -> APIRequest<String> { request(.get, "pictures/\(id)/text") }
    static func small(id: Int) -> APIRequest<Data> { picture(id: id).settingQuery("size", "s") }
}

@Suite("Blobs: definitions", .timeLimit(.minutes(5)))
struct BlobDefinitionTests {
    private let bytes = BlobFixture.bytes(100)
    private let client = HTTPField.Name("X-Client")

    @Test("A definition is loaded with its header fields, and stored like an address")
    func stored() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/pictures/7").answer(data: bytes)
        for _ in 0..<3 { #expect(try await fixture.blobs.bytes(of: Pictures.picture(id: 7)) == bytes) }
        #expect(try await fixture.blobs.value(of: Pictures.picture(id: 7)) == bytes)
        #expect(try await fixture.blobs.value(of: Pictures.picture(id: 7)) { $0.count } == 100)
        #expect(try await fixture.blobs.file(of: Pictures.picture(id: 7)).size == 100)
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.url.description == "https://h/v1/pictures/7")
        #expect(sent.headerFields[try #require(client)] == "shop")
        #expect(fixture.transport.requestCount == 1)
        let next = try BlobFixture(in: fixture.directory, clock: fixture.clock)
        #expect(try await next.blobs.bytes(of: Pictures.picture(id: 7)) == bytes)
        #expect(next.transport.requestCount == 0)
    }

    @Test("A definition keeps its type: its model is decoded with the codecs of its media type")
    func models() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/pictures/7/item").answer(json: Item(name: "Ada"))
        fixture.transport.on(.get, "/v1/pictures/7/text").answer(
            data: Data([0xe4]), headerFields: [.contentType: "text/plain; charset=iso-8859-1"])
        for _ in 0..<2 {
            let item = try await fixture.blobs.value(of: Pictures.description(id: 7))
            #expect(item == Item(name: "Ada"))
            let text = try await fixture.blobs.value(of: Pictures.text(id: 7))
            #expect(text == "ä")
        }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("Definitions that differ in query or header fields and the plain address have different blobs")
    func different() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/pictures/7").answer { request in
            ScriptedAnswer(
                text: "\(request.url.query ?? "") \(request.headerFields[HTTPField.Name("X-Client")!] ?? "")")
        }
        func text(_ definition: APIRequest<Data>) async throws -> String {
            String(decoding: try await fixture.blobs.bytes(of: definition), as: UTF8.self)
        }
        for _ in 0..<2 {
            #expect(try await text(Pictures.picture(id: 7)) == " shop")
            #expect(try await text(Pictures.picture(id: 7).settingHeader("X-Client", "tool")) == " tool")
            #expect(try await text(Pictures.small(id: 7)) == "size=s shop")
            #expect(try await fixture.blobs.bytes(at: "pictures/7") == Data(" ".utf8))
        }
        // An instruction for caches selects no representation.
        #expect(try await text(Pictures.picture(id: 7).settingHeader(.cacheControl, "max-stale=5")) == " shop")
        #expect(fixture.transport.requestCount == 4)
        try await fixture.blobs.remove(Pictures.picture(id: 7))
        _ = try await text(Pictures.picture(id: 7))
        #expect(fixture.transport.requestCount == 5)
        // The definition decides how the stored blob is used.
        #expect(try await text(Pictures.picture(id: 7).settingHeader(.cacheControl, "no-cache")) == " shop")
        var configuration = APIConfiguration()
        configuration.settings.cachePolicy = .reload
        #expect(try await text(Pictures.picture(id: 7).setting(configuration)) == " shop")
        #expect(fixture.transport.requestCount == 7)
    }

    @Test("A definition with another method, a body, a range or credentials describes no blob")
    func refused() async throws {
        let fixture = try BlobFixture()
        let definitions = [
            APIRequest<Data>(.post, "a"), Pictures.picture(id: 7).setting(RequestContent("x")),
            Pictures.picture(id: 7).settingHeader(.range, "bytes=0-1"),
            Pictures.picture(id: 7).settingHeader(.authorization, "Bearer x"),
            Pictures.picture(id: 7).settingHeader("a b", "x"),
        ]
        for definition in definitions {
            let failure = await #expect(throws: RequestFailure.self) {
                try await fixture.blobs.bytes(of: definition)
            }
            #expect(failure?.reason == .invalidRequest)
        }
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("A definition with a base URL of its own is loaded from listed hosts only, as a request to any server")
    func foreign() async throws {
        let other = ScriptedTransport()
        other.on(.get, "/a").answer(data: bytes)
        let fixture = try BlobFixture(open: HTTPDataRequestService.forAnyServer(over: other)) {
            $0.foreignHosts = ["pictures.example.com"]
        }
        let listed = APIRequest<Data>(.get, url: "https://pictures.example.com/a")
        #expect(try await fixture.blobs.bytes(of: listed) == bytes)
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.blobs.bytes(of: listed.based(on: "https://other.example.com/a"))
        }
        #expect(failure?.reason == .hostRefused)
    }
}
