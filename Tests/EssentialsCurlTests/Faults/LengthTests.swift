import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Lengths and encodings that contradict themselves or each other (RFC 9112, 6).
@Suite("A body's length", .serialized)
struct LengthTests {
    static let lengths: [Fault] = [
        Fault("negative", fields: "Content-Length: -5", "hello", is: .protocolViolation),
        Fault("empty", fields: "Content-Length:", "hello", is: .protocolViolation),
        Fault("folded", fields: "Content-Length:\r\n 5", "hello", is: .protocolViolation),
        Fault(
            "a word beside chunks", fields: "Transfer-Encoding: chunked\r\nContent-Length: x", "",
            is: .protocolViolation),
        Fault("with leading zeros", fields: "Content-Length: 00005", "hello", body: "hello"),
        Fault("twice the same", fields: "Content-Length: 5\r\nContent-Length: 5", "hello", body: "hello"),
        Fault("twice the same in one line", fields: "Content-Length: 5, 5", "hello", body: "hello"),
        Fault("longer than the body", fields: "Content-Length: 6", "hello", is: .interrupted),
        Fault("none, where the connection's end is the body's", fields: "X-A: 1", "hello", body: "hello"),
    ]

    @Test("A length is read strictly if it delimits the body", arguments: lengths)
    func length(fault: Fault) async throws { try await fault.expect() }

    @Test("A length of nearly 2^63 bytes exceeds the limit of a collected body, and interrupts a streamed one")
    func enormous() async throws {
        let bench = try Bench(bad: [
            .text("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nhello"), .close,
        ])
        let collected = try await bench.bad(as: .collected(upTo: 1 << 20))
        #expect(collected.failure?.reason == .tooLarge, "\(collected)")
        // No memory is reserved for an announced body that has not arrived.
        let unlimited = try await bench.bad(as: .collected(upTo: .max))
        #expect(unlimited.failure?.reason == .interrupted, "\(unlimited)")
        let streamed = try await bench.bad(as: .streamed)
        #expect(streamed.failure?.reason == .interrupted, "\(streamed)")
        #expect(streamed.text == "hello")
        #expect(bench.badCount == 3)
        try await bench.expectRecovery()
    }

    private static let chunks = "3\r\nabc\r\n0\r\n\r\n"

    static let encodings: [Fault] = [
        Fault("in capitals", fields: "TRANSFER-ENCODING: CHUNKED", chunks, body: "abc", end: .keepAlive),
        Fault(
            "a length, then chunks", fields: "Content-Length: 5\r\nTransfer-Encoding: chunked", chunks,
            is: .protocolViolation, end: .keepAlive),
        Fault(
            "chunks, then a length", fields: "Transfer-Encoding: chunked\r\nContent-Length: 5", chunks,
            is: .protocolViolation, end: .keepAlive),
        Fault(
            "chunks, and a length that is too long", fields: "Transfer-Encoding: chunked\r\nContent-Length: 500",
            chunks, is: .protocolViolation, end: .keepAlive),
        Fault("identity", fields: "Transfer-Encoding: identity", "hello", is: .protocolViolation),
        Fault(
            "chunked twice in one line", fields: "Transfer-Encoding: chunked, chunked", chunks, is: .protocolViolation),
        Fault(
            "chunked twice in two lines", fields: "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", chunks,
            is: .protocolViolation),
        Fault("gzip that is none", fields: "Transfer-Encoding: gzip", "hello", is: .protocolViolation),
        Fault(
            "gzip in chunks that is none", fields: "Transfer-Encoding: gzip, chunked", chunks, is: .protocolViolation),
        Fault("chunks within gzip", fields: "Transfer-Encoding: chunked, gzip", chunks, is: .protocolViolation),
        Fault("unknown", fields: "Transfer-Encoding: foo", "hello", is: .protocolViolation),
        Fault(
            "unknown beside a length", fields: "Transfer-Encoding: foo\r\nContent-Length: 5", "hello",
            is: .protocolViolation, end: .keepAlive),
        Fault(
            "one that only begins like chunked", fields: "Transfer-Encoding: chunkedx\r\nContent-Length: 5", "hello",
            is: .protocolViolation, end: .keepAlive),
        Fault(
            "one that only ends like chunked", fields: "Transfer-Encoding: xchunked\r\nContent-Length: 5", "hello",
            is: .protocolViolation, end: .keepAlive),
        Fault(
            "chunked behind a vertical tab", fields: "Transfer-Encoding: \u{b}chunked\r\nContent-Length: 5", "hello",
            is: .protocolViolation, end: .keepAlive),
        Fault(
            "chunked in quotes", fields: "Transfer-Encoding: \"chunked\"\r\nContent-Length: 5", "hello",
            is: .protocolViolation, end: .keepAlive),
    ]

    @Test("A length excludes a transfer encoding, and chunked is the only known encoding", arguments: encodings)
    func encoding(fault: Fault) async throws { try await fault.expect() }

    private static let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"

    /// The bytes beyond the end arrive together with it.
    static let behind: [Fault] = [
        Fault("a length and a response", fields: "Content-Length: 5", "hello" + evil, body: "hello", end: .keepAlive),
        Fault("a length and empty lines", fields: "Content-Length: 5", "hello\r\n\r\n", body: "hello", end: .keepAlive),
        Fault("no body and a response", fields: "Content-Length: 0", evil, end: .keepAlive),
        Fault(
            "chunks and a response", fields: "Transfer-Encoding: chunked", chunks + evil, body: "abc", end: .keepAlive),
        Fault(
            "chunks and a chunk", fields: "Transfer-Encoding: chunked", chunks + chunks, body: "abc", end: .keepAlive),
    ]

    @Test("Bytes beyond the end of a response are not another response", arguments: behind)
    func excess(fault: Fault) async throws {
        try await fault.expect()
        try await fault.expect(Authority())
    }
}
