import EssentialsTestKit
import Glibc
import Testing

@Suite("The daemon that reads an event stream", .timeLimit(.minutes(5)))
struct FeedDaemonTests {
    @Test("The daemon reads the stream again after an interruption, from its last event, and ends on a signal")
    func feed() async throws {
        let authority = try TestAuthority(name: "Example Authority")
        let certificate = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) { request in
            let event = request.number + 1
            // The second response has no id, and the third one does not end.
            let id = event == 2 ? "" : "id: \(event)\n"
            return .raw([
                .head(headers: [("Content-Type", "text/event-stream")]),
                .text("retry: 10\n\(id)data: event \(event)\n\n"), event == 3 ? .hang : .close,
            ])
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        _ = try folder.file("ca.pem", authority.certificate.certificatePEM)
        let policy = try folder.file(
            "policy.json",
            """
            {"anchors": ["ca.pem"], "unlistedHosts": {"pins": ["\(certificate.publicKeyPin)", \
            "\(authority.certificate.publicKeyPin)"]}}
            """)
        let process = try ExampleProcess(
            "feed-daemon", environment: ["FEED_BASE_URL": "\(server.url)/v1/", "FEED_TRUST_POLICY": policy])
        _ = try await process.line(after: "event 3")
        let start = ContinuousClock.now
        process.signal(SIGTERM)
        let end = try await process.end()
        #expect(end.status == 0, "\(end.errors)")
        #expect(ContinuousClock.now - start < .seconds(5))
        #expect(end.lines == ["event 1", "event 2", "event 3"])
        #expect(end.errors.contains("The daemon has ended."))
        #expect(server.requests.map { $0.header("Last-Event-ID") } == [nil, "1", "1"])
    }

    @Test("The daemon says which variable is missing, and waits for a server that does not listen yet")
    func waiting() async throws {
        let missing = try await ExampleProcess("feed-daemon").end()
        #expect(missing.status == 1)
        #expect(!missing.errors.contains("Fatal error"))
        #expect(missing.errors.contains("FEED_BASE_URL"))

        let port = try {
            let server = try LoopbackServer { _ in .close }
            defer { server.stop() }
            return server.port
        }()
        let process = try ExampleProcess("feed-daemon", environment: ["FEED_BASE_URL": "http://127.0.0.1:\(port)/"])
        let server = try LoopbackServer(port: port) { _ in
            .raw([.head(headers: [("Content-Type", "text/event-stream")]), .text("data: late\n\n"), .hang])
        }
        defer { server.stop() }
        _ = try await process.line(after: "late")
        process.signal(SIGINT)
        #expect(try await process.end().status == 0)
    }
}
