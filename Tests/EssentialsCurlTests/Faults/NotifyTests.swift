import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// TLS connections that end without close_notify, as after a truncation by an attacker (RFC 8446, 6.1).
@Suite("A TLS connection that ends without close_notify", .serialized)
struct NotifyTests {
    static let ends: [Fault] = [
        Fault(
            "a body of known length", fields: "Content-Length: 5", "hello", body: "hello", end: .closeWithoutNotify),
        Fault(
            "the last chunk", fields: "Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\n\r\n", body: "abc",
            end: .closeWithoutNotify),
        Fault("an empty body", fields: "Content-Length: 0", "", end: .closeWithoutNotify),
    ]

    @Test("A TLS connection that ends without close_notify does no harm after a complete response", arguments: ends)
    func behind(fault: Fault) async throws { try await fault.expect(Authority()) }

    static let cuts: [Fault] = [ServerStep.closeWithoutNotify, .reset].flatMap { end in
        [
            Fault("a body of known length", fields: "Content-Length: 5", "hel", is: .interrupted, end: end),
            Fault("a chunk", fields: "Transfer-Encoding: chunked", "3\r\nab", is: .interrupted, end: end),
            Fault(
                "the chunks", fields: "Transfer-Encoding: chunked", "3\r\nabc\r\n", is: .interrupted, end: end),
            Fault(
                "the trailers", fields: "Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\nX-A: 1\r\n", is: .interrupted,
                end: end),
            Fault("a line of the head", [.text("HTTP/1.1 200 OK\r\nContent-Le"), end], is: .interrupted),
            Fault("the head", [.text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"), end], is: .interrupted),
        ].map { fault in
            var named = fault
            named.name += ", \(end)"
            return named
        }
    }

    @Test("A TLS connection that ends without close_notify within a response is `interrupted`", arguments: cuts)
    func within(fault: Fault) async throws { try await fault.expect(Authority()) }

    @Test("A connection that ends without close_notify before a response is `interrupted`, and nothing is sent again")
    func before() async throws {
        for end in [ServerStep.close, .closeWithoutNotify, .reset] {
            let bench = try Bench(Authority(), bad: [end])
            for (count, delivery) in deliveries.enumerated() {
                let outcome = try await bench.bad(.post, as: delivery)
                #expect(outcome.failure?.reason == .interrupted, "\(outcome)")
                #expect(bench.badCount == count + 1)
            }
            try await bench.expectRecovery()
        }
    }
}
