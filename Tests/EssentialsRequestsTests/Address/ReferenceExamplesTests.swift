import EssentialsHTTP
import Testing

@testable import EssentialsRequests

@Suite("References: the examples of RFC 3986, 5.4")
struct ReferenceExamplesTests {
    /// A reference with its target.
    struct Example: Sendable, CustomTestStringConvertible {
        let reference: String
        /// The target of the RFC.
        let target: String
        /// The target here, and why it differs; `nil` if it is that of the RFC.
        let difference: Difference?

        init(_ reference: String, _ target: String, _ difference: Difference? = nil) {
            self.reference = reference
            self.target = target
            self.difference = difference
        }

        var testDescription: String { "“\(reference)”" }
    }

    /// Why a target differs from that of the RFC.
    enum Difference: Sendable {
        /// A fragment is not part of a request, so the URL of a resource has none.
        case noFragment
        /// An empty path is the path `/` in the canonical form.
        case rootPath
        /// Only `http` and `https` URLs with a host can be loaded. A strict parser reads `http:g` as such a URL.
        case refused
    }

    static let normal = [
        Example("g:h", "g:h", .refused), Example("g", "http://a/b/c/g"), Example("./g", "http://a/b/c/g"),
        Example("g/", "http://a/b/c/g/"), Example("/g", "http://a/g"), Example("//g", "http://g", .rootPath),
        Example("?y", "http://a/b/c/d;p?y"), Example("g?y", "http://a/b/c/g?y"),
        Example("#s", "http://a/b/c/d;p?q#s", .noFragment), Example("g#s", "http://a/b/c/g#s", .noFragment),
        Example("g?y#s", "http://a/b/c/g?y#s", .noFragment), Example(";x", "http://a/b/c/;x"),
        Example("g;x", "http://a/b/c/g;x"), Example("g;x?y#s", "http://a/b/c/g;x?y#s", .noFragment),
        Example("", "http://a/b/c/d;p?q"), Example(".", "http://a/b/c/"), Example("./", "http://a/b/c/"),
        Example("..", "http://a/b/"), Example("../", "http://a/b/"), Example("../g", "http://a/b/g"),
        Example("../..", "http://a/"), Example("../../", "http://a/"), Example("../../g", "http://a/g"),
    ]

    static let abnormal = [
        Example("../../../g", "http://a/g"), Example("../../../../g", "http://a/g"), Example("/./g", "http://a/g"),
        Example("/../g", "http://a/g"), Example("g.", "http://a/b/c/g."), Example(".g", "http://a/b/c/.g"),
        Example("g..", "http://a/b/c/g.."), Example("..g", "http://a/b/c/..g"), Example("./../g", "http://a/b/g"),
        Example("./g/.", "http://a/b/c/g/"), Example("g/./h", "http://a/b/c/g/h"), Example("g/../h", "http://a/b/c/h"),
        Example("g;x=1/./y", "http://a/b/c/g;x=1/y"), Example("g;x=1/../y", "http://a/b/c/y"),
        Example("g?y/./x", "http://a/b/c/g?y/./x"), Example("g?y/../x", "http://a/b/c/g?y/../x"),
        Example("g#s/./x", "http://a/b/c/g#s/./x", .noFragment),
        Example("g#s/../x", "http://a/b/c/g#s/../x", .noFragment), Example("http:g", "http:g", .refused),
    ]

    @Test("The tables have all examples of the RFC, each once")
    func complete() {
        #expect(Self.normal.count == 23 && Self.abnormal.count == 19)
        #expect(Set((Self.normal + Self.abnormal).map(\.reference)).count == 42)
    }

    @Test(
        "A reference leads to the target of the RFC, except for fragments, empty paths and other schemes",
        arguments: normal + abnormal)
    func target(example: Example) throws {
        let base = ResourceBase(try RequestURL("https://example.com/v1"))
        let url = base.url(whole: "http://a/b/c/d;p?q")
        let found = try #require(base.relative(to: url, example.reference))
        switch example.difference {
        case nil: #expect(found.text == example.target)
        case .noFragment: #expect(found.text == String(example.target.prefix { $0 != "#" }))
        case .rootPath: #expect(found.text == example.target + "/")
        case .refused: #expect(found.failure?.reason == .invalidRequest)
        }
        #expect((found.failure == nil) == (example.difference != .refused))
    }

    @Test("A target is in the canonical form, in which escapes of unreserved characters are decoded")
    func canonical() throws {
        let base = ResourceBase(try RequestURL("https://example.com/v1"))
        let url = base.url(whole: "http://a/b/c/d;p?q")
        #expect(base.relative(to: url, "%7Eg")?.text == "http://a/b/c/~g")
    }
}
