import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

@Suite struct PublicSuffixTests {
    private static let library = PublicSuffixRules.library()
    private static let systemList = "/usr/share/publicsuffix/public_suffix_list.dat"

    private let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private func list(_ text: String) throws -> PublicSuffixRules {
        try directory.write(text, "list.dat")
        return try .file(directory("list.dat"))
    }

    /// Checks that a parent's cookie is refused for a suffix and accepted below it.
    private func expectUsual(_ rules: PublicSuffixRules) throws {
        let url = "https://www.example.co.uk/"
        for suffix in ["co.uk", "uk", "CO.uk"] {
            #expect(try readCookie("a=b; Domain=\(suffix)", from: url, suffixes: rules).refusal == .publicSuffix)
        }
        #expect(try readCookie("a=b; Domain=co.uk", from: "https://co.uk/", suffixes: rules).get().isHostOnly)
        #expect(try readCookie("a=b", from: url, suffixes: rules).get().isHostOnly)
        #expect(try !readCookie("a=b; Domain=example.co.uk", from: url, suffixes: rules).get().isHostOnly)
    }

    @Test("A list file refuses cookies for co.uk")
    func file() throws {
        let rules = try list("uk\nco.uk\n")
        try expectUsual(rules)
        #expect(rules.source == .file(path: directory("list.dat"), ruleCount: 2))
        #expect("\(rules.source)".hasSuffix("list.dat, 2 rules"))
    }

    @Test("libpsl refuses cookies for co.uk", .enabled(if: library != nil, "libpsl.so.5 is not installed."))
    func libraryRules() throws {
        let rules = try #require(Self.library)
        try expectUsual(rules)
        guard case .library(let version) = rules.source else {
            Issue.record("The source is \(rules.source).")
            return
        }
        #expect(version.contains("."))
        #expect("\(rules.source)" == "libpsl \(version)")
    }

    @Test("Without a list, cookies for co.uk are refused, and only the named domains take cookies of hosts below them")
    func noList() throws {
        let rules = PublicSuffixRules.hostOnly(exceptBelow: [".Example.co.uk"])
        try expectUsual(rules)
        #expect(rules.source == .hostOnly(exceptBelow: ["example.co.uk"]))
        #expect(!rules.isPublicSuffix("api.example.co.uk"))
        #expect(rules.isPublicSuffix("other.co.uk"))
        #expect(rules.isPublicSuffix("badexample.co.uk"))
        let url = "https://www.other.example/"
        let none = PublicSuffixRules.hostOnly()
        #expect(try readCookie("a=b; Domain=other.example", from: url, suffixes: none).refusal == .publicSuffix)
        #expect(try readCookie("a=b; Domain=www.other.example", from: url, suffixes: none).get().isHostOnly)
        #expect("\(none.source)" == "no list, host-only cookies")
    }

    @Test(
        "A library that does not exist or is another one is not used",
        arguments: ["/nonexistent/libpsl.so.5", "libessentials-none.so.1", "libc.so.6"])
    func otherLibrary(name: String) { #expect(PublicSuffixRules.library(named: name) == nil) }

    @Test("The automatic rules are those of libpsl if it is there, and a jar shows which are in force")
    func automatic() throws {
        let jar = CookieJar()
        #expect(jar.publicSuffixSource == (Self.library ?? .hostOnly()).source)
        #expect(CookieJar(publicSuffixes: sampleSuffixes).publicSuffixSource == sampleSuffixes.source)
        try expectUsual(Self.library == nil ? .hostOnly(exceptBelow: ["example.co.uk"]) : .automatic)
    }

    @Test(
        "Rules, wildcards and exceptions decide about domains, and a single label is always a suffix",
        arguments: [
            ("com", true), ("example.com", false), ("uk", true), ("co.uk", true), ("example.co.uk", false),
            ("ck", true), ("any.ck", true), ("www.any.ck", false), ("www.ck", false), ("a.www.ck", false),
            ("unknown", true), ("host.unknown", false), ("localhost", true), ("xn--55qx5d.cn", true),
            ("xn--85x722f.xn--55qx5d.cn", false), ("kobe.jp", true), ("c.kobe.jp", true), ("city.kobe.jp", false),
        ])
    func rules(domain: String, isSuffix: Bool) throws {
        let rules = try list(
            """
            // a comment
            com
              leading space
            uk
            CO.uk trailing text
            *.ck
            !www.ck

            公司.cn
            *.kobe.jp\r
            !city.kobe.jp
            a..b
            *
            x.*.y
            """)
        #expect(rules.isPublicSuffix(domain) == isSuffix)
        guard let library = Self.library, !domain.hasSuffix("unknown") else { return }
        #expect(library.isPublicSuffix(domain) == isSuffix)
    }

    @Test("A file without a rule is refused, because it would accept cookies for every suffix")
    func noRule() throws {
        for text in ["", "// a comment\n", "\n\n", "..\n"] {
            #expect(throws: RequestFailure.self) { try list(text) }
        }
        let failure = try #require(throws: RequestFailure.self) { try PublicSuffixRules.file("/nonexistent") }
        #expect(failure.reason == .file)
        #expect(failure.remedy != nil)
    }

    @Test("A file has at most 4 MiB and 100,000 lines")
    func limits() throws {
        let lines = String(repeating: "a.example\n", count: 100_000)
        #expect(try list(lines).isPublicSuffix("a.example"))
        for text in [
            lines + "b.example\n", String(repeating: "// a longer comment line that fills the file\n", count: 99_000),
        ] {
            let failure = try #require(throws: RequestFailure.self) { try list(text) }
            #expect(failure.reason == .file)
        }
    }

    @Test(
        "The system's list and libpsl agree about well-known domains",
        .enabled(if: FileManager.default.fileExists(atPath: systemList), "There is no list."),
        .enabled(if: library != nil, "libpsl.so.5 is not installed."))
    func agreement() throws {
        let (list, library) = (try PublicSuffixRules.file(Self.systemList), try #require(Self.library))
        for domain in [
            "com", "co.uk", "example.co.uk", "github.io", "a.github.io", "ck", "b.ck", "www.ck", "kawasaki.jp",
            "a.kawasaki.jp", "city.kawasaki.jp", "xn--55qx5d.cn", "xn--j6w193g", "xn--fiqs8s", "example.xn--fiqs8s",
        ] {
            #expect(list.isPublicSuffix(domain) == library.isPublicSuffix(domain), "\(domain)")
        }
    }

    @Test("Many threads look up domains in one list and one library")
    func threads() async throws {
        let rules = [try list("uk\nco.uk\n")] + (Self.library.map { [$0] } ?? [])
        await withTaskGroup { group in
            for rules in rules {
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<500 {
                            #expect(rules.isPublicSuffix("co.uk") && !rules.isPublicSuffix("example.co.uk"))
                        }
                    }
                }
            }
        }
    }

    @Test(
        "Labels outside ASCII are encoded with punycode",
        arguments: [
            ("example", "example"), ("b\u{fc}cher", "xn--bcher-kva"), ("公司", "xn--55qx5d"), ("香港", "xn--j6w193g"),
            ("ليهمابتكلموشعربي؟", "xn--egbpdaj6bu4bxfgehfvwxn"), ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("パフィーdeルンバ", "xn--de-jg4avhby1noc0d"), ("そのスピードで", "xn--d9juau41awczczp"),
            ("\u{1f4a9}", "xn--ls8h"), ("a\u{10ffff}b", "xn--ab-ke24y"),
        ])
    func punycode(label: String, encoded: String) throws {
        let rules = try list(label + ".example\n")
        #expect(rules.isPublicSuffix(encoded + ".example"))
        #expect(!rules.isPublicSuffix("other.example"))
    }

    @Test(
        "A site is the label below the public suffix with all domains below it, and an address is a site of its own",
        arguments: [
            ("example.com", "example.com"), ("a.b.example.com", "example.com"), ("a.example.co.uk", "example.co.uk"),
            ("co.uk", "co.uk"), ("com", "com"), ("a.b.any.ck", "b.any.ck"), ("a.www.ck", "www.ck"),
            ("a.unknown", "a.unknown"),
            ("localhost", "localhost"), ("10.0.0.1", "10.0.0.1"), ("::1", "::1"), ("", ""), ("a..com", ".com"),
        ])
    func sites(domain: String, site: String) {
        #expect(sampleSuffixes.site(of: domain) == site)
    }

    @Test("Without a list, a site has two labels, except below the named domains")
    func sitesWithoutList() {
        let rules = PublicSuffixRules.hostOnly(exceptBelow: ["example.co.uk"])
        #expect(rules.site(of: "a.b.example.co.uk") == "example.co.uk")
        #expect(rules.site(of: "a.other.co.uk") == "co.uk")
        #expect(rules.site(of: "a.b.com") == "b.com")
        #expect(rules.site(of: "10.0.0.1") == "10.0.0.1")
    }

    @Test("A label that is too long for the encoding is no rule")
    func longLabel() throws {
        let rules = try list(
            "com\n" + String(repeating: "公", count: 64) + ".example\n" + String(repeating: "a", count: 64)
                + ".example\n")
        guard case .file(_, let count) = rules.source else { return }
        #expect(count == 1)
    }
}
