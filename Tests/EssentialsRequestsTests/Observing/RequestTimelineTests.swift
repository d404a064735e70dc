import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Timelines")
struct RequestTimelineTests {
    private let began = SteadyInstant.now

    /// A timeline of events at milliseconds after the beginning.
    private func timeline(_ events: (Int, RequestEvent.Kind)...) -> RequestTimeline {
        var attempt = 0
        return RequestTimeline(
            events.map { time, kind in
                if case .sent = kind { attempt += 1 }
                let call = RequestCall(RequestID(service: 1, number: 1), .get, Shared(Redaction()), began: began)
                return RequestEvent(
                    call: call, attempt: attempt, time: began + .milliseconds(time), kind: kind)
            })
    }

    private func text(_ timeline: RequestTimeline) -> [String] {
        timeline.phases.map { phase in
            "\(phase.attempt) \(phase.name) \(phase.begin / .milliseconds(1))-\(phase.end / .milliseconds(1))"
        }
    }

    private func request() throws -> ObservedRequest {
        ObservedRequest(TransportRequest(.get, try RequestURL("https://h/a")), Shared(Redaction()))
    }

    private func head(
        _ change: (inout TransportMetrics) -> Void = { _ in }, isStreamed: Bool = false
    ) -> RequestEvent.Kind {
        var metrics = TransportMetrics()
        change(&metrics)
        let response = TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data()), metrics: metrics)
        return .head(ObservedResponse(response, Shared(Redaction()), isStreamed: isStreamed))
    }

    private func ended(_ outcome: RequestEvent.Ending.Outcome = .completed) -> RequestEvent.Kind {
        .ended(.init(outcome: outcome, bytesRead: nil, metrics: nil, progress: nil))
    }

    @Test("The phases of an exchange on a new connection follow one another")
    func exchange() throws {
        let timeline = timeline(
            (0, .began(.init(.url(nil), redaction: Shared(Redaction()), environment: nil))),
            (2, .prepared(try request())),
            (12, .waited(.init(reason: .limits, duration: .milliseconds(10)))), (12, .sent(try request())),
            (
                100,
                head {
                    ($0.queued, $0.nameResolved, $0.connected) = (
                        .milliseconds(3), .milliseconds(5), .milliseconds(15)
                    )
                    ($0.secured, $0.requestBegan, $0.requestSent) = (
                        .milliseconds(30), .milliseconds(31), .milliseconds(41)
                    )
                    ($0.firstByte, $0.finished) = (.milliseconds(60), .milliseconds(84))
                }
            ), (101, ended()))
        #expect(
            text(timeline) == [
                "0 preparing 0.0-2.0", "0 limits 2.0-12.0", "1 queue 12.0-15.0", "1 name 15.0-20.0",
                "1 connect 20.0-30.0", "1 tls 30.0-45.0", "1 send 46.0-56.0", "1 wait 56.0-75.0",
                "1 receive 75.0-99.0",
            ])
        #expect(timeline.isComplete && timeline.duration == .milliseconds(101))
    }

    @Test("A reused connection has no name, connection and handshake, and a streamed body is received until its end")
    func streamed() throws {
        let timeline = timeline(
            (0, .began(.init(.url(nil), redaction: Shared(Redaction()), environment: nil))),
            (1, .prepared(try request())),
            (1, .sent(try request())),
            (
                21,
                head(
                    {
                        ($0.nameResolved, $0.connected, $0.requestBegan) = (.zero, .zero, .zero)
                        $0.firstByte = .milliseconds(20)
                    }, isStreamed: true)
            ), (50, ended(.dropped)))
        #expect(text(timeline) == ["0 preparing 0.0-1.0", "1 wait 1.0-21.0", "1 receive 21.0-50.0"])
    }

    @Test("The streamed body of an attempt ends with the next one")
    func streamedAttempts() throws {
        let first = head({ $0.firstByte = .milliseconds(4) }, isStreamed: true)
        let second = head { ($0.firstByte, $0.finished) = (.milliseconds(3), .milliseconds(6)) }
        let timeline = timeline(
            (0, .began(.init(.url(nil), redaction: Shared(Redaction()), environment: nil))),
            (0, .prepared(try request())),
            (0, .sent(try request())),
            (5, first), (9, .sent(try request())), (15, second), (16, ended()))
        #expect(
            text(timeline) == [
                "0 preparing 0.0-0.0", "1 wait 0.0-4.0", "1 receive 4.0-9.0", "2 wait 9.0-12.0",
                "2 receive 12.0-15.0",
            ])
    }

    @Test("A failed attempt and the pause after it, and a call that fails before it is prepared")
    func failures() throws {
        let failure = RequestFailure(.connection, "Refused.")
        let retried = timeline(
            (0, .began(.init(.url(nil), redaction: Shared(Redaction()), environment: nil))),
            (0, .prepared(try request())),
            (0, .sent(try request())),
            (5, .attemptFailed(failure)),
            (5, .retrying(.init(failure: failure, attempt: 1, wait: .milliseconds(9), budget: nil))),
            (15, .sent(try request())), (20, .attemptFailed(failure)), (20, ended(.failed(failure))))
        #expect(
            text(retried) == [
                "0 preparing 0.0-0.0", "1 attempt 0.0-5.0", "1 pause 5.0-15.0", "2 attempt 15.0-20.0",
            ])
        let refused = timeline(
            (0, .began(.init(.url(nil), redaction: Shared(Redaction()), environment: nil))),
            (3, ended(.failed(failure))))
        #expect(text(refused) == ["0 preparing 0.0-3.0"])
    }

    @Test("A timeline keeps a limited number of events and the end, and a recorder a limited number of timelines")
    func limits() throws {
        var timeline = RequestTimeline()
        let call = RequestCall(RequestID(service: 1, number: 1), .get, Shared(Redaction()), began: began)
        for _ in 0..<1_500 { timeline.add(RequestEvent(call: call, attempt: 0, time: began, kind: .joined)) }
        timeline.add(RequestEvent(call: call, attempt: 0, time: began, kind: ended()))
        #expect(timeline.events.count == 1_001 && timeline.droppedEvents == 500 && timeline.isComplete)
        let timelines = RequestTimelines(limit: 2)
        for number in 1...5 {
            let call = RequestCall(
                RequestID(service: 1, number: UInt64(number)), .get, Shared(Redaction()), began: began)
            let beginning = RequestEvent.Beginning(.url(nil), redaction: Shared(Redaction()), environment: nil)
            timelines.observe(RequestEvent(call: call, attempt: 0, time: began, kind: .began(beginning)))
            if number < 5 {
                timelines.observe(RequestEvent(call: call, attempt: 0, time: began, kind: ended()))
            }
        }
        #expect(timelines.all.compactMap { $0.call?.id.number } == [3, 4])
        #expect(timelines.running.compactMap { $0.call?.id.number } == [5])
    }
}
