import EssentialsHTTP
import Testing

@testable import EssentialsRequests

@Suite struct EventStreamMachineTests {
    private func failure(_ reason: RequestFailure.Reason) -> RequestFailure { RequestFailure(reason, "") }

    private func pause(
        _ machine: inout EventStreamMachine, _ failure: RequestFailure? = nil, retryAfter: Duration? = nil,
        random: UInt64 = 0
    ) -> Duration? {
        guard case .wait(let pause) = machine.ended(failure, retryAfter: retryAfter, random: random) else { return nil }
        return pause
    }

    @Test("Connections without events double the pause up to eight times, and an event ends that")
    func pauses() {
        var machine = EventStreamMachine(replays: false)
        for seconds in [3, 6, 12, 24, 24] { #expect(pause(&machine) == .seconds(seconds)) }
        machine.received(ServerSentEvent(data: "", retry: .seconds(1)))
        #expect(pause(&machine) == .seconds(1))
        #expect(pause(&machine) == .seconds(2))
    }

    @Test("The pause that a server names has bounds, and Retry-After can lengthen it")
    func bounds() {
        var machine = EventStreamMachine(replays: false)
        machine.received(ServerSentEvent(data: "", retry: .zero))
        #expect(pause(&machine) == .milliseconds(100))
        machine.received(ServerSentEvent(data: "", retry: .seconds(Int64.max / 2)))
        #expect(pause(&machine) == .seconds(3_600))
        machine.received(ServerSentEvent(data: "", retry: .seconds(1)))
        #expect(pause(&machine, failure(.connection), retryAfter: .seconds(9)) == .seconds(9))
        machine.received(ServerSentEvent(data: ""))
        #expect(pause(&machine, retryAfter: .seconds(Int64.max)) == .seconds(3_600))
    }

    @Test("The id and the time of a block without data count, and do not end the doubling of the pause")
    func withoutData() {
        var machine = EventStreamMachine(replays: true, lastEventID: " 5 ")
        #expect(machine.lastEventID == "5")
        _ = machine.connected()
        #expect(pause(&machine) == .seconds(3))
        machine.noted(id: nil, retry: nil)
        #expect(machine.lastEventID == "5")
        machine.noted(id: "7", retry: .seconds(1))
        #expect(machine.lastEventID == "7" && !machine.missesEvents)
        #expect(pause(&machine) == .seconds(2))
        machine.noted(id: "", retry: nil)
        #expect(machine.missesEvents)
    }

    @Test("Random bits lengthen the pause by less than a half")
    func jitter() throws {
        var machine = EventStreamMachine(replays: false)
        let longest = try #require(pause(&machine, random: .max))
        #expect(longest > .milliseconds(4_499) && longest <= .milliseconds(4_500))
    }

    @Test(
        "Failures of the network are temporary, others end the stream",
        arguments: [
            (RequestFailure.Reason.connection, true), (.nameResolution, true), (.timeout, true), (.interrupted, true),
            (.tls, false), (.cancelled, false), (.closed, false), (.protocolViolation, false), (.tooLarge, false),
        ])
    func temporary(reason: RequestFailure.Reason, isTemporary: Bool) {
        var machine = EventStreamMachine(replays: false)
        #expect((pause(&machine, failure(reason)) != nil) == isTemporary)
    }

    @Test(
        "A stream waits while a token provider is out of order, and ends if the user has to log in again",
        arguments: [
            (TokenMachine.Failure.provider, true), (.overdue, true), (.refusedTooOften, true), (.full, true),
            (.rejected, false), (.ended, false),
        ])
    func tokens(failure: TokenMachine.Failure, isTemporary: Bool) {
        var machine = EventStreamMachine(replays: false)
        let cause = RequestFailure(.connection, "")
        #expect((pause(&machine, failure.requestFailure(host: "h", underlying: cause)) != nil) == isTemporary)
        #expect(pause(&machine, self.failure(.authorization)) == nil)
        #expect(pause(&machine, CredentialScope.endedFailure(host: "h")) == nil)
    }

    @Test(
        "An id is sent without blanks at its ends, and not at all if no field can carry it",
        arguments: [
            ("7", "7"), ("7 ", "7"), (" \t7\t ", "7"), ("a b", "a b"), ("a\tb", "a\tb"), ("", ""), (" ", ""),
            ("a\u{1}b", ""), ("\u{7f}", ""), ("a\rb", ""), ("a\u{0}b", ""), ("ü", "ü"),
            (String(repeating: "x", count: 1_024), String(repeating: "x", count: 1_024)),
            (String(repeating: "x", count: 1_025), ""), (String(repeating: " ", count: 900_000) + "7", "7"),
            (String(repeating: "ü", count: 900_000), ""),
        ])
    func ids(id: String, sent: String) {
        var machine = EventStreamMachine(replays: true)
        _ = machine.connected()
        machine.received(ServerSentEvent(data: "", id: "earlier"))
        machine.received(ServerSentEvent(data: "", id: id))
        #expect(machine.lastEventID == sent)
        // The server does not learn which event was the last one.
        #expect(machine.missesEvents == sent.isEmpty)
    }

    @Test("Events are missed without a connection, unless the server replays them after a known one")
    func gaps() {
        for (replays, id, isGap) in [(false, "", true), (false, "7", true), (true, "", true), (true, "7", false)] {
            var machine = EventStreamMachine(replays: replays)
            #expect(machine.missesEvents == false)
            #expect(machine.connected() == false)
            machine.received(ServerSentEvent(data: "", id: id))
            #expect(machine.missesEvents == isGap)
            #expect(machine.connected() == isGap)
            machine.serverChanged()
            #expect(machine.lastEventID.isEmpty)
        }
    }
}
