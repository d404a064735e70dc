import EssentialsHTTP
import EssentialsResources
import HTTPTypes
import Testing

@Suite struct ResourceVariantTests {
    @Test("The order and the repetition of fields do not count")
    func order() {
        let one: ResourceVariant = [.accept("text/csv"), .acceptLanguage("de")]
        let other: ResourceVariant = [.acceptLanguage("de"), [.accept(" text/csv "), .accept("text/csv")]]
        #expect(one == other)
        #expect(Set([one, other]).count == 1)
        #expect(one != .accept("text/csv"))
        #expect(ResourceVariant.accept("text/csv") != .accept("text/html"))
    }

    @Test("A variant without fields is the standard one")
    func standard() {
        #expect(ResourceVariant([]) == .standard)
        #expect(ResourceVariant.standard.isStandard)
        #expect(ResourceVariant.standard.headerFields.isEmpty)
        #expect(!ResourceVariant.accept("text/csv").isStandard)
    }

    @Test("The fields of a variant are sorted by name, whose case does not count")
    func fields() throws {
        let name = try #require(HTTPField.Name("X-Format"))
        let sameName = try #require(HTTPField.Name("x-format"))
        let variant: ResourceVariant = [.field(name, "b"), .accept("text/csv"), .field(sameName, "a")]
        #expect(variant.headerFields == [.accept: "text/csv", name: "a", sameName: "b"])
        #expect(ResourceVariant.field(name, "a") == .field(sameName, "a"))
    }

    @Test("A description shows content negotiation, and hides the values of other fields")
    func description() throws {
        let name = try #require(HTTPField.Name("Authorization"))
        let variant: ResourceVariant = [.field(name, "secret"), .accept("text/csv")]
        #expect(variant.description == "accept: text/csv, authorization: …")
        #expect(ResourceVariant.standard.description == "standard")
    }
}
