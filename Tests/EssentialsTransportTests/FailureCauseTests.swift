import EssentialsTransport
import FoundationEssentials
import Testing

/// The causes of failures, and the properties that depend on them.
@Suite struct FailureCauseTests {
    /// The values of all properties, in the order of their declarations: another attempt, against the server, of the
    /// network, outage, may pass, of this program.
    private static func answers(_ failure: RequestFailure) -> String {
        [
            failure.isWorthAnotherAttempt, failure.countsAgainstServer, failure.isOfNetwork, failure.isOutage,
            failure.mayPass, failure.isOfThisProgram,
        ].map { $0 ? "x" : "-" }.joined()
    }

    private static func status(_ code: Int) -> RequestFailure {
        RequestFailure(
            .status, "",
            response: FailedResponse(head: HTTPResponse(status: HTTPResponse.Status(code: code)), body: Data()))
    }

    private static func noToken(_ cause: RequestFailure?) -> RequestFailure {
        RequestFailure(.authorization, "", underlying: cause).changed { $0.isTemporary = true }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let failure: RequestFailure
        let cause: RequestFailure.Cause
        let answers: String
        var testDescription: String {
            "\(failure.reason) \(failure.phase) \(failure.status.map { "\($0.code)" } ?? "")"
        }

        init(_ failure: RequestFailure, _ cause: RequestFailure.Cause, _ answers: String) {
            (self.failure, self.cause, self.answers) = (failure, cause, answers)
        }
    }

    static let rows = [
        Row(RequestFailure(.nameResolution, ""), .network, "xxxxx-"),
        Row(RequestFailure(.connection, ""), .network, "xxxxx-"),
        Row(RequestFailure(.interrupted, "", phase: .receiving), .network, "xxxxx-"),
        Row(RequestFailure(.timeout, "", phase: .waiting), .network, "xxxxx-"),
        Row(RequestFailure(.timeout, "", phase: .queue), .queueTime, "--xxxx"),
        Row(RequestFailure(.proxy, "", phase: .nameResolution), .unreachableProxy, "x-xxx-"),
        Row(RequestFailure(.proxy, "", phase: .connect), .unreachableProxy, "x-xxx-"),
        Row(RequestFailure(.proxy, "", phase: .handshake), .decision, "------"),
        Row(RequestFailure(.queueFull, ""), .capacity, "----xx"),
        Row(RequestFailure(.resources, ""), .capacity, "----xx"),
        Row(RequestFailure(.circuitOpen, ""), .openCircuit, "----xx"),
        Row(noToken(nil), .missingToken, "----xx"),
        Row(noToken(RequestFailure(.connection, "")), .missingToken, "--xxxx"),
        Row(noToken(status(503)), .missingToken, "---xxx"),
        Row(noToken(status(400)), .missingToken, "----xx"),
        Row(RequestFailure(.authorization, ""), .decision, "------"),
        Row(status(404), .status, "------"),
        Row(status(429), .status, "----x-"),
        Row(status(501), .status, "----x-"),
        Row(status(503), .status, "---xx-"),
        Row(RequestFailure(.cancelled, ""), .ended, "-----x"),
        Row(RequestFailure(.closed, ""), .ended, "-----x"),
    ]

    @Test("Each failure has its expected cause and the expected value of every property", arguments: rows)
    func answers(row: Row) {
        #expect(row.failure.cause == row.cause)
        #expect(Self.answers(row.failure) == row.answers)
    }

    @Test("Every cause is tested, and all reasons that the table does not name are decisions")
    func complete() {
        #expect(Set(Self.rows.map(\.cause)) == Set(RequestFailure.Cause.allCases))
        let named = Set(Self.rows.map(\.failure.reason))
        for reason in RequestFailure.Reason.all where !named.contains(reason) {
            #expect(RequestFailure(reason, "").cause == .decision, "\(reason)")
            #expect(Self.answers(RequestFailure(reason, "")) == "------", "\(reason)")
        }
    }
}
