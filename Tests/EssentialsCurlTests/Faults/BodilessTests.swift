import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Responses that have no body whatever their fields say (RFC 9112, 6.3): to HEAD, and with 204 and 304.
@Suite("A response without a body", .serialized)
struct BodilessTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = HTTPRequest.Method.get
        var status: Int
        var fields: String
    }

    static let kinds: [Kind] = [200, 204, 304].flatMap { status in
        [
            ("and without a length", ""), ("with a length", "Content-Length: 42\r\n"),
            ("in chunks", "Transfer-Encoding: chunked\r\n"),
            ("that says gzip", "Content-Encoding: gzip\r\nContent-Length: 42\r\n"),
            ("that says an unknown encoding", "Content-Encoding: foo\r\n"),
        ].map { name, fields in
            Kind(
                testDescription: "\(status) \(name)", method: status == 200 ? .head : .get, status: status,
                fields: fields)
        }
    }

    @Test("A response without a body ends with its head, and its connection is reused", arguments: kinds)
    func noBody(kind: Kind) async throws {
        let bench = try Bench(bad: [.text("HTTP/1.1 \(kind.status) Hm\r\n\(kind.fields)\r\n"), .keepAlive])
        try await expectNoBody(bench, kind)
        #expect(bench.server.connectionCount == 1)
    }

    @Test("A body that follows a bodiless response is delivered to no request", arguments: kinds)
    func body(kind: Kind) async throws {
        // Its length is the announced one, so it could be read as a body or as a whole response.
        let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"
        for authority in [nil, try Authority()] {
            let bench = try Bench(
                authority, bad: [.text("HTTP/1.1 \(kind.status) Hm\r\n\(kind.fields)\r\n\(evil)"), .keepAlive])
            try await expectNoBody(bench, kind)
        }
    }

    private func expectNoBody(_ bench: Bench, _ kind: Kind) async throws {
        for (count, delivery) in deliveries.enumerated() {
            let outcome = try await bench.bad(kind.method, as: delivery)
            #expect(outcome.failure == nil, "\(outcome)")
            #expect(outcome.status == kind.status)
            #expect(outcome.body.isEmpty)
            #expect(bench.badCount == count + 1)
            try await bench.expectRecovery("after \(kind.testDescription), \(delivery)")
        }
    }
}
