import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite("Summaries of failures")
struct FailureSummaryTests {
    private struct Told: LocalizedError {
        let errorDescription: String?
    }

    private func failure(
        _ reason: RequestFailure.Reason = .status, status: Int? = nil, underlying: (any Error)? = nil
    ) -> RequestFailure {
        let response = status.map { FailedResponse(head: HTTPResponse(status: .init(code: $0)), body: Data()) }
        return RequestFailure(reason, "GET https://h/a failed.", response: response, underlying: underlying)
    }

    @Test(
        "The phrase of an unexpected status is written in sentence case",
        arguments: [
            (404, "Not found"), (409, "Conflict"), (414, "URI too long"), (429, "Too many requests"),
            (451, "Unavailable for legal reasons"), (500, "Internal server error"),
            (505, "HTTP version not supported"),
        ])
    func phrases(code: Int, summary: String) { #expect(failure(status: code).summary == summary) }

    @Test("The given message is first, then that of the cause, then the status, then the reason")
    func order() {
        let cause = Told(errorDescription: "The name is taken.")
        #expect(failure(status: 409, underlying: cause).with(message: "Sorry.").summary == "Sorry.")
        #expect(failure(status: 409, underlying: failure(.decoding).with(message: "Inner.")).summary == "Inner.")
        #expect(failure(status: 409, underlying: cause).summary == "The name is taken.")
        #expect(failure(status: 409, underlying: Told(errorDescription: nil)).summary == "Conflict")
        #expect(failure(status: 409, underlying: Told(errorDescription: " ")).summary == "Conflict")
        #expect(failure(.timeout).summary == "The server took too long to respond.")
    }

    @Test("The message for developers is never the summary, even if it belongs to a cause")
    func technical() {
        #expect(failure(status: 404, underlying: failure(.decoding)).summary == "Not found")
        #expect(failure(.connection, underlying: SystemError(code: 111)).summary == "The server could not be reached.")
    }

    @Test("A status that has no phrase or is no error has the general text of the reason", arguments: [599, 200, 304])
    func unknownStatus(code: Int) {
        #expect(failure(status: code).summary == RequestFailure.Reason.status.summary)
    }

    @Test("The status of a response that could not be decoded does not appear")
    func decoding() {
        #expect(failure(.decoding, status: 404).summary == RequestFailure.Reason.decoding.summary)
    }

    @Test(
        "The text of a cause is shown without queries, fragments and credentials of URLs",
        arguments: [
            ("No https://h/a?token=s3cret here", "No https://h/a?… here"), ("https://u:s3cret@h/a", "https://h/a"),
            ("See https://h/#s3cret", "See https://h/?…"), ("Why? Because: a@b", "Why? Because: a@b"),
            ("https://h/a@b?c", "https://h/a@b?…"), ("Two  spaces", "Two  spaces"),
        ])
    func secrets(text: String, shown: String) {
        #expect(failure(underlying: Told(errorDescription: text)).summary == shown)
    }

    @Test("A codec's own failure keeps its message, and gets the response that it was decoded from")
    func codec() throws {
        struct Refusing: BodyCodec {
            func decode<Model: Decodable>(_ type: Model.Type, from body: Data, as mediaType: MediaType) throws -> Model
            {
                throw RequestFailure(.decoding, "Technical.").with(message: "The file is damaged.")
            }
            func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data { Data() }
        }
        let codecs = CodecRegistry().registering(Refusing(), for: MediaPattern(.json))
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.decode(
                Int.self, from: Data("1".utf8), contentType: "application/json", response: HTTPResponse(status: .ok),
                host: "h")
        }
        #expect(failure.summary == "The file is damaged.")
        #expect(failure.host == "h" && failure.phase == .decoding && failure.response?.body == Data("1".utf8))
    }
}
