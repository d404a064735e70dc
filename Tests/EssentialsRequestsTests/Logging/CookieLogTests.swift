import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Logging
import Testing

@Suite("Cookies in the request log")
struct CookieLogTests {
    /// A service with a jar, whose responses have these `Set-Cookie` lines.
    private func fixture(
        _ jar: CookieJar, _ level: Logger.Level = .trace, setting cookies: [String] = []
    ) throws -> (ServiceFixture, LogLines) {
        let lines = LogLines()
        let fields = HTTPFields(cookies.map { HTTPField(name: .setCookie, value: $0) })
        let transport = StubTransport { _ throws(RequestFailure) in
            TransportResponse(HTTPResponse(status: .ok, headerFields: fields), body: ResponseBody(Data("{}".utf8)))
        }
        let fixture = try ServiceFixture(transport, base: "https://shop.example.com/v1/") { configuration in
            configuration.logger = lines.logger(level)
            configuration.logsCommands = true
            configuration.cookies = jar
        }
        return (fixture, lines)
    }

    /// A jar with this many cookies of 3,912 bytes, of which a field holds four.
    private func jar(_ count: Int) throws -> CookieJar {
        let jar = CookieJar()
        let url = try RequestURL("https://shop.example.com/v1/")
        let value = "s3cret" + String(repeating: "x", count: 3_900)
        for number in 0..<count { #expect(jar.store("n4me\(number)=\(value); Path=/", from: url) == nil) }
        return jar
    }

    private func expectNoSecrets(_ lines: LogLines) {
        // Without the whole text, which a failure would show.
        let (showsValue, showsName) = (lines.text.contains("s3cret"), lines.text.contains("n4me"))
        #expect(!showsValue && !showsName)
    }

    @Test("The log contains the number of cookies that were left out, and no name or value of a cookie")
    func leftOut() async throws {
        let (fixture, lines) = try fixture(jar(7))
        let sent = try await fixture.sent(DataRequest(.get, "a"))
        #expect(sent.headerFields[.cookie]?.utf8.count == 4 * 3_912 + 3 * 2)
        #expect(lines.messages == ["request", "request as a command", "cookies left out", "response"])
        let line = try #require(lines.metadata(of: "cookies left out"))
        #expect(line["cookies"] == "3")
        #expect(line["url"] == "https://shop.example.com/v1/a")
        #expect(line["request-id"] == lines.metadata(of: "request")?["request-id"])
        expectNoSecrets(lines)
    }

    @Test("Cookies that a request's own cookies leave no room for are counted in the log")
    func leftOutByOwn() async throws {
        let (fixture, lines) = try fixture(jar(2))
        let own = "n4me=s3cret" + String(repeating: "x", count: 16_000)
        let sent = try await fixture.sent(DataRequest(.get, "a", headerFields: [.cookie: own]))
        let isUnchanged = sent.headerFields[.cookie] == own
        #expect(isUnchanged)
        #expect(lines.metadata(of: "cookies left out")?["cookies"] == "2")
        expectNoSecrets(lines)
    }

    @Test("Cookies that a request's own cookies replace are not counted as left out")
    func replacedByOwn() async throws {
        let (fixture, lines) = try fixture(jar(7))
        let sent = try await fixture.sent(DataRequest(.get, "a", headerFields: [.cookie: "n4me6=s3cret"]))
        #expect(sent.headerFields[.cookie]?.utf8.count == 12 + 4 * (2 + 3_912))
        // Of the seven, four are sent and one is replaced.
        #expect(lines.metadata(of: "cookies left out")?["cookies"] == "2")
        expectNoSecrets(lines)
    }

    @Test("The log says nothing about cookies if all of them are sent")
    func allSent() async throws {
        let (fixture, lines) = try fixture(jar(4))
        _ = try await fixture.sent(DataRequest(.get, "a"))
        #expect(lines.messages == ["request", "request as a command", "response"])
        expectNoSecrets(lines)
    }

    @Test("The log contains the reasons why cookies were refused, and no name or value of a cookie")
    func refused() async throws {
        let jar = CookieJar()
        let (fixture, lines) = try fixture(
            jar,
            setting: [
                "s3cret", "kept=s3cret; Path=/", "n4me=" + String(repeating: "s3cret", count: 800),
                "n4me=s3cret; Domain=s3cret.example", "n4me=s3cret; Domain=com", "__Host-n4me=s3cret; Path=/n4me",
            ])
        for _ in 0..<2 { _ = try await fixture.service.send(DataRequest(.get, "a")) }
        #expect(jar.count == 1)
        #expect(fixture.transport.requests.map { $0.headerFields[.cookie] } == [nil, "kept=s3cret"])
        let line = try #require(lines.metadata(of: "cookies refused"))
        #expect(line["refusals"] == "syntax, size, otherDomain, publicSuffix, prefix")
        #expect(lines.messages.filter { $0 == "cookies refused" }.count == 2)
        expectNoSecrets(lines)
    }

    @Test("One reason in the log stands for all lines beyond the first 200")
    func tooManyLines() async throws {
        let jar = CookieJar()
        let (fixture, lines) = try fixture(jar, setting: (0..<205).map { "n4me\($0)=s3cret" })
        _ = try await fixture.service.send(DataRequest(.get, "a"))
        #expect(jar.count == 200)
        #expect(lines.metadata(of: "cookies refused")?["refusals"] == "lineLimit")
        expectNoSecrets(lines)
    }

    @Test("The log above the level debug says nothing about cookies")
    func silent() async throws {
        let (fixture, lines) = try fixture(jar(7), .info, setting: ["s3cret"])
        _ = try await fixture.service.send(DataRequest(.get, "a"))
        #expect(lines.messages.isEmpty)
    }
}
