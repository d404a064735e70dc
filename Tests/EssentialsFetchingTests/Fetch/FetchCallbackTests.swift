import Dispatch
import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@Suite(.timeLimit(.minutes(5))) struct FetchCallbackTests {
    /// The calls that handlers have received, in order.
    private final class Events: Sendable {
        private let list = Mutex<[String]>([])
        let end = Latch()
        var all: [String] { list.withLock { $0 } }

        func add(_ event: String) { list.withLock { $0.append(event) } }
    }

    private func start(_ fixture: FetchFixture, _ events: Events, autoResume: Bool = true) -> CancellableToken {
        fixture.service.get("coins", as: Coin.self).start(autoResume: autoResume) { emission in
            events.add("\(emission.source) \(emission.value.name)")
        } completion: { result in
            switch result {
            case .success: events.add("end")
            case .failure(let failure): events.add(failure.reason.name)
            }
            events.end.open()
        }
    }

    @Test("Handlers receive the values in order and then the end")
    func order() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        fixture.preset("old")
        let events = Events()
        let token = start(fixture, events)
        await events.end.wait()
        #expect(events.all == ["cache old", "backend new", "end"])
        #expect(token.isFinished)
    }

    @Test("Handlers run on the queue that is given, or on that of the data-request service")
    func queue() async throws {
        let key = DispatchSpecificKey<String>()
        let own = DispatchQueue(label: "own")
        own.setSpecific(key: key, value: "own")
        let fixture = try FetchFixture { $0.callbackQueue.setSpecific(key: key, value: "service") }
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        for (queue, name) in [(own, "own"), (nil, "service")] as [(DispatchQueue?, String)] {
            let events = Events()
            fixture.service.get("coins", as: Coin.self).start(completionQueue: queue) { _ in
                events.add(DispatchQueue.getSpecific(key: key) ?? "none")
            } completion: { _ in
                events.add(DispatchQueue.getSpecific(key: key) ?? "none")
                events.end.open()
            }
            await events.end.wait()
            #expect(Set(events.all) == [name])
        }
    }

    @Test("A failure comes after the values that came before it")
    func failure() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").fail(.connection)
        fixture.preset("old")
        let events = Events()
        _ = start(fixture, events)
        await events.end.wait()
        #expect(events.all == ["cache old", "connection"])
    }

    @Test("A cancelled token ends the request, and its handler receives cancelled")
    func cancelled() async throws {
        let fixture = try FetchFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/coins").answer { _ in
            await latch.wait()
            return ScriptedAnswer()
        }
        let events = Events()
        let token = start(fixture, events)
        _ = try await fixture.transport.request(number: 1)
        token.cancel()
        await events.end.wait()
        #expect(events.all == ["cancelled"])
        await eventually { fixture.requests.requestsInFlight == 0 }
    }

    @Test("A fetch that waits for its token sends nothing before it is resumed")
    func suspended() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        let events = Events()
        let token = start(fixture, events, autoResume: false)
        #expect(token.state == .suspended)
        #expect(fixture.transport.requestCount == 0)
        token.resume()
        await events.end.wait()
        #expect(events.all == ["backend new", "end"])
    }
}
