import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct CookieMachineTests {
    private var machine = CookieMachine()

    private static func machine(
        perDomain: Int = 200, crowded: Int = 50, total: Int = 20_000, field: Int = 16_384
    )
        -> CookieMachine
    {
        var limits = CookieLimits()
        (limits.perDomain, limits.crowded, limits.total, limits.fieldSize) = (perDomain, crowded, total, field)
        return CookieMachine(limits: limits)
    }

    private func later(_ seconds: Double) -> Date { cookieTime.addingTimeInterval(seconds) }

    // MARK: Lookup

    @Test("Cookies with longer paths come first, then those created earlier")
    mutating func order() throws {
        for line in ["c=1; Path=/", "a=2; Path=/x", "b=3; Path=/", "d=4; Path=/x/y", "e=5; Path=/x"] {
            try machine.store(line, from: "https://a.example/x/y", now: cookieTime)
        }
        #expect(try machine.text(for: "https://a.example/x/y") == "d=4; a=2; e=5; c=1; b=3")
        #expect(try machine.text(for: "https://a.example/x") == "a=2; e=5; c=1; b=3")
        #expect(try machine.text(for: "https://a.example/") == "c=1; b=3")
    }

    @Test("The order of creation does not depend on a clock that jumps back")
    mutating func clockJump() throws {
        try machine.store("a=1", from: "https://a.example/", now: later(100))
        try machine.store("b=2", from: "https://a.example/", now: later(-100))
        #expect(try machine.text(for: "https://a.example/", now: later(-100)) == "a=1; b=2")
    }

    @Test("Replacing a cookie keeps its creation and changes everything else")
    mutating func replacing() throws {
        try machine.store("a=1", from: "https://a.example/")
        try machine.store("b=2", from: "https://a.example/")
        try machine.store("a=3; HttpOnly; Max-Age=60", from: "https://a.example/", now: later(5))
        #expect(try machine.text(for: "https://a.example/", now: later(6)) == "a=3; b=2")
        let cookie = try #require(machine.cookies(now: later(6)).first)
        #expect(cookie.created == cookieTime)
        #expect(cookie.isHTTPOnly)
        #expect(cookie.expires == later(65))
        #expect(machine.count == 2)
    }

    @Test("A cookie that replaces an expired one is new")
    mutating func replacingExpired() throws {
        try machine.store("a=1; Max-Age=1", from: "https://a.example/")
        try machine.store("b=2", from: "https://a.example/")
        try machine.store("a=3", from: "https://a.example/", now: later(1))
        #expect(try machine.text(for: "https://a.example/", now: later(1)) == "b=2; a=3")
        #expect(machine.cookies(now: later(1)).last?.created == later(1))
    }

    @Test("Names are case-sensitive, and path, domain and the host-only flag distinguish cookies")
    mutating func identities() throws {
        for line in ["a=1", "A=2", "a=3; Path=/x", "a=4; Domain=www.example.com", "a=5; Domain=example.com"] {
            try machine.store(line, from: "https://www.example.com/")
        }
        #expect(try machine.text(for: "https://www.example.com/x") == "a=3; a=1; A=2; a=4; a=5")
        #expect(try machine.text(for: "https://b.www.example.com/") == "a=4; a=5")
        #expect(try machine.text(for: "https://example.com/") == "a=5")
        #expect(try machine.text(for: "https://example.com.example/") == nil)
    }

    @Test("A host-only cookie goes to its host alone")
    mutating func hostOnly() throws {
        try machine.store("a=1", from: "https://example.com/")
        #expect(try machine.text(for: "https://www.example.com/") == nil)
        #expect(try machine.text(for: "https://EXAMPLE.com.:8443/") == "a=1")
    }

    @Test("A cookie of an address does not go to addresses that end like it")
    mutating func addresses() throws {
        try machine.store("a=1", from: "http://1.2.3.4/")
        #expect(try machine.text(for: "http://1.2.3.4:8080/") == "a=1")
        #expect(try machine.text(for: "http://9.1.2.3.4.example/") == nil)
        #expect(try machine.text(for: "http://11.2.3.4/") == nil)
        // A cookie file could contain such a domain.
        let tail = Cookie(
            pair: Array("t=1".utf8), nameCount: 1, domain: "2.3.4", isHostOnly: false, path: "/", created: cookieTime)
        machine.store(tail, isSecureOrigin: true, now: cookieTime)
        #expect(try machine.text(for: "http://1.2.3.4/") == "a=1")
        try machine.store("b=2", from: "http://[::1]/")
        #expect(try machine.text(for: "http://[0:0::1]/") == "b=2")
    }

    @Test("A secure cookie goes to https only")
    mutating func secureOnly() throws {
        try machine.store("a=1; Secure", from: "https://a.example/")
        #expect(try machine.text(for: "http://a.example/") == nil)
        #expect(try machine.text(for: "https://a.example/") == "a=1")
    }

    @Test("A cookie is sent until the moment it expires")
    mutating func expiry() throws {
        try machine.store("a=1; Max-Age=10", from: "https://a.example/")
        #expect(try machine.text(for: "https://a.example/", now: later(9.999)) == "a=1")
        #expect(try machine.text(for: "https://a.example/", now: later(10)) == nil)
        #expect(machine.count == 0)
    }

    @Test("A field has at most 16,384 bytes, and the rest is left out and counted")
    mutating func fieldSize() throws {
        for number in 0..<6 {
            try machine.store("n\(number)=" + String(repeating: "v", count: 4000), from: "https://a.example/")
        }
        let found = machine.field(for: try RequestURL("https://a.example/"), now: cookieTime)
        let field = try #require(found)
        #expect(field.count == 4)
        #expect(field.omittedCount == 2)
        #expect(field.bytes.count == 4 * 4003 + 3 * 2)
        #expect(CookieLimits().fieldSize == 16_384)
    }

    // MARK: Secure cookies and http

    @Test(
        "A cookie from http does not cover a secure one of the same name, in related domains and paths",
        arguments: [
            ("a=2", "http://www.example.com/", true), ("a=2", "http://www.example.com/x", true),
            ("a=2; Path=/login", "http://www.example.com/", true),
            ("a=2; Path=/login/x", "http://www.example.com/", true),
            ("a=2; Domain=example.com", "http://example.com/", true), ("a=2", "http://example.com/", true),
            ("a=2", "http://b.www.example.com/", true), ("a=2; Max-Age=0", "http://www.example.com/", true),
            ("b=2", "http://www.example.com/", false), ("A=2", "http://www.example.com/", false),
            ("a=2", "http://other.example.com/", false), ("a=2; Path=/", "http://www.example.com.example/", false),
        ])
    mutating func covering(line: String, url: String, isRefused: Bool) throws {
        try machine.store("a=1; Secure; Path=/; Domain=www.example.com", from: "https://www.example.com/")
        #expect(try machine.store(line, from: url) == (isRefused ? .coversSecure : nil))
        #expect(try machine.text(for: "https://www.example.com/")?.hasPrefix("a=1") == true)
    }

    @Test("A path of the secure cookie limits what it protects")
    mutating func coveringPath() throws {
        try machine.store("a=1; Secure; Path=/login", from: "https://www.example.com/")
        #expect(try machine.store("a=2; Path=/login/en", from: "http://www.example.com/") == .coversSecure)
        #expect(try machine.store("a=2; Path=/loginen", from: "http://www.example.com/") == nil)
        #expect(try machine.store("a=2; Path=/", from: "http://www.example.com/") == nil)
    }

    @Test("A secure cookie that is expired or gone protects nothing, and https may replace it")
    mutating func coveringEnds() throws {
        try machine.store("a=1; Secure; Path=/; Max-Age=5", from: "https://www.example.com/")
        #expect(try machine.store("a=2; Path=/", from: "http://example.com/", now: later(4)) == .coversSecure)
        #expect(try machine.store("a=2; Path=/", from: "http://example.com/", now: later(5)) == nil)
        try machine.store("b=1; Secure; Path=/", from: "https://www.example.com/")
        try machine.store("b=2; Path=/", from: "https://www.example.com/")
        #expect(try machine.text(for: "http://www.example.com/") == "b=2")
        #expect(try machine.store("b=3; Path=/", from: "http://www.example.com/") == nil)
        try machine.store("c=1; Secure; Path=/", from: "https://c.example.com/")
        machine.removeAll(visibleTo: try HostName("c.example.com"))
        #expect(try machine.store("c=3; Path=/", from: "http://example.com/") == nil)
    }

    // MARK: Eviction

    @Test("A domain beyond its limit loses expired cookies first, then non-secure ones, then the longest unused")
    func evictionInDomain() throws {
        var machine = Self.machine(perDomain: 3)
        let url = "https://a.example/"
        for (index, line) in ["s1=1; Secure", "n1=1", "s2=1; Secure"].enumerated() {
            try machine.store(line, from: url, now: later(Double(index)))
        }
        try machine.store("s3=1; Secure; Max-Age=2", from: url, now: later(3))
        #expect(try machine.text(for: url, now: later(4)) == "s1=1; s2=1; s3=1")
        // The expired one goes, although others were used earlier.
        try machine.store("s4=1; Secure", from: url, now: later(6))
        #expect(try machine.text(for: url, now: later(6), countsAsUse: false) == "s1=1; s2=1; s4=1")
        // A new non-secure cookie goes before any secure one.
        try machine.store("n2=1", from: url, now: later(7))
        #expect(try machine.text(for: url, now: later(7), countsAsUse: false) == "s1=1; s2=1; s4=1")
        try machine.store("s1=2; Secure", from: url, now: later(8))
        try machine.store("s5=1; Secure", from: url, now: later(9))
        #expect(try machine.text(for: url, now: later(9)) == "s1=2; s4=1; s5=1")
    }

    @Test("Sending a cookie counts as use, and looking does not")
    func use() throws {
        for countsAsUse in [true, false] {
            var machine = Self.machine(perDomain: 2)
            try machine.store("a=1; Path=/a", from: "https://a.example/")
            try machine.store("b=1; Path=/b", from: "https://a.example/", now: later(1))
            _ = try machine.text(for: "https://a.example/a", now: later(2), countsAsUse: countsAsUse)
            _ = machine.cookies(now: later(2))
            try machine.store("c=1; Path=/", from: "https://a.example/", now: later(3))
            #expect(machine.cookies(now: later(3)).map(\.name) == (countsAsUse ? ["a", "c"] : ["b", "c"]))
        }
    }

    @Test("A full jar evicts expired cookies, then non-secure ones of crowded domains, crowded domains, and the oldest")
    func evictionInAll() throws {
        var machine = Self.machine(perDomain: 4, crowded: 2, total: 6)
        try machine.store("old=1", from: "https://quiet.example/", now: later(0))
        try machine.store("gone=1; Max-Age=5", from: "https://quiet2.example/", now: later(1))
        for (index, line) in ["s1=1; Secure", "s2=1; Secure", "s3=1; Secure", "n1=1"].enumerated() {
            try machine.store(line, from: "https://busy.example/", now: later(2 + Double(index)))
        }
        func names(_ seconds: Double) -> [String] { machine.cookies(now: later(seconds)).map(\.name) }
        try machine.store("x1=1", from: "https://x.example/", now: later(6))
        #expect(names(6) == ["old", "s1", "s2", "s3", "n1", "x1"])
        try machine.store("x2=1", from: "https://x.example/", now: later(7))
        #expect(names(7) == ["old", "s1", "s2", "s3", "x1", "x2"])
        try machine.store("y1=1", from: "https://y.example/", now: later(8))
        #expect(names(8) == ["old", "s2", "s3", "x1", "x2", "y1"])
        try machine.store("y2=1", from: "https://y.example/", now: later(9))
        #expect(names(9) == ["s2", "s3", "x1", "x2", "y1", "y2"])
    }

    @Test("A flood by 1,500 domains below one site evicts no cookie of another site", arguments: [true, false])
    func flood(hasList: Bool) throws {
        var limits = CookieLimits()
        (limits.perSite, limits.total) = (100, 2_000)
        var machine = CookieMachine(limits: limits, suffixes: hasList ? sampleSuffixes : .hostOnly())
        func store(_ name: String, _ domain: String, _ second: Int) {
            let cookie = Cookie(
                pair: Array("\(name)=1".utf8), nameCount: name.utf8.count, domain: domain, isHostOnly: true, path: "/",
                created: later(Double(second)))
            machine.store(cookie, isSecureOrigin: true, now: cookieTime)
        }
        for site in 0..<30 {
            // Domains that are crowded by themselves are no prey either.
            for number in 0..<(site == 0 ? 60 : 3) { store("n\(number)", "www.site\(site).org", 0) }
        }
        for number in 0..<4_500 { store("n\(number)", "h\(number % 1_500).evil.com", 1 + number) }
        #expect(machine.count <= 2_000)
        let domains = machine.cookies(now: later(5_000)).map(\.domain)
        #expect(domains.count { $0.hasSuffix(".org") } == 60 + 29 * 3)
        #expect(domains.count { $0.hasSuffix(".evil.com") } > 1_800)
    }

    @Test("A jar has at most 200 cookies a domain and 20,000 in all")
    func standardLimits() throws {
        var machine = CookieMachine()
        for number in 0..<201 { try machine.store("n\(number)=1", from: "https://a.example/") }
        #expect(machine.count == 200)
        for host in 0..<20_100 {
            let pair = Array("a=1".utf8)
            machine.store(
                Cookie(
                    pair: pair, nameCount: 1, domain: "h\(host).example", isHostOnly: true, path: "/",
                    created: later(Double(host))), isSecureOrigin: true, now: cookieTime)
        }
        #expect((19_800...20_000).contains(machine.count))
    }

    // MARK: Removal

    @Test("Clearing for a host removes all cookies that the host receives, and no others")
    mutating func clearing() throws {
        try machine.store("a=1; Path=/x; Secure", from: "https://www.example.com/")
        try machine.store("b=1; Domain=example.com", from: "https://www.example.com/")
        try machine.store("c=1", from: "https://example.com/")
        try machine.store("d=1; Domain=api.example.com", from: "https://api.example.com/")
        try machine.store("e=1", from: "https://b.www.example.com/")
        machine.removeAll(visibleTo: try HostName("www.example.com"))
        #expect(machine.cookies(now: cookieTime).map(\.name) == ["c", "d", "e"])
        #expect(machine.count == 3)
    }

    @Test("Clearing for an address leaves hosts with a similar name alone")
    mutating func clearingAddress() throws {
        try machine.store("a=1", from: "http://1.2.3.4/")
        try machine.store("b=1", from: "http://11.2.3.4/")
        machine.removeAll(visibleTo: try HostName("1.2.3.4"))
        #expect(machine.cookies(now: cookieTime).map(\.name) == ["b"])
    }

    // MARK: Changes

    @Test("Changes are the stored and the removed cookies, each once, and removals only of saved ones")
    func changes() throws {
        var machine = CookieMachine(tracksChanges: true)
        try machine.store("a=1", from: "https://a.example/")
        try machine.store("a=2", from: "https://a.example/")
        try machine.store("b=1", from: "https://a.example/")
        try machine.store("b=; Max-Age=0", from: "https://a.example/")
        let first = machine.takeChanges()
        #expect(first.count == 1)
        #expect(
            first.values.first.map { if case .stored(let cookie, _) = $0 { cookie.value } else { "removed" } } == "2")
        machine.confirmChanges(first, kept: Set(first.keys))
        #expect(!machine.hasChanges)
        machine.removeAll { _ in true }
        #expect(Array(machine.takeChanges().values) == [.removed])
    }

    @Test("Changes that could not be saved return, except for cookies that have changed or gone since")
    func restored() throws {
        var machine = CookieMachine(tracksChanges: true)
        for line in ["a=1", "b=1", "c=1"] { try machine.store(line, from: "https://a.example/") }
        let taken = machine.takeChanges()
        // The store has no cookie `a`, so its removal is no change.
        try machine.store("a=; Max-Age=0", from: "https://a.example/")
        try machine.store("c=2", from: "https://a.example/")
        machine.restoreChanges(taken)
        let changes = machine.takeChanges().values.map { change in
            if case .stored(let cookie, _) = change { "\(cookie.name)=\(cookie.value)" } else { "removed" }
        }
        #expect(changes.sorted() == ["b=1", "c=2"])
    }

    @Test("A cookie that is removed while it is saved for the first time is removed from the store by the next save")
    func removedDuringSave() throws {
        var machine = CookieMachine(tracksChanges: true)
        try machine.store("a=1", from: "https://a.example/")
        let taken = machine.takeChanges()
        try machine.store("a=; Max-Age=0", from: "https://a.example/")
        machine.confirmChanges(taken, kept: Set(taken.keys))
        let removal = machine.takeChanges()
        #expect(Array(removal.keys) == Array(taken.keys) && Array(removal.values) == [.removed])
    }

    @Test("The removal of a saved cookie stays a change until it is saved, even if the cookie comes and goes meanwhile")
    func unsavedRemoval() throws {
        for goesDuringSave in [true, false] {
            var machine = CookieMachine(tracksChanges: true)
            try machine.store("a=1", from: "https://a.example/")
            let first = machine.takeChanges()
            machine.confirmChanges(first, kept: Set(first.keys))
            try machine.store("a=; Max-Age=0", from: "https://a.example/")
            let removal = machine.takeChanges()
            try machine.store("a=2", from: "https://a.example/")
            if goesDuringSave { try machine.store("a=; Max-Age=0", from: "https://a.example/") }
            machine.restoreChanges(removal)
            try machine.store("a=; Max-Age=0", from: "https://a.example/")
            #expect(Array(machine.takeChanges().values) == [.removed])
        }
    }

    @Test("A saved cookie that is removed, stored again and removed again is removed from the store")
    func removedTwice() throws {
        var machine = CookieMachine(tracksChanges: true)
        try machine.store("sid=1", from: "https://a.example/")
        let first = machine.takeChanges()
        machine.confirmChanges(first, kept: Set(first.keys))
        try machine.store("sid=; Max-Age=0", from: "https://a.example/")
        try machine.store("sid=2", from: "https://a.example/")
        try machine.store("sid=; Max-Age=0", from: "https://a.example/")
        #expect(Array(machine.takeChanges().values) == [.removed])
    }

    @Test("Changes do not grow if no save succeeds and a server sets ever new cookies")
    func failingSaves() throws {
        var limits = CookieLimits()
        limits.perDomain = 5
        var machine = CookieMachine(limits: limits, tracksChanges: true)
        for round in 0..<20 {
            try machine.store("before\(round)=1", from: "https://a.example/")
            let taken = machine.takeChanges()
            for number in 0..<7 { try machine.store("n\(round)-\(number)=1", from: "https://a.example/") }
            machine.restoreChanges(taken)
            #expect(machine.changeCount == 5)
        }
    }

    @Test("The content of a store replaces saved cookies and keeps unsaved changes")
    func adopting() throws {
        var machine = CookieMachine(tracksChanges: true)
        for line in ["kept=1", "gone=1", "changed=1", "removed=1"] {
            try machine.store(line, from: "https://a.example/")
        }
        let first = machine.takeChanges()
        machine.confirmChanges(first, kept: Set(first.keys))
        let lines = ["new=1", "changed=other", "removed=1", "kept=other", "mine=other"]
        let saved = try lines.map { try readCookie($0, from: "https://a.example/").get() }
        try machine.store("changed=2", from: "https://a.example/")
        try machine.store("removed=; Max-Age=0", from: "https://a.example/")
        try machine.store("mine=1", from: "https://a.example/")
        machine.adopt(saved, now: cookieTime)
        #expect(try machine.text(for: "https://a.example/") == "kept=other; changed=2; mine=1; new=1")
        #expect(machine.takeChanges().count == 3)
    }
}
