import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import Testing

@Suite struct CookieJarTests {
    private let clock = StepClock()
    private let jar: CookieJar
    private let url: RequestURL

    init() throws {
        jar = CookieJar(publicSuffixes: sampleSuffixes, clock: clock.requestClock)
        url = try RequestURL("https://www.example.com/a/b")
    }

    private func fields(_ lines: [String]) -> HTTPFields {
        var fields: HTTPFields = [.contentType: "text/plain"]
        for line in lines { fields.append(HTTPField(name: .setCookie, value: line)) }
        return fields
    }

    private func text(_ url: RequestURL) -> String? {
        jar.field(for: url).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test("Each Set-Cookie field of a response is one cookie, and commas do not separate cookies")
    func store() throws {
        let refusals = jar.store(
            fields(["a=1,b=2", "c=3; Expires=Thu, 01 Jan 2026 00:00:20 GMT", "x", "d=4; Domain=com"]), from: url)
        #expect(refusals == [.syntax, .publicSuffix])
        #expect(text(url) == "a=1,b=2; c=3")
        clock.advance(by: .seconds(20))
        #expect(text(url) == "a=1,b=2")
        #expect(jar.count == 1)
    }

    @Test("A response without Set-Cookie changes nothing")
    func storeNothing() {
        #expect(jar.store([.contentType: "text/plain", .cookie: "a=1"], from: url).isEmpty)
        #expect(jar.count == 0)
    }

    @Test("At most 200 lines of a response are read, and the rest is reported once")
    func lineLimit() {
        #expect(jar.store(fields((0..<205).map { "n=\($0)" }), from: url) == [.lineLimit])
        #expect(text(url) == "n=199")
    }

    @Test("A jar knows whether it has a cookie for a URL")
    func hasCookies() throws {
        #expect(!jar.hasCookies(for: url))
        jar.store("a=1; Secure; Max-Age=5", from: url)
        #expect(jar.hasCookies(for: url))
        #expect(!jar.hasCookies(for: try RequestURL("http://www.example.com/a/b")))
        #expect(!jar.hasCookies(for: try RequestURL("https://www.example.com/")))
        clock.advance(by: .seconds(5))
        #expect(!jar.hasCookies(for: url))
        #expect(jar.field(for: url) == nil)
    }

    @Test("Cookies with HttpOnly are sent, but listed and exported only on demand")
    func httpOnly() throws {
        jar.store("a=1; HttpOnly", from: url)
        jar.store("b=2", from: url)
        #expect(text(url) == "a=1; b=2")
        #expect(jar.cookies().map(\.name) == ["b"])
        #expect(jar.cookies(for: url).map(\.name) == ["b"])
        #expect(jar.cookies(for: url, includingHTTPOnly: true).map(\.name) == ["a", "b"])
        #expect(!String(decoding: jar.netscapeText(), as: UTF8.self).contains("#HttpOnly_"))
        #expect(String(decoding: jar.netscapeText(includingHTTPOnly: true), as: UTF8.self).contains("#HttpOnly_"))
    }

    @Test("The listing for a URL has only the cookies that it receives")
    func listing() throws {
        jar.store("a=1; Path=/", from: url)
        jar.store("b=2; Path=/x", from: url)
        #expect(jar.cookies(for: url).map(\.value) == ["1"])
        #expect(jar.cookies().map(\.value) == ["1", "2"])
    }

    @Test("Removing the cookies that a host sees keeps those of other hosts")
    func removal() throws {
        jar.store("a=1; Domain=example.com; Path=/", from: url)
        jar.store("b=2; HttpOnly", from: url)
        let other = try RequestURL("https://api.example.com/")
        jar.store("c=3", from: other)
        jar.removeCookies(visibleTo: url.origin.host)
        #expect(text(url) == nil)
        #expect(text(other) == "c=3")
        jar.store("d=4; Max-Age=60", from: other)
        jar.removeCookies { $0.expires == nil }
        #expect(text(other) == "d=4")
        jar.removeAll()
        #expect(jar.count == 0)
    }

    @Test("A stage works with any storage")
    func storage() async throws {
        struct FixedStorage: CookieStorage {
            func hasCookies(for url: RequestURL) -> Bool { true }
            func field(for url: RequestURL, countsAsUse: Bool) -> CookieField? {
                CookieField(bytes: Array("a=\(countsAsUse)".utf8), count: 1)
            }
            func store(_ headerFields: HTTPFields, from url: RequestURL) -> [CookieRefusal] { [] }
            func removeCookies(visibleTo host: HostName) {}
            func flush() async throws(RequestFailure) {}
        }
        let storage: any CookieStorage = FixedStorage()
        #expect(storage.field(for: url)?.bytes == Array("a=true".utf8))
        jar.store("b=2", from: url)
        let real: any CookieStorage = jar
        #expect(real.field(for: url)?.count == 1)
        try await real.flush()
    }

    @Test("Descriptions and dumps of a jar contain no values")
    func redaction() {
        jar.store("sid=s3cret", from: url)
        var dumped = ""
        dump(jar, to: &dumped)
        #expect(!dumped.contains("s3cret") && !dumped.contains("115"))
        #expect("\(jar)" == "CookieJar with 1 cookies")
    }

    @Test("Many threads share a jar")
    func threads() async throws {
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask { [jar, url] in
                    for number in 0..<50 {
                        jar.store("t\(task)=\(number)", from: url)
                        _ = jar.field(for: url)
                    }
                }
            }
        }
        #expect(jar.cookies(for: url).map(\.value) == Array(repeating: "49", count: 8))
    }

    // MARK: Netscape's form

    @Test("Exported cookies come back in another jar, byte for byte")
    func export() throws {
        jar.store("a=1; Domain=example.com; Path=/; Secure; HttpOnly; Max-Age=60", from: url)
        jar.store("empty=", from: url)
        Array("raw=\u{e9}".utf8 + [0xff]).withUnsafeBytes { bytes in
            var fields = HTTPFields()
            fields.append(HTTPField(name: .setCookie, value: Array(bytes)))
            jar.store(fields, from: url)
        }
        let other = CookieJar(publicSuffixes: sampleSuffixes, clock: clock.requestClock)
        #expect(other.addCookies(netscapeText: jar.netscapeText(includingHTTPOnly: true)) == 3)
        #expect(other.cookies(includingHTTPOnly: true) == jar.cookies(includingHTTPOnly: true))
        let text = String(decoding: jar.netscapeText(includingHTTPOnly: true, includingSession: false), as: UTF8.self)
        #expect(text.hasPrefix("# Netscape HTTP Cookie File\n"))
        #expect(text.hasSuffix("\n#HttpOnly_.example.com\tTRUE\t/\tTRUE\t1767225660\ta\t1\n"))
    }

    @Test(
        "Lines of a cookie file that cannot be read are skipped",
        arguments: [
            "# www.example.com\tFALSE\t/\tFALSE\t0\ta\t1", "", "www.example.com", "www.example.com\tFALSE\t/\tFALSE\t0",
            "www.example.com\tMAYBE\t/\tFALSE\t0\ta\t1", "www.example.com\tFALSE\tx\tFALSE\t0\ta\t1",
            "www.example.com\tFALSE\t/\tFALSE\tsoon\ta\t1", "www.example.com\tFALSE\t/\tFALSE\t0\t\t1",
            "\tFALSE\t/\tFALSE\t0\ta\t1", "www.example.com\tFALSE\t/\tFALSE\t0\ta=b\t1",
            ".com\tTRUE\t/\tFALSE\t0\ta\t1", "www.example.com\tFALSE\t/\tFALSE\t1\ta\t1",
            "www.example.com\tFALSE\t/\tFALSE\t-5\ta\t1", "www.example.com\tFALSE\t/\tFALSE\t0\ta\t\u{1}",
            "www.example.com FALSE / FALSE 0 a 1", "#HttpOnly_# x\tFALSE\t/\tFALSE\t0\ta\t1",
            "www.example.com\tFALSE\t/\tFALSE\t0\ta\t" + String(repeating: "v", count: 4096),
        ])
    func unreadable(line: String) {
        #expect(jar.addCookies(netscapeText: Data((line + "\n").utf8)) == 0)
        #expect(jar.count == 0)
    }

    @Test(
        "Lines of a cookie file are read with all variants that programs write",
        arguments: [
            ("www.example.com\tFALSE\t/\tFALSE\t0\ta\t1", "a=1"), ("WWW.example.com\tfalse\t/a\ttrue\t\ta\t1\r", "a=1"),
            (".example.com\tTRUE\t/\tFALSE\t1999999999\ta\t", "a="),
            ("example.com\tTRUE\t/\tFALSE\t1999999999.5\ta", "a="),
            ("#HttpOnly_www.example.com\tFALSE\t/\tTRUE\t0\ta\tx=y z", "a=x=y z"),
            ("www.example.com\tFALSE\t/\tFALSE\t99999999999999999999\ta\t1", "a=1"),
            (".www.example.com\tFALSE\t/\tFALSE\t0\ta\tv\tw", "a=v\tw"),
        ])
    func readable(line: String, field: String) {
        #expect(jar.addCookies(netscapeText: Data(line.utf8)) == 1)
        #expect(text(url) == field)
    }

    // MARK: Saving

    /// A store that reports each save.
    private final class ReportingStore: CookieStore {
        let saves: AsyncStream<[CookieIdentity: CookieChange]>
        private let report: AsyncStream<[CookieIdentity: CookieChange]>.Continuation
        let failure = Mutex<RequestFailure?>(nil)

        init() { (saves, report) = AsyncStream.makeStream() }

        func load() throws(RequestFailure) -> [Cookie] { [] }

        func save(_ journal: any CookieJournal) async throws(RequestFailure) {
            guard journal.hasChanges else { return }
            let changes = journal.takeChanges()
            if let failure = failure.withLock({ $0 }) {
                journal.restore(changes)
                report.yield([:])
                throw failure
            }
            journal.confirm(changes, kept: Set(changes.keys), contents: nil)
            report.yield(changes)
        }
    }

    @Test("Changes are saved at once if the last save was a second ago, and otherwise together after that second")
    func saveInterval() async throws {
        let store = ReportingStore()
        let jar = try CookieJar(store: store, sampleSuffixes, clock.requestClock)
        var saves = store.saves.makeAsyncIterator()
        jar.store("a=1", from: url)
        #expect(await saves.next()?.count == 1)
        clock.advance(by: .milliseconds(200))
        jar.store("b=1", from: url)
        jar.store("c=1", from: url)
        jar.store("a=; Max-Age=0", from: url)
        await clock.waitForSleeper()
        #expect(clock.deadlines == [.seconds(1)])
        clock.advance(by: .milliseconds(800))
        #expect(await saves.next()?.count == 3)
        clock.advance(by: .seconds(5))
        jar.store("d=1", from: url)
        #expect(await saves.next()?.count == 1)
        #expect(clock.deadlines.isEmpty)
    }

    @Test("A flush saves at once, and a failed save is kept and tried again")
    func flush() async throws {
        let store = ReportingStore()
        let jar = try CookieJar(store: store, sampleSuffixes, clock.requestClock)
        var saves = store.saves.makeAsyncIterator()
        store.failure.withLock { $0 = RequestFailure(.file, "The disk is full.") }
        jar.store("a=1", from: url)
        #expect(await saves.next()?.count == 0)
        while jar.saveFailure == nil { await Task.yield() }
        #expect(jar.saveFailure?.reason == .file)
        await #expect(throws: RequestFailure.self) { try await jar.flush() }
        _ = await saves.next()
        store.failure.withLock { $0 = nil }
        try await jar.flush()
        #expect(await saves.next()?.count == 1)
        #expect(jar.saveFailure == nil)
    }
}
