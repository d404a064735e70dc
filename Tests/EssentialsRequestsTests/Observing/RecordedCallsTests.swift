import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Calls that are recorded")
struct RecordedCallsTests {
    private func event(_ number: UInt64, _ kind: RequestEvent.Kind) -> RequestEvent {
        let call = RequestCall(RequestID(service: 1, number: number), .get, Shared(Redaction()))
        return RequestEvent(call: call, attempt: 1, time: .now, kind: kind)
    }

    private var beginning: RequestEvent.Kind {
        .began(RequestEvent.Beginning(.url(nil), redaction: Shared(Redaction()), environment: nil))
    }
    private var ending: RequestEvent.Kind {
        .ended(RequestEvent.Ending(outcome: .completed, bytesRead: nil, metrics: nil, progress: nil))
    }
    private func body(_ size: Int) -> RequestEvent.Kind {
        .body(RequestEvent.Body(isOfResponse: true, bytes: Data(count: size), isTruncated: false))
    }

    @Test("Calls that run take at most half of the memory, so that those that have ended stay")
    func memory() {
        let calls = RecordedCalls(limit: 100, of: .calls, memory: 100_000)
        for number in 1...20 {
            for kind in [beginning, body(1_000), ending] { calls.observe(event(UInt64(number), kind)) }
        }
        #expect(calls.ended.count == 20)
        for number in 100...200 { for kind in [beginning, body(1_000)] { calls.observe(event(UInt64(number), kind)) } }
        #expect(calls.ended.count == 20)
        #expect(calls.changes(since: 0).comment?.contains("parts of running exchanges were dropped") == true)
        // Their ends are recorded, and then the oldest calls make room.
        for number in 100...200 { calls.observe(event(UInt64(number), ending)) }
        #expect(calls.running.isEmpty && calls.ended.count > 20)
    }

    @Test("What happens to a call whose beginning was not recorded is not recorded either")
    func beginnings() {
        let calls = RecordedCalls(limit: 100, of: .calls)
        calls.observe(event(1, body(1)))
        calls.observe(event(1, ending))
        #expect(calls.running.isEmpty && calls.ended.isEmpty)
    }

    @Test("A recorder is released with its calls, although their services may keep the observers")
    func release() {
        let observer: RecordedCall
        weak var released: RecordedCalls?
        do {
            let calls = RecordedCalls(limit: 100, of: .calls)
            released = calls
            observer = calls.observer(of: event(1, beginning).call)
            for kind in [beginning, body(1), ending] { observer.observe(event(1, kind)) }
            #expect(calls.ended.count == 1)
        }
        #expect(released == nil)
        observer.observe(event(1, body(1)))
    }

    @Test("An observer of a call forgets its events when the recorder drops the call")
    func forgetting() {
        let calls = RecordedCalls(limit: 1, of: .calls)
        var observers: [RecordedCall] = []
        weak var first: Shared<Redaction>?
        for number in 1...2 {
            let redaction = Shared(Redaction())
            if number == 1 { first = redaction }
            let call = RequestCall(RequestID(service: 1, number: UInt64(number)), .get, redaction)
            observers.append(calls.observer(of: call))
            for kind in [beginning, ending] {
                observers[number - 1].observe(RequestEvent(call: call, attempt: 1, time: .now, kind: kind))
            }
            #expect((first == nil) == (number == 2))
        }
        #expect(calls.ended.map { $0.call?.id.number } == [2])
        withExtendedLifetime(observers) {}
    }

    @Test("A call that begins or ends twice is recorded once, and nothing is counted twice")
    func twice() {
        let calls = RecordedCalls(limit: 10, of: .calls, memory: 20_000)
        for number in 1...200 as ClosedRange<UInt64> {
            let (one, two) = (
                calls.observer(of: event(number, beginning).call), calls.observer(of: event(number, beginning).call)
            )
            for observer in [one, two] { observer.observe(event(number, beginning)) }
            for kind in [body(10), ending, ending, body(10)] {
                for observer in [one, two] { observer.observe(event(number, kind)) }
            }
        }
        #expect(calls.running.isEmpty && calls.ended.count == 10)
        #expect(calls.ended.map(\.events.count) == Array(repeating: 3, count: 10))
        // There is still room for a call that runs.
        for kind in [beginning, body(5_000)] { calls.observe(event(999, kind)) }
        #expect(calls.running.map(\.events.count) == [2])
        #expect(calls.changes(since: 0).comment == "190 earlier exchanges were dropped.")
    }

    @Test("Random events of many calls are kept as a slow model keeps them")
    func model() {
        var numbers = SeededNumbers(state: 11)
        for _ in 0..<30 {
            let limit = Int.random(in: 1...6, using: &numbers)
            let calls = RecordedCalls(limit: limit, of: .calls)
            var running: [UInt64: Int] = [:]
            var ended: [(events: Int, new: Int)] = []
            var seen: UInt64 = 0
            var expected: [UInt64: Int] = [:]
            for _ in 0..<300 {
                let number = UInt64.random(in: 1...40, using: &numbers)
                let kind = running[number] == nil ? beginning : Bool.random(using: &numbers) ? body(1) : ending
                calls.observe(event(number, kind))
                running[number, default: 0] += 1
                expected[number, default: 0] += 1
                if case .ended = kind {
                    ended.append((running.removeValue(forKey: number) ?? 0, expected.removeValue(forKey: number) ?? 0))
                    ended = ended.suffix(limit)
                }
                if Int.random(in: 0..<10, using: &numbers) == 0 {
                    // The events since the last look, each once.
                    let changes = calls.changes(since: seen)
                    let new = changes.calls.filter { !$0.timeline.isComplete }.flatMap(\.new)
                    #expect(Dictionary(grouping: new) { $0.call.id.number }.mapValues(\.count) == expected)
                    let counts = changes.calls.filter(\.timeline.isComplete).map(\.new.count)
                    #expect(counts == ended.map(\.new).filter { $0 > 0 })
                    for index in ended.indices { ended[index].new = 0 }
                    (seen, expected) = (changes.look, [:])
                }
            }
            #expect(calls.ended.map { $0.events.count } == ended.map(\.events))
            #expect(calls.running.map { $0.events.count }.sorted() == running.values.sorted())
        }
    }
}
