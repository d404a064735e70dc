import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Resource: content types of writes", .leavesNothing)
struct WriteContentTypeTests {
    struct Vector: Sendable {
        var body: MediaType?
        var field: String?
        var configured: String?
        var mutation: String?
        let sent: String
    }

    private static let merge = "application/merge-patch+json"

    @Test(
        "The type of a body precedes the field of a mutation, which precedes those of the write and the configuration",
        arguments: [
            Vector(sent: "application/json"),
            Vector(configured: merge, sent: merge),
            Vector(field: "application/a+json", configured: merge, sent: "application/a+json"),
            Vector(
                field: "application/a+json", configured: merge, mutation: "application/m+json",
                sent: "application/m+json"),
            // The mutation comes first, and then the type of the body decides.
            Vector(body: .json, field: "application/a+json", mutation: "application/m+json", sent: "application/json"),
        ])
    func contentTypes(vector: Vector) async throws {
        let shop = try await CartFixture()
        shop.transport.on(.put, "/v1/cart").answer(.noContent, headerFields: [.eTag: "\"2\""])
        try shop.service.configure("/cart", methods: [.put]) { configuration in
            if let type = vector.configured { configuration.headerFields[.contentType] = type }
            if let type = vector.mutation { configuration.mutate { $0.headerFields[.contentType] = type } }
        }
        let fields = vector.field.map { HTTPFields([HTTPField(name: .contentType, value: $0)]) } ?? [:]
        try await shop.cart.put(body: .model(Cart(items: ["b"]), as: vector.body), headerFields: fields)
        // The codec adds a charset.
        let sent = try #require(shop.transport.requests.last?.headerFields[.contentType])
        #expect(sent.split(separator: ";").first.map(String.init) == vector.sent)
        #expect(shop.cart.content == Cart(items: ["b"]))
        #expect(shop.cart.state.entity?.mediaType?.description.hasPrefix(vector.sent) == true)
    }
}
