import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import Testing

@Suite("Unexpected statuses")
struct StatusMessageTests {
    @Test(
        "The failure of an unexpected status names the registered phrase, or the number without one",
        arguments: [
            (404, "404 Not Found"), (418, "418"), (422, "422 Unprocessable Content"), (429, "429 Too Many Requests"),
            (451, "451 Unavailable For Legal Reasons"), (511, "511 Network Authentication Required"), (599, "599"),
        ])
    func phrase(code: Int, text: String) async throws {
        let fixture = try ServiceFixture(StubTransport(status: code))
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.send(DataRequest(.get, "a", query: ["q": "secret"]))
        }
        #expect(failure?.message == "GET https://h/v1/a?… returned the status \(text).")
    }

    @Test("The failure of an unexpected status does not show the server's own phrase")
    func serversPhrase() async throws {
        let server = try LoopbackServer { _ in
            .raw([.text("HTTP/1.1 429 Visit evil.test\r\nContent-Length: 0\r\n\r\n")])
        }
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url), transport: try CurlTransport())
        let failure = await #expect(throws: RequestFailure.self) { try await service.send(DataRequest(.get, "a")) }
        #expect(failure?.message.hasSuffix("the status 429 Too Many Requests.") == true)
        await service.shutdown()
    }
}
