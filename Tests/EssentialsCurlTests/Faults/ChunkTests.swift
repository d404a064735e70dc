import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Chunks with malformed framing (RFC 9112, 7.1).
@Suite("A chunked body", .serialized)
struct ChunkTests {
    private static func chunked(
        _ name: String, _ text: String, is reason: RequestFailure.Reason? = nil, body: String = "",
        fields: [String]? = nil, trailers: [String] = [], end: ServerStep = .close
    ) -> Fault {
        Fault(
            name, fields: "Transfer-Encoding: chunked", text, is: reason, body: body, fields: fields,
            trailers: trailers, end: end)
    }

    private static let rest = "\r\nabc\r\n0\r\n\r\n"

    static let sizes: [Fault] = [
        chunked("none", rest, is: .protocolViolation),
        chunked("negative", "-1" + rest, is: .protocolViolation),
        chunked("with a sign", "+3" + rest, is: .protocolViolation),
        chunked("behind a blank", " 3" + rest, is: .protocolViolation),
        chunked("of 17 digits", "00000000000000003" + rest, is: .protocolViolation),
        chunked("of 40 digits", String(repeating: "f", count: 40) + rest, is: .protocolViolation),
        chunked("of 2^64 - 1", "ffffffffffffffff" + rest, is: .protocolViolation),
        chunked("of 2^63", "8000000000000000" + rest, is: .protocolViolation),
        chunked("of 2^63 - 1", "7fffffffffffffff" + rest, is: .interrupted),
        chunked("smaller than the chunk", "3\r\nabcdef\r\n0\r\n\r\n", is: .protocolViolation),
        chunked("larger than the chunk", "5\r\nabc\r\n0\r\n\r\n", is: .protocolViolation),
        chunked("without an end of line behind the chunk", "3\r\nabc0\r\n\r\n", is: .protocolViolation),
        chunked("with carriage returns alone", "3\rabc\r0\r\r", is: .interrupted),
        chunked("with line feeds alone", "3\nabc\n0\n\n", body: "abc", end: .keepAlive),
        chunked("of 16 digits", "0000000000000003" + rest, body: "abc", end: .keepAlive),
        chunked("with a blank behind it", "3 " + rest, body: "abc", end: .keepAlive),
        chunked("in capitals", "A\r\n0123456789\r\n0\r\n\r\n", body: "0123456789", end: .keepAlive),
        chunked("with extensions", "3;a=b;c=\"d\"\r\nabc\r\n0;e\r\n\r\n", body: "abc", end: .keepAlive),
        chunked(
            "with an extension of 100 KB", "3;" + String(repeating: "x", count: 100_000) + rest, body: "abc",
            end: .keepAlive),
    ]

    @Test("Chunk sizes must match the received bytes", arguments: sizes)
    func size(fault: Fault) async throws { try await fault.expect() }

    static let trailing: [Fault] = [
        chunked(
            "a length", "3\r\nabc\r\n0\r\nContent-Length: 50\r\nX-A: 1\r\n\r\n", body: "abc",
            fields: ["Transfer-Encoding: chunked"], trailers: ["Content-Length: 50", "X-A: 1"], end: .keepAlive),
        chunked(
            "an encoding and a cookie", "3\r\nabc\r\n0\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a=b\r\n\r\n",
            body: "abc", fields: ["Transfer-Encoding: chunked"],
            trailers: ["Transfer-Encoding: chunked", "Set-Cookie: a=b"], end: .keepAlive),
        chunked(
            "line feeds alone", "3\r\nabc\r\n0\r\nX-A: a\nX-B: b\n\n", body: "abc", trailers: ["X-A: a", "X-B: b"],
            end: .keepAlive),
    ]

    @Test("Trailers change nothing about the body and never become fields of the head", arguments: trailing)
    func trailers(fault: Fault) async throws { try await fault.expect() }

    @Test("Endless trailers are `tooLarge`")
    func endlessTrailers() async throws {
        try await Fault(
            "endless trailers",
            [
                .head(headers: [("Transfer-Encoding", "chunked")]), .text("2\r\nok\r\n0\r\n"),
                .repeatSend(Array("A: b\r\n".utf8), count: 100_000), .close,
            ], is: .tooLarge
        ).expect()
    }

    @Test("A body of one byte in each chunk arrives complete")
    func tinyChunks() async throws {
        let count = 100_000
        let fault = Fault(
            "tiny chunks",
            [
                .head(headers: [("Transfer-Encoding", "chunked")]),
                .repeatSend(Array("1\r\nx\r\n".utf8), count: count), .text("0\r\n\r\n"), .keepAlive,
            ], body: String(repeating: "x", count: count))
        try await fault.expect()
    }
}
