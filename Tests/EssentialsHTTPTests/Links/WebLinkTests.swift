import TestTools
import Testing

@testable import EssentialsHTTP

@Suite("Links")
struct WebLinkTests {
    private func links(_ values: String...) throws -> [WebLink] {
        var fields: HTTPFields = [:]
        for value in values { fields.append(try .checked(name: "Link", value: value)) }
        return fields.links
    }

    /// The targets and relations of the links in a field.
    private func shown(_ value: String) throws -> [String] {
        try links(value).map { ([$0.target] + $0.relations).joined(separator: " ") }
    }

    @Test("A parameter with a control character is ignored, and such a target is not a URL")
    func controlCharacters() throws {
        let text = "<a\u{1}b>; rel=\"next\u{1}\"; title=\"a\u{7f}\"; x\u{2}=y; media=print"
        let name = try #require(HTTPField.Name("Link"))
        let link = try #require(HTTPFields([HTTPField(name: name, lenientValue: Array(text.utf8))]).links.first)
        #expect(link.relations.isEmpty)
        #expect(link.parameters == [WebLink.Parameter(name: "media", value: "print")])
        let base = try RequestURL("https://api.example.com/")
        #expect(throws: RequestFailure.self) { try link.url(relativeTo: base) }
    }

    @Test("The examples of RFC 8288, 3.5 are read")
    func examples() throws {
        let chapter = try #require(
            try links(#"<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter""#).first)
        #expect(chapter.target == "http://example.com/TheBook/chapter2")
        #expect(chapter.relations == ["previous"])
        #expect(chapter.title == "previous chapter")

        let extensionType = try links(#"</>; rel="http://example.net/foo""#)
        #expect(extensionType == [WebLink("/", relations: ["http://example.net/foo"])])

        let anchored = try #require(try links(##"</terms>; rel="copyright"; anchor="#foo""##).first)
        #expect(anchored.anchor == "#foo")
        #expect(anchored.hasRelation("copyright"))

        let german = try links(
            """
            </TheBook/chapter2>; rel="previous"; title*=UTF-8'de'letztes%20Kapitel, \
            </TheBook/chapter4>; rel="next"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel
            """)
        #expect(german.map(\.target) == ["/TheBook/chapter2", "/TheBook/chapter4"])
        #expect(german.map(\.title) == ["letztes Kapitel", "nächstes Kapitel"])

        let several = try links(#"<http://example.org/>; rel="start http://example.net/relation/other""#)
        #expect(several.map(\.relations) == [["start", "http://example.net/relation/other"]])

        let list = try links(
            #"<https://example.org/>; rel="start", <https://example.org/index>; rel="index""#)
        #expect(list.map(\.relations) == [["start"], ["index"]])
    }

    @Test(
        "A field gives the targets and relations of its links",
        arguments: [
            (#"<a>; rel=next"#, ["a next"]), (#"<a>;rel="next",<b>;rel="last""#, ["a next", "b last"]),
            (#"<a> ; REL = "NEXT  Prev""#, ["a next prev"]), (#"<a>; rel=next; rel=last"#, ["a next"]),
            (#"<a>; rel="next next NEXT""#, ["a next"]), (#"<a>"#, ["a"]), (#"<>; rel=self"#, [" self"]),
            (#"<a;b,c>; rel=next"#, ["a;b,c next"]), (#"<a>; title="x, <b>; rel=last"; rel=next"#, ["a next"]),
            (#"<a>; title="\", <b>"; rel=next"#, ["a next"]),
            (#", ,<a>; rel=next,, <b>; rel=last,"#, ["a next", "b last"]),
            (#"<a>;;; rel=next ;"#, ["a next"]), (#"<a>; rel"#, ["a"]), (#"<a>; rel=; x"#, ["a"]),
            (#"<a>; rel="next"#, ["a next"]), (#"<a>; rel=next prev"#, ["a next prev"]),
            (#"<a>; rel=next <b>, <c>; rel=last"#, ["a next <b>", "c last"]),
            (#"a; rel=next"#, []), (#"<a; rel=next"#, []), (#"x, <a>; rel=next"#, []),
            (#"<a>; rel=next, x, <b>; rel=last"#, ["a next"]), (#"<a> x, <b>"#, ["a"]), ("", []), ("<", []), (">", []),
        ])
    func syntax(value: String, expected: [String]) throws {
        #expect(try shown(value) == expected)
    }

    @Test("Links of several fields are joined in order, and a malformed field does not affect the others")
    func fields() throws {
        let found = try links("<a>; rel=next", "nonsense <b>; rel=last", "<c>; rel=prev, <d>; rel=first")
        #expect(found.map(\.target) == ["a", "c", "d"])
        #expect(HTTPFields().links == [])
    }

    @Test("Parameters keep their order, and those which may occur once have the first value")
    func parameters() throws {
        let link = try #require(
            try links(
                #"<a>; rel=alternate; hreflang=de; HREFLANG="en"; type="text/html; charset=utf-8"; type=text/plain; "#
                    + #"title=x; title=y; media=print; media=screen; foo; foo=2; title*=UTF-8''z%20z; title*=UTF-8''w"#
            ).first)
        #expect(
            link.parameters.map { "\($0.name)=\($0.value)" } == [
                "hreflang=de", "hreflang=en", "type=text/html; charset=utf-8", "title=x", "media=print", "foo=",
                "foo=2", "title*=z z",
            ])
        #expect(link.languages == ["de", "en"])
        #expect(link.type == (try MediaType("text/html; charset=utf-8")))
        #expect(link.title == "z z")
        #expect(link["FOO"] == "")
        #expect(link["rel"] == nil)
        #expect(link.anchor == nil)
    }

    @Test(
        "An extended value is decoded, and one that cannot be decoded leaves the plain title",
        arguments: [
            ("UTF-8''%e2%82%ac%20rates", "€ rates"), ("utf-8'en'%C2%A3", "£"), ("iso-8859-1'en'%A3%20rates", "£ rates"),
            ("UTF-8''plain", "plain"), ("\"UTF-8''quoted\"", "quoted"), ("UTF-8''", ""), ("UTF-8''it's", "it's"),
            ("UTF-8''%e2%82", "plain title"), ("UTF-8''%zz", "plain title"), ("UTF-8''%4", "plain title"),
            ("UTF-8''%", "plain title"), ("UTF-8'en", "plain title"), ("text", "plain title"), ("", "plain title"),
            ("UTF-16''a", "plain title"), ("''a", "plain title"), ("\"UTF-8''a b\"", "plain title"),
        ])
    func extended(value: String, title: String) throws {
        let link = try #require(try links("<a>; rel=next; title=\"plain title\"; title*=\(value)").first)
        #expect(link.title == title)
        #expect(link.relations == ["next"])
    }

    @Test(
        "A target is resolved against the URL of the response",
        arguments: [
            ("?page=2", "https://api.example.com/v1/users?page=2"), ("teams", "https://api.example.com/v1/teams"),
            ("/v2/", "https://api.example.com/v2/"), ("", "https://api.example.com/v1/users?page=1"),
            ("//other.example/x#y", "https://other.example/x"), ("../a b/é", "https://api.example.com/a%20b/%C3%A9"),
            ("http://h:8080", "http://h:8080/"),
        ])
    func resolving(target: String, expected: String) throws {
        let base = try RequestURL("https://api.example.com/v1/users?page=1")
        #expect(try WebLink(target, relations: []).url(relativeTo: base).description == expected)
    }

    @Test(
        "A target that is not an http or https URL fails with a message that does not show it",
        arguments: [
            "javascript:alert(1)", "ftp://h/secret", "https://u:secret@h/", "http:secret", "https://h:secret/",
            "https://[/secret", "/%secret", "1:secret",
        ])
    func unresolvable(target: String) throws {
        let base = try RequestURL("https://api.example.com/v1/users")
        let failure = try #require(throws: RequestFailure.self) {
            try WebLink(target, relations: []).url(relativeTo: base)
        }
        #expect(failure.reason == .protocolViolation)
        #expect(failure.message == "https://api.example.com sent a link that is not an http or https URL.")
        #expect(!"\(failure)".contains("secret"))
    }

    @Test(
        "A link belongs to the response unless its anchor leads elsewhere",
        arguments: [
            (nil, true), ("", true), ("users", true), ("/v1/users", true), ("https://api.example.com/v1/users", true),
            ("#part", false), ("/v1/teams", false), ("https://other.example/v1/users", false), ("ftp://h/", false),
        ])
    func anchors(anchor: String?, belongs: Bool) throws {
        let parameters = anchor.map { [WebLink.Parameter(name: "Anchor", value: $0)] } ?? []
        let link = WebLink("x", relations: ["next"], parameters: parameters)
        #expect(link.belongs(to: try RequestURL("https://api.example.com/v1/users")) == belongs)
    }

    @Test("The numbers of links, relations, parameters and bytes are limited")
    func limits() throws {
        let many = Array(repeating: "<a>; rel=next", count: 300).joined(separator: ",")
        #expect(try links(many).count == WebLink.maximumLinks)
        #expect(try links(many, many).count == WebLink.maximumLinks)

        let words = (0..<100).map { "r\($0)" }.joined(separator: " ")
        let parameters = (0..<100).map { "; p\($0)=\($0)" }.joined()
        let wide = try #require(try links("<a>; rel=\"\(words)\"\(parameters)").first)
        #expect(wide.relations.count == WebLink.maximumParameters)
        #expect(wide.parameters.count == WebLink.maximumParameters)

        let long = "<\(String(repeating: "a", count: 40_000))>; rel=next"
        #expect(try links(long, long, "<b>; rel=last").map(\.relations) == [["next"]])
    }

    @Test("Printed properties contain no query and no values of parameters")
    func printed() {
        var text = ""
        dump(
            WebLink(
                "https://h/x?secret=1", relations: ["next"],
                parameters: [WebLink.Parameter(name: "title", value: "secret")]), to: &text)
        #expect(text.contains("https://h/x"))
        #expect(!text.contains("secret"))
    }

    @Test("Random fields never trap, and a link before random text is read")
    func random() throws {
        let pieces = [
            "<", ">", ";", ",", "=", "\"", "\\", " ", "\t", "rel", "rel=next", "title*", "=UTF-8''", "%", "%e2", "'",
            "anchor", "type=", "a", "é", "\u{301}", "//", ":", "?", "#", "*", "<a>; rel=\"", "text/html",
        ]
        var numbers = SeededNumbers(state: 8288)
        let base = try RequestURL("https://api.example.com/v1/users")
        var found = 0
        for round in 0..<5_000 {
            let value = (round.isMultiple(of: 2) ? "<" : "") + numbers.text(of: pieces, upTo: 24)
            let bytes = Array(value.utf8)
            var reader = WebLinkReader(bytes)
            var read: [WebLink] = []
            while let link = reader.next() { read.append(link) }
            found += read.count
            // Every link needs “<” and “>”.
            #expect(read.count <= bytes.filter { $0 == UInt8(ascii: "<") }.count)
            for link in read {
                #expect(link.relations.allSatisfy { !$0.isEmpty && $0 == $0.lowercased() })
                _ = (link.title, link.type, link.languages, link.belongs(to: base))
                _ = try? link.url(relativeTo: base)
            }
            var whole = WebLinkReader(Array("<x>; rel=first, ".utf8) + bytes)
            let first = whole.next()
            #expect(first?.target == "x")
            #expect(first?.relations == ["first"])
        }
        #expect(found > 1_000)
    }
}
