import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import Logging
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Events of many calls", .timeLimit(.minutes(5)))
struct ObservedCallTests {
    /// Checks the order of the events of each call, also while another thread tells one.
    private final class Order: RequestObserver {
        private struct State {
            var last: [RequestID: (elapsed: Duration, attempt: Int, isTelling: Bool)] = [:]
            var ended: Set<RequestID> = []
            var faults: [String] = []
        }

        private let state = Mutex(State())

        var faults: [String] { state.withLock { $0.faults } }
        var ended: Int { state.withLock { $0.ended.count } }

        func observe(_ event: RequestEvent) {
            let id = event.call.id
            state.withLock { state in
                if state.ended.contains(id) { state.faults.append("after the end: \(event)") }
                switch (event.kind, state.last[id]) {
                case (.began, nil): break
                case (.began, _?), (_, nil): state.faults.append("not begun once: \(event)")
                case (_, let last?):
                    if last.isTelling { state.faults.append("at the same time: \(event)") }
                    if last.elapsed > event.elapsed || last.attempt > event.attempt {
                        state.faults.append("before the former one: \(event)")
                    }
                }
                state.last[id] = (event.elapsed, event.attempt, true)
            }
            state.withLock { state in
                state.last[id]?.isTelling = false
                if case .ended = event.kind {
                    state.ended.insert(id)
                    state.last[id] = nil
                }
            }
        }
    }

    @Test("Of 10,000 requests at once, each has its events in order, one beginning and one end")
    func many() async throws {
        let order = Order()
        let observed = try ObservedService { request in
            let number = Int(request.url.path.dropFirst()) ?? 0
            await Task.yield()
            switch number % 5 {
            case 0: return .status(.found, [.location: "/1"])
            case 1: return .status(.ok)
            case 2: return .status(.serviceUnavailable)
            case 3: return CacheOrigin.Reply(stream: PiecesSource(["abc"]))
            default: return CacheOrigin.Reply(failure: RequestFailure(.connection, "Refused."))
            }
        } _: {
            $0.observers = [order]
            $0.joins = true
            $0.cache = ResponseCache()
        }
        let total = Rounds.atOnce(10_000)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<total {
                group.addTask {
                    let task = Task {
                        var request = DataRequest(.get, "\(number % 97)")
                        if number % 5 == 3 { request.options.delivery = .streamed }
                        guard let response = try? await observed.service.send(request) else { return }
                        if number % 2 == 0 { _ = try? await response.body.collect(upTo: 10) }
                    }
                    if number % 7 == 0 { task.cancel() }
                    await task.value
                }
            }
        }
        await until { order.ended == total }
        #expect(order.faults == [])
    }

    @Test("What an observer causes is told after the present event, and nothing after the end")
    func reentrant() async throws {
        final class Cancelling: RequestObserver {
            let cancellation = Cancellation()
            let seen = Mutex<[String]>([])
            let call = Mutex<ObservedCall?>(nil)

            func observe(_ event: RequestEvent) {
                seen.withLock { $0.append("\(event)") }
                guard case .joined = event.kind else { return }
                let call = call.withLock { $0 }
                call?.tell(.cookiesLeftOut(1))
                call?.end(.completed)
                call?.tell(.cookiesLeftOut(2))
                seen.withLock { $0.append("returns") }
            }
        }
        let observer = Cancelling()
        let call = ObservedCall(
            RequestCall(RequestID(service: 1, number: 1), .get, Shared(Redaction()), began: .now),
            nil, [observer])
        observer.call.withLock { $0 = call }
        call.tell(.joined)
        call.end(.dropped)
        #expect(
            observer.seen.withLock { $0 } == [
                "joined an equal request", "returns", "cookies left out: 1", "ended: completed",
            ])
    }

    @Test("What happens to a shared exchange after its first call has ended stands only in the log of that call")
    func late() {
        let (lines, timelines) = (LogLines(), RequestTimelines())
        let call = ObservedCall(
            RequestCall(RequestID(service: 1, number: 7), .get, Shared(Redaction())),
            RequestLog(lines.logger(.debug), writesCommands: false), [timelines])
        call.tell(.began(.init(.url(nil), redaction: Shared(Redaction()), environment: nil)))
        call.tellAlsoLate(.cookiesLeftOut(1))
        call.end(.completed)
        call.tellAlsoLate(.cookiesLeftOut(2))
        call.tell(.joined)
        #expect(lines.messages == ["cookies left out", "cookies left out"])
        #expect(lines.all.map { $0.metadata["cookies"] } == ["1", "2"])
        #expect(lines.all.allSatisfy { $0.metadata["request-id"] == "1-7" })
        let events = timelines.all.map { $0.events.dropFirst().map(\.description) }
        #expect(events == [["cookies left out: 1", "ended: completed"]])
        #expect(timelines.running.isEmpty)
    }

    @Test("The log is told first, and without it and observers nothing is made")
    func listeners() throws {
        let settings = ServiceSettings(HTTPDataRequestService.Configuration())
        let id = RequestID(service: 1, number: 1)
        #expect(!RequestReporter(settings, id, .get, isBackground: false).isOn)
        var configuration = HTTPDataRequestService.Configuration()
        let lines = LogLines()
        configuration.logger = lines.logger(.info)
        #expect(!RequestReporter(ServiceSettings(configuration), id, .get, isBackground: false).isOn)
        configuration.logger.logLevel = .debug
        #expect(RequestReporter(ServiceSettings(configuration), id, .get, isBackground: false).isOn)
        configuration.logger.logLevel = .info
        configuration.observers = [RequestTimelines()]
        #expect(RequestReporter(ServiceSettings(configuration), id, .get, isBackground: false).isOn)
    }
}
