import EssentialsTransport
import Testing

@Suite struct RequestFailureReasonTests {
    /// All public reasons with the names on which logs, metrics and scripts rely.
    private static let names: [(RequestFailure.Reason, String)] = [
        (.invalidRequest, "invalidRequest"), (.invalidPolicy, "invalidPolicy"), (.nameResolution, "nameResolution"),
        (.connection, "connection"), (.proxy, "proxy"), (.tls, "tls"), (.trustChain, "trustChain"),
        (.trustHost, "trustHost"), (.pinMismatch, "pinMismatch"), (.unexpectedPeer, "unexpectedPeer"),
        (.otherTrust, "otherTrust"), (.tlsTooOld, "tlsTooOld"), (.trustEvidence, "trustEvidence"),
        (.revoked, "revoked"), (.hostRefused, "hostRefused"), (.plaintextRefused, "plaintextRefused"),
        (.timeout, "timeout"), (.cancelled, "cancelled"), (.interrupted, "interrupted"),
        (.protocolViolation, "protocolViolation"), (.tooLarge, "tooLarge"), (.redirectLimit, "redirectLimit"),
        (.redirectRefused, "redirectRefused"), (.notReplayable, "notReplayable"), (.status, "status"),
        (.emptyBody, "emptyBody"), (.encoding, "encoding"), (.decoding, "decoding"), (.file, "file"),
        (.queueFull, "queueFull"), (.closed, "closed"), (.authorization, "authorization"),
        (.resources, "resources"), (.circuitOpen, "circuitOpen"),
        (.notCached, "notCached"),
    ]

    @Test("Each reason has its stable name", arguments: names)
    func name(reason: RequestFailure.Reason, name: String) {
        #expect(reason.name == name)
        #expect(reason.description == name)
    }

    @Test("The list of all reasons contains each reason once")
    func all() {
        #expect(RequestFailure.Reason.all.count == 35)
        #expect(RequestFailure.Reason.all.map(\.name).sorted() == Self.names.map(\.1).sorted())
        #expect(Set(RequestFailure.Reason.all) == Set(Self.names.map(\.0)))
        #expect(Set(Self.names.map(\.1)).count == 35)
    }

    @Test("Only a cancellation has no remedy")
    func withoutRemedy() {
        #expect(RequestFailure.Reason.all.filter { $0.remedy == nil } == [.cancelled])
        #expect(RequestFailure(.cancelled, "It ended.").remedy == nil)
        #expect(RequestFailure(.cancelled, "It ended.").description == "cancelled: It ended.")
    }

    @Test("Each other reason has a remedy in one sentence", arguments: RequestFailure.Reason.all)
    func remedy(reason: RequestFailure.Reason) throws {
        guard reason != .cancelled else { return }
        let remedy = try #require(reason.remedy)
        #expect(try #require(remedy.first).isUppercase)
        #expect(remedy.hasSuffix("."))
        #expect(remedy.contains(" "))
        #expect(RequestFailure.Reason.all.filter { $0.remedy == reason.remedy } == [reason])
    }
}
