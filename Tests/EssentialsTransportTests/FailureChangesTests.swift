import EssentialsTransport
import FoundationEssentials
import Testing

@Suite("Changed copies of a failure")
struct FailureChangesTests {
    private struct Cause: Error {}

    private static let failure = RequestFailure(
        .status, "GET https://h/a returned the status 409 Conflict.", remedy: "Look closer.", phase: .receiving,
        host: "h", attempt: 3, transmission: .sent,
        response: FailedResponse(head: HTTPResponse(status: .conflict), body: Data("no".utf8)), underlying: Cause()
    ).naming(.get, "https://h/a")

    /// Everything of a failure that no change in these tests concerns.
    private func rest(_ failure: RequestFailure) -> [String] {
        [
            "\(failure.reason)", "\(failure.phase)", failure.host ?? "", "\(failure.attempt)", failure.request ?? "",
            "\(failure.transmission as Any)", "\(failure.status as Any)", "\(failure.response?.body.count ?? -1)",
            "\(failure.underlying is Cause)", "\(failure.earlierFailures.count)",
        ]
    }

    @Test("A failure with another message keeps everything else")
    func message() {
        let changed = Self.failure.with(message: "Somebody else has changed it.")
        #expect(changed.message == "Somebody else has changed it.")
        #expect(changed.remedy == "Look closer.")
        #expect(rest(changed) == rest(Self.failure))
        #expect(changed == Self.failure)
        #expect(changed.description.contains("Somebody else has changed it."))
        #expect(Self.failure.message == "GET https://h/a returned the status 409 Conflict.")
    }

    @Test("A failure with another remedy keeps everything else, and without one has that of its reason")
    func remedy() {
        let changed = Self.failure.with(remedy: "Load it again.")
        #expect(changed.remedy == "Load it again.")
        #expect(changed.message == Self.failure.message)
        #expect(rest(changed) == rest(Self.failure))
        #expect(changed.with(remedy: nil).remedy == RequestFailure.Reason.status.remedy)
    }

    @Test("A failure with another error model keeps its response, and without a response has no model")
    func model() {
        let changed = Self.failure.with(errorModel: 7)
        #expect(changed.errorModel(as: Int.self) == 7)
        #expect(changed.errorModel(as: String.self) == nil)
        #expect(rest(changed) == rest(Self.failure))
        #expect(changed.with(errorModel: nil).errorModel(as: Int.self) == nil)
        let bare = RequestFailure(.timeout, "Late.")
        #expect(bare.with(errorModel: 7).errorModel(as: Int.self) == nil)
    }

    @Test("A message of its own is found through the failures that it caused, in a chain of any length")
    func ownMessage() {
        var failure = RequestFailure(.decoding, "Technical.")
        #expect(failure.ownMessage == nil)
        failure = failure.with(message: "Sorry.")
        for _ in 0..<3 { failure = RequestFailure(.status, "Technical.", underlying: failure) }
        #expect(failure.ownMessage == "Sorry.")
        #expect(failure.with(remedy: "Do that.").ownMessage == "Sorry.")
        #expect(failure.with(message: "Outer.").ownMessage == "Outer.")
        for _ in 0..<1_000 { failure = RequestFailure(.status, "Technical.", underlying: failure) }
        #expect(failure.ownMessage == nil)
    }

    @Test("Each reason has one sentence for people", arguments: RequestFailure.Reason.all)
    func reasons(reason: RequestFailure.Reason) {
        #expect(reason.summary.hasSuffix(".") && reason.summary.count > 10)
        #expect(reason.summary.first?.isUppercase == true)
        #expect(!reason.summary.dropLast().contains("."))
    }
}
