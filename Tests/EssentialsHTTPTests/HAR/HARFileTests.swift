import EssentialsHTTP
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite("HAR files")
struct HARFileTests {
    /// A record as a browser writes it, with members that only it has.
    private static let browser = """
        \u{FEFF}{"log":{"version":"1.2","creator":{"name":"WebInspector","version":"537.36"},"pages":[{"id":"page_1"}],
        "entries":[{"_initiator":{"type":"other"},"startedDateTime":"2026-03-01T12:00:00.123456+01:00","time":52.5,
        "request":{"method":"POST","url":"https://example.com/a?b=c%20d#e","httpVersion":"http/2.0","headers":[
        {"name":":authority","value":"example.com"}],"queryString":[],"cookies":[],"headersSize":-1,"bodySize":3,
        "postData":{"mimeType":"text/plain","text":"one"}},
        "response":{"status":200,"statusText":"","httpVersion":"http/2.0","headers":[],"cookies":[],
        "content":{"size":2,"mimeType":"image/png","text":"/wA=","encoding":"base64"},"redirectURL":"","headersSize":-1,
        "bodySize":-1},"cache":{},"timings":{"blocked":1.5,"dns":null,"connect":-1,"send":1,"wait":40,"receive":10,
        "ssl":-1,"_blocked_queueing":1},"serverIPAddress":"192.0.2.1","connection":"443"}]}}
        """

    @Test("A record of a browser is read")
    func foreign() throws {
        let har = try HAR(parsing: Data(Self.browser.utf8))
        let entry = try #require(har.entries.first)
        #expect(har.creator.name == "WebInspector")
        #expect(entry.started.timeIntervalSince1970 == 1_772_362_800.123456)
        #expect(entry.request.query == [.init(name: "b", value: "c d")])
        #expect(entry.request.body?.text == "one")
        #expect(entry.response.body.bytes == Data([0xff, 0]) && entry.response.contentSize == 2)
        #expect(entry.timings.dns == -1 && entry.time == 52.5)
        #expect(entry.serverAddress == "192.0.2.1")
    }

    @Test("A file is written for this user only, replaces its predecessor as a whole, and is read again")
    func files() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/a.har"
        try Data("old".utf8).write(to: URL(filePath: path))
        let har = try HAR(parsing: Data(Self.browser.utf8))
        try har.write(to: path)
        #expect(try HAR(contentsOf: path).entries.count == 1)
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["a.har"])
        let pipe = directory + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: directory + "/link", withDestinationPath: pipe)
        for bad in [directory, directory + "/none/a.har", "", pipe, directory + "/link", "/dev/null"] {
            #expect(throws: RequestFailure.self) { try har.write(to: bad) }
            #expect(throws: RequestFailure.self) { try HAR(contentsOf: bad) }
        }
    }

    @Test(
        "A text that is no HAR file is refused, and the message names the member that is wrong",
        arguments: [
            ("", "it is no JSON"), ("{}", "“log” is missing"), (#"{"log":{}}"#, "“log.entries” is missing"),
            (#"{"log":{"entries":[{}]}}"#, "“log.entries.0.startedDateTime” is missing"),
            (
                #"{"log":{"entries":[{"startedDateTime":"today","request":{"method":"GET","url":"u"}}]}}"#,
                "“log.entries.0.startedDateTime” is invalid"
            ),
            (
                #"{"log":{"entries":[{"startedDateTime":"2026-01-01T00:00:00Z","request":{"method":"GET"}}]}}"#,
                "“log.entries.0.request.url” is missing"
            ),
            (#"{"log":{"entries":[1]}}"#, "“log.entries.0” is invalid"),
            (#"{"log":{"entries":[{"startedDateTime":1}]}}"#, "“log.entries.0.startedDateTime” is invalid"),
        ])
    func refused(text: String, reason: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HAR(parsing: Data(text.utf8)) }
        #expect(failure.reason == .decoding)
        #expect(failure.message.contains(reason), "\(failure.message)")
    }

    @Test("Members that are not required may be missing, null or of another kind")
    func lenient() throws {
        let text = """
            {"log":{"creator":{},"entries":[{"startedDateTime":"2026-01-01T00:00:00Z","_call":7,"_failure":"x",
            "request":{"method":"GET","url":"https://h.example/","headers":[{"name":"a","value":null}],"bodySize":1e19},
            "response":{"status":200,"content":null,"bodySize":1.5},"timings":{"wait":"long","send":1e300}}]}}
            """
        let entry = try #require(try HAR(parsing: Data(text.utf8)).entries.first)
        #expect(entry.request.headers == [.init(name: "a", value: "")] && entry.response.status == 200)
        #expect(entry.response.contentSize == -1 && entry.response.bodySize == 1)
        #expect(entry.call == nil && entry.failure == nil && entry.time.isFinite)
    }

    @Test("Damaged records are read or refused, and what was read can be written")
    func damaged() throws {
        var numbers = SeededNumbers(state: 5)
        let bytes = Array(Self.browser.utf8)
        var count = 0
        for _ in 0..<3_000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                let index = Int.random(in: 0..<damaged.count, using: &numbers)
                switch Int.random(in: 0..<3, using: &numbers) {
                case 0: damaged[index] = UInt8.random(in: .min ... .max, using: &numbers)
                case 1: damaged.remove(at: index)
                default: damaged.insert(contentsOf: Array("1e308".utf8), at: index)
                }
            }
            guard let har = try? HAR(parsing: Data(damaged)) else { continue }
            count += 1
            let again = try HAR(parsing: har.data)
            #expect(again.entries.map(\.timings) == har.entries.map(\.timings))
        }
        #expect(count > 300)
    }

    @Test("The time of an exchange is the sum of its parts, without the handshake twice")
    func sum() {
        var timings = HAR.Timings()
        #expect(timings.total == 0)
        (timings.blocked, timings.connect, timings.ssl, timings.send) = (0.1, 0.2, 0.15, 0.3)
        #expect(timings.total == 0.6)
    }
}
