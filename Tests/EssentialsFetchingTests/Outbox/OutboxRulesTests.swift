import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Outbox: final failures")
struct OutboxRulesTests {
    private func verdict(_ failure: RequestFailure, _ retries500: Bool = true) -> OutboxRules.Verdict {
        OutboxRules.verdict(on: failure, retriesInternalServerError: retries500)
    }

    private func status(_ code: Int) -> RequestFailure {
        RequestFailure(
            .status, "",
            response: FailedResponse(head: HTTPResponse(status: HTTPResponse.Status(code: code)), body: Data()))
    }

    @Test("Temporary statuses are tried again and count as attempts")
    func statuses() {
        let passing: Set = [408, 425, 429, 500, 502, 503, 504]
        for code in 300...599 {
            #expect(verdict(status(code)) == (passing.contains(code) ? .again(hastened: false) : .final), "\(code)")
        }
        #expect(verdict(status(500), false) == .final)
    }

    @Test(
        "A temporary failure that sent nothing is tried again without counting",
        arguments: [
            RequestFailure.Reason.nameResolution, .connection, .circuitOpen, .queueFull, .resources, .authorization,
            .cancelled, .closed,
        ])
    func later(reason: RequestFailure.Reason) {
        guard case .later = verdict(RequestFailure(reason, "")) else {
            Issue.record("\(reason) is not tried again.")
            return
        }
    }

    @Test("An entry without a token waits for the network if its token provider could not be reached")
    func tokens() {
        func failure(_ reason: RequestFailure.Reason, isTemporary: Bool) -> RequestFailure {
            RequestFailure(.authorization, "", underlying: RequestFailure(reason, ""))
                .changed { $0.isTemporary = isTemporary }
        }
        for reason in [RequestFailure.Reason.nameResolution, .connection, .timeout, .interrupted] {
            #expect(verdict(failure(reason, isTemporary: true)) == .later(hastened: true))
            #expect(verdict(failure(reason, isTemporary: false)) == .later(hastened: false))
        }
        #expect(verdict(failure(.authorization, isTemporary: true)) == .later(hastened: false))
    }

    @Test("A failure with an unknown outcome counts as an attempt, and one before the first byte does not")
    func fate() {
        for reason in [RequestFailure.Reason.interrupted, .timeout, .connection] {
            let sent = RequestFailure(reason, "", phase: .receiving, transmission: .sent)
            #expect(verdict(sent) == .again(hastened: true))
            let unsent = RequestFailure(reason, "", phase: .connect, transmission: .unsent)
            #expect(verdict(unsent) == .later(hastened: true))
        }
        #expect(verdict(RequestFailure(.timeout, "", phase: .queue)) == .later(hastened: true))
    }

    @Test(
        "Any other reason is final",
        arguments: [
            RequestFailure.Reason.invalidRequest, .tls, .trustChain, .trustHost, .pinMismatch, .revoked, .hostRefused,
            .plaintextRefused, .protocolViolation, .tooLarge, .redirectLimit, .redirectRefused, .notReplayable,
            .encoding, .decoding, .file,
        ])
    func final(reason: RequestFailure.Reason) { #expect(verdict(RequestFailure(reason, "")) == .final) }

    @Test("Unread entries do not pile up without a limit")
    func mailbox() async {
        let mailbox = OutboxMailbox()
        func entry(_ number: Int, _ state: OutboxEntry.State) -> OutboxEntry {
            var entry = OutboxEntry(
                id: OutboxEntry.ID(number: UInt64(number)), method: .post, path: "", orderingKey: "k",
                partition: .shared, date: Date(timeIntervalSinceReferenceDate: 0), idempotencyKey: "", byteCount: 0,
                environment: OutboxEnvironment(name: "", baseURL: "", fields: ""))
            entry.state = state
            return entry
        }
        for number in 0...UnreadEntries.maximumCount {
            for state in [OutboxEntry.State.waiting, .sending] { #expect(mailbox.put(entry(number, state)) == nil) }
        }
        // The oldest entry was dropped, and the newest state of each other entry is left.
        #expect(await mailbox.next() == entry(1, .sending))
        for _ in 1..<UnreadEntries.maximumCount { _ = await mailbox.next() }
        mailbox.finish()
        #expect(await mailbox.next() == nil)
    }
}
