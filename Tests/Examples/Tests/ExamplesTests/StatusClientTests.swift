import EssentialsTestKit
import Testing

@Suite("The command-line client with pins", .timeLimit(.minutes(5)))
struct StatusClientTests {
    private let authority: TestAuthority
    private let certificate: TestCertificate
    private let backup: TestCertificate
    private let folder = Result { try TemporaryFolder() }

    init() throws {
        authority = try TestAuthority(name: "Example Authority")
        certificate = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        backup = try authority.issue(TestCertificate.Template(commonName: "localhost"))
    }

    private func run(
        pins: [String], isHealthy: Bool = true, status: Int = 200
    ) async throws -> (end: ExampleProcess.End, requests: Int) {
        let server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) { request in
            request.path == "/v1/health"
                ? .response(
                    status: status, headers: [("Content-Type", "application/json")],
                    body: #"{"name": "films", "isHealthy": \#(isHealthy)}"#)
                : .response(status: 404)
        }
        defer { server.stop() }
        let anchor = try folder.get().file("ca.pem", authority.certificate.certificatePEM)
        let options = pins.flatMap { ["--pin", $0] } + ["--authority", anchor]
        let end = try await ExampleProcess("status-client", ["\(server.url)/v1/"] + options).end()
        return (end, server.requestCount)
    }

    @Test("The client prints the state of a server with the right key, and its exit status says whether it is healthy")
    func healthy() async throws {
        let pins = [certificate.publicKeyPin, backup.publicKeyPin]
        let healthy = try await run(pins: pins)
        #expect(healthy.end.lines == ["films: healthy"])
        #expect(healthy.end.errors == "")
        #expect(healthy.end.status == 0)
        let sick = try await run(pins: pins, isHealthy: false)
        #expect(sick.end.lines == ["films: not healthy"])
        #expect(sick.end.status == 1)
    }

    @Test("The client sends nothing to a server with another key, and says what to try")
    func wrongPin() async throws {
        let other = try TestAuthority(name: "Other").certificate.publicKeyPin
        let (end, requests) = try await run(pins: [backup.publicKeyPin, other])
        #expect(end.status == 2)
        #expect(end.lines == [])
        #expect(end.errors.hasPrefix("status-client: "))
        #expect(end.errors.contains("localhost"))
        #expect(end.errors.contains("\nTry: "))
        #expect(requests == 0)
    }

    @Test("The client refuses a policy with one pin, a malformed pin, and a call without pins")
    func usage() async throws {
        let one = try await run(pins: [certificate.publicKeyPin])
        #expect(one.end.status == 2)
        #expect(one.end.errors.contains("\nTry: "))
        #expect(one.requests == 0)
        let text = try await run(pins: ["sha256/abc", certificate.publicKeyPin])
        #expect(text.end.status == 2)
        #expect(text.end.errors.contains("\nTry: "))
        let none = try await ExampleProcess("status-client", ["https://localhost/"]).end()
        #expect(none.status == 64)
        #expect(none.errors.contains("--pin"))
    }

    @Test("The client says that the server failed")
    func failure() async throws {
        let (end, requests) = try await run(pins: [certificate.publicKeyPin, backup.publicKeyPin], status: 503)
        #expect(end.status == 2)
        #expect(end.errors.contains("503"))
        #expect(requests == 1)
    }
}
