import EssentialsTransport
import FoundationEssentials
import Testing

@Suite struct RequestFailureTests {
    private struct Below: Error {}

    @Test("A failure returns the values it was created with")
    func roundTrip() throws {
        let pin = try Pin(kind: .publicKey, digest: Array(repeating: 1, count: 32))
        let facts = CertificateFacts(subject: "CN=a", notBefore: 1, notAfter: 2, certificatePin: pin, publicKeyPin: pin)
        let response = FailedResponse(head: HTTPResponse(status: .badGateway), body: .init("no".utf8))
        let failure = RequestFailure(
            .pinMismatch, "No pin matched.", remedy: "Look closer.", phase: .handshake, host: "example.com", attempt: 3,
            response: response, chain: [facts], underlying: Below())
        #expect(failure.reason == .pinMismatch)
        #expect(failure.message == "No pin matched.")
        #expect(failure.remedy == "Look closer.")
        #expect(failure.phase == .handshake)
        #expect(failure.host == "example.com")
        #expect(failure.attempt == 3)
        #expect(failure.response?.head.status == .badGateway)
        #expect(failure.response?.body == .init("no".utf8))
        #expect(failure.chain == [facts])
        #expect(failure.underlying is Below)
    }

    @Test("By default a failure has the first attempt, the phase preparation and its reason's remedy")
    func defaults() {
        let failure = RequestFailure(.timeout, "Too late.")
        #expect(failure.phase == .preparation)
        #expect(failure.attempt == 1)
        #expect(failure.remedy == RequestFailure.Reason.timeout.remedy)
        #expect(failure.host == nil)
        #expect(failure.response == nil)
        #expect(failure.chain.isEmpty)
        #expect(failure.underlying == nil)
    }

    @Test("The description contains reason, message and remedy", arguments: RequestFailure.Reason.all)
    func description(reason: RequestFailure.Reason) {
        let failure = RequestFailure(reason, "This happened.")
        let remedy = reason.remedy.map { " \($0)" } ?? ""
        #expect(failure.description == "\(reason.name): This happened.\(remedy)")
        let advised = RequestFailure(reason, "This happened.", remedy: "Do that.")
        #expect(advised.description == "\(reason.name): This happened. Do that.")
    }

    @Test("The description shows two underlying errors: failures by their messages, others by their types")
    func causes() {
        let third = RequestFailure(.tls, "Third.", underlying: Below())
        let second = RequestFailure(.connection, "Second.", underlying: third)
        let first = RequestFailure(.status, "First.", remedy: "Do that.", underlying: second)
        #expect(first.description == "status: First. Do that. Caused by connection: Second. Caused by tls: Third.")
        #expect(third.description == "tls: Third. \(RequestFailure.Reason.tls.remedy ?? "") Caused by Below.")
        let file = RequestFailure(.file, "No.", remedy: "Do that.", underlying: SystemError(code: 2))
        #expect(file.description == "file: No. Do that. Caused by No such file or directory.")
        let repeated = RequestFailure(.file, "It failed: \(SystemError(code: 2)).", underlying: SystemError(code: 2))
        #expect(!repeated.description.contains("Caused by"))
        struct Telling: Error, CustomStringConvertible { let description = "secret" }
        let telling = RequestFailure(.encoding, "No.", remedy: "Do that.", underlying: Telling())
        #expect(telling.description == "encoding: No. Do that. Caused by Telling.")
    }

    @Test("The description contains nothing of the response, the certificates or the underlying error")
    func descriptionKeepsSecrets() {
        let response = FailedResponse(
            head: HTTPResponse(status: .ok, headerFields: [.setCookie: "secret"]), body: .init("secret".utf8))
        let failure = RequestFailure(.decoding, "It does not fit.", host: "example.com", response: response)
        #expect(!failure.description.contains("secret"))
    }

    @Test(
        "The message about an invalid URL contains no query",
        arguments: [
            "example.com/a?token=secret", "ftp://a/b?token=secret", "http://a b?token=secret",
            "http://a:b?token=secret",
            "http://a/?token=secret%", "http://a/?token=secret\n", "http://u@a/?token=secret", "a?b://token=secret",
            "http://[::1?token=secret", "http://::1?token=secret", "example.com#token=secret",
        ])
    func noQuery(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try RequestURL(text) }
        #expect(!failure.description.contains("secret"))
        #expect(!failure.description.contains("token"))
    }

    @Test("Phases have unique stable names")
    func phases() {
        let phases: [RequestFailure.Phase] = [
            .preparation, .queue, .nameResolution, .connect, .handshake, .sending, .waiting, .receiving, .decoding,
        ]
        let names = [
            "preparation", "queue", "nameResolution", "connect", "handshake", "sending", "waiting", "receiving",
            "decoding",
        ]
        #expect(phases.map(\.name) == names)
        #expect(phases.map(\.description) == names)
        #expect(Set(phases).count == phases.count)
    }
}
