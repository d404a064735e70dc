import EssentialsTransport
import Testing

@Suite("URL references")
struct URLReferenceTests {
    /// The examples of RFC 3986, 5.4.1, whose base is `http://a/b/c/d;p?q`. An `http` URL of this package has no
    /// fragment, and the path of a URL with a host is never empty.
    private static let normal: [(String, String)] = [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
    ]

    /// The examples of RFC 3986, 5.4.2.
    private static let abnormal: [(String, String)] = [
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g"),
        ("g#s/../x", "http://a/b/c/g"),
    ]

    private func base() throws -> RequestURL { try RequestURL("http://a/b/c/d;p?q") }

    private func fault(_ reference: String, _ base: String = "http://a/b/c/d;p?q") throws -> URLReference.Fault? {
        let base = try RequestURL(base)
        return #expect(throws: URLReference.Fault.self) { try URLReference(reference).resolved(against: base) }
    }

    @Test("The references of RFC 3986, 5.4.1 and 5.4.2 have the URLs given there", arguments: normal + abnormal)
    func examples(reference: String, url: String) throws {
        #expect(try URLReference(reference).resolved(against: base()).description == url)
    }

    @Test("A scheme without a host is refused, although a lenient parser accepts it (RFC 3986, 5.4.2)")
    func strictness() throws {
        #expect(try fault("http:g") == .invalid("It has a scheme without a host."))
        #expect(try fault("https:") == .invalid("It has a scheme without a host."))
    }

    @Test(
        "A fault names another scheme, such as that of the first example of RFC 3986, 5.4.1", arguments: ["g", "a+b"])
    func otherScheme(scheme: String) throws {
        #expect(try fault("\(scheme):h") == .otherScheme(scheme))
    }

    @Test("A fault shows neither credentials nor a query")
    func secrets() throws {
        #expect(try fault("//user:secret@h/") == .credentials)
        #expect(try fault("secret:secret@h/") == .otherScheme("…"))
        for reference in ["//h h/?secret", "/?secret%", "ftp://h/?secret", "1:secret"] {
            let fault = try #require(try fault(reference))
            #expect(!"\(fault)".contains("secret"), "\(reference)")
        }
    }

    @Test("A reference without a slash replaces the last segment of the base's path")
    func lastSegment() throws {
        #expect(try URLReference("./7").resolved(against: RequestURL("https://h/items")).target == "/7")
        #expect(try URLReference("7").resolved(against: RequestURL("https://h/items/")).target == "/items/7")
        #expect(try URLReference("7").resolved(against: RequestURL("https://h?page=1")).target == "/7")
    }

    @Test("Bytes of any charset are percent-encoded")
    func charsets() throws {
        #expect(try URLReference([0x2f, 0xe9, 0x20]).resolved(against: base()).description == "http://a/%E9%20")
        #expect(try URLReference("é").resolved(against: base()).description == "http://a/b/c/%C3%A9")
    }

    @Test("A dump of a reference shows only its size")
    func dumped() {
        var text = ""
        dump(URLReference("/a?secret"), to: &text)
        #expect(!text.contains("secret") && text.contains("9"))
    }
}
