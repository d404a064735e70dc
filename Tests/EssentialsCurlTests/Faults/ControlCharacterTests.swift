import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Control characters in the fields of real responses. Code that uses a value sees the bytes and can refuse it.
@Suite("Control characters in a response's fields")
struct ControlCharacterTests {
    /// All control characters that a line of HTTP/1.1 can contain, except the tab, which is allowed.
    private static let bytes: [UInt8] = (1...0x1f).filter { ![9, 10, 13].contains($0) } + [0x7f]

    private func response(_ steps: [ServerStep]) async throws -> TransportResponse {
        let bench = try Bench(bad: steps)
        let response = try await bench.transport.send(try request(bench.server, "/bad"))
        try await bench.expectRecovery()
        return response
    }

    private func response(_ fields: String, status: String = "200 OK") async throws -> TransportResponse {
        try await response([.text("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\(fields)\r\n\r\n"), .keepAlive])
    }

    @Test("The head, early hints and trailers have the bytes that the server sent")
    func everywhere() async throws {
        let text = "a" + String(decoding: Self.bytes, as: UTF8.self) + "b"
        let response = try await response([
            .text("HTTP/1.1 103 Hints\r\nX-A: \(text)\r\n\r\n"),
            .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: \(text)\r\n\r\n"),
            .text("2\r\nok\r\n0\r\nX-A: \(text)\r\n\r\n"), .keepAlive,
        ])
        let name = try #require(HTTPField.Name("X-A"))
        #expect(response.headerFields[name] == text)
        #expect(response.informational.map { $0.headerFields[name] } == [text])
        #expect(response.trailerFields[name] == text)
    }

    @Test("A cookie with a control character is not stored", arguments: bytes)
    func cookies(byte: UInt8) async throws {
        let character = Character(UnicodeScalar(byte))
        let response = try await response(
            "Set-Cookie: a\(character)=1\r\nSet-Cookie: b=\(character)\r\nSet-Cookie: c=1")
        let jar = CookieJar()
        let url = try RequestURL("http://localhost/")
        #expect(jar.store(response.headerFields, from: url) == [.syntax, .syntax])
        #expect(jar.field(for: url).map { String(decoding: $0.bytes, as: UTF8.self) } == "c=1")
    }

    @Test("A cookie with a carriage return is not stored")
    func carriageReturn() async throws {
        let response = try await response("Set-Cookie: a=\rb\r\nSet-Cookie: c=1")
        #expect(response.headerFields[values: .setCookie] == ["c=1"])
    }

    @Test("A redirect to a URL with a control character is refused", arguments: bytes)
    func redirects(byte: UInt8) async throws {
        let character = Character(UnicodeScalar(byte))
        let response = try await response("Location: /a\(character)b", status: "302 Found")
        let sent = TransportRequest(.get, try RequestURL("http://localhost/"))
        let outcome = RedirectRules.outcome(
            of: sent, status: response.status, headerFields: response.headerFields, policy: .standard, history: [])
        guard case .fail(let failure) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(failure.reason == .protocolViolation)
    }

    @Test("A reason phrase with control characters changes nothing")
    func reasons() async throws {
        let response = try await response("X-A: 1", status: "200 O\u{1}K\u{7f}")
        #expect(response.status.code == 200)
        #expect(response.status.reasonPhrase.isEmpty)
    }
}
