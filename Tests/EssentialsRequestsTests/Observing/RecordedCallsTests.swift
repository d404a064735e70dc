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
