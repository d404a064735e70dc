import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Responses that are retried, and those that are not", .timeLimit(.minutes(5)))
struct RetriedResponseTests {
    // MARK: Expected statuses

    @Test(
        "A status that the request declares as expected is not retried",
        arguments: [
            ([200...299, 503...503], 1), (503, 1), (.codes([200, 503]), 1), (.matching { $0 < 600 }, 1),
            (StatusExpectation.any.union(503), 3), (.any, 3), (.success, 3), ([200...299, 404...404], 3),
        ] as [(StatusExpectation, Int)])
    func expected(expectation: StatusExpectation, attempts: Int) async throws {
        let fixture = try RetryFixture([.status(503)])
        let (result, waited) = await fixture.send(DataRequest(.get, "a", expecting: expectation))
        #expect(fixture.attempts == attempts)
        #expect((waited > .zero) == (attempts > 1))
        #expect((result.success?.status.code ?? result.failure?.status?.code) == 503)
        #expect((result.success != nil) == expectation.contains(503))
    }

    @Test("An expected status is not shown to the closure of a policy, and counts as a success for the budget")
    func decided() async throws {
        let calls = Mutex(0)
        let policy = RetryPolicy.attempts(2).deciding { _ in
            calls.withLock { $0 += 1 }
            return .retry
        }
        let fixture = try RetryFixture([.status(503)], retry: policy) {
            $0.retryBudget.initial = 0
            $0.retryBudget.depositPerExchange = 1
            $0.retryBudget.reservePerSecond = 0
        }
        let response = try await fixture.send(DataRequest(.get, "a", expecting: 503)).result.get()
        #expect((response.status.code, response.attempts, calls.withLock { $0 }) == (503, 1, 0))
        // One unit was deposited.
        #expect(await fixture.send().result.failure?.attempt == 2)
        #expect(calls.withLock { $0 } == 2)
    }

    // MARK: Bodies during the wait for the budget

    /// A service with an empty budget, whose first response is a 503 with this streamed body.
    private func fixture(
        _ body: HeldBody, _ clock: RequestClock
    ) throws -> (service: HTTPDataRequestService, transport: StubTransport) {
        let bodies = Mutex([body])
        let transport = StubTransport { _ throws(RequestFailure) in
            guard let body = bodies.withLock({ $0.popLast() }) else {
                return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
            }
            return TransportResponse(HTTPResponse(status: .serviceUnavailable), body: ResponseBody(source: body))
        }
        let fixture = try ServiceFixture(transport) {
            $0.clock = clock
            $0.retry = .forever
            $0.retryBudget.initial = 0
            $0.limits.concurrency = 1
        }
        return (fixture.service, transport)
    }

    /// Moves the clock to the end of each wait until the task is cancelled.
    private func advancing(_ clock: ManualClock) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                await clock.waitForSleepers(count: 1)
                clock.advanceToNextDeadline()
            }
        }
    }

    @Test("A refused response holds neither its connection nor a permit while the request waits for the budget")
    func releasedBeforeTheWait() async throws {
        for body in [HeldBody(["a", "b"]), HeldBody(["a"], isEndless: true)] {
            let clock = ManualClock()
            let (service, transport) = try fixture(body, clock.requestClock)
            let request = Task { try await service.send(DataRequest(.get, "a")) }
            await clock.waitForSleepers(count: 1)
            if body.isEndless {
                #expect(!body.isReleased)
                clock.advance(by: .seconds(1))
            }
            await until { body.isReleased }
            await until { service.limits?.state(of: service.currentEnvironment.baseURL.origin).permitsInUse == 0 }
            #expect(transport.requests.count == 1)
            let advancing = advancing(clock)
            #expect(try await request.value.status == .ok)
            advancing.cancel()
            await advancing.value
        }
    }

    @Test("A request that waits for the budget in vain gets the refused response with its body")
    func inVain() async throws {
        let clock = ManualClock()
        let served = Mutex<HTTPDataRequestService?>(nil)
        // Others take the units of the reserve as soon as a wait ends.
        let contended = ContendedClock(clock: clock) {
            guard let service = served.withLock({ $0 }) else { return }
            let origin = service.currentEnvironment.baseURL.origin
            while case (.granted, _) = service.chain.attempts.budgets.withdraw(for: origin) {}
        }
        let (service, transport) = try fixture(
            HeldBody(["first ", "second"]), RequestClock(contended, randomBits: { 0 }))
        served.withLock { $0 = service }
        var request = DataRequest(.get, "a", expecting: .any)
        request.options.totalTimeout = .seconds(4)
        let advancing = advancing(clock)
        let response = try await service.send(request)
        advancing.cancel()
        await advancing.value
        served.withLock { $0 = nil }
        #expect(clock.now == ManualClock().now.advanced(by: .seconds(3)))
        #expect(response.status == .serviceUnavailable)
        #expect(try await response.body.collect(upTo: 100) == Data("first second".utf8))
        #expect(transport.requests.count == 1)
    }
}

/// A clock that does something at the end of each sleep.
private struct ContendedClock: Clock {
    let clock: ManualClock
    let wakeUp: @Sendable () -> Void

    var now: ManualClock.Instant { clock.now }
    var minimumResolution: Duration { clock.minimumResolution }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try await clock.sleep(until: deadline, tolerance: tolerance)
        wakeUp()
    }
}

/// A streamed body that says when it no longer needs its connection.
private final class HeldBody: ResponseBody.Source {
    private struct State {
        var chunks: [String]
        var isReleased = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    let isEndless: Bool
    private let state: Mutex<State>

    init(_ chunks: [String], isEndless: Bool = false) {
        self.isEndless = isEndless
        state = Mutex(State(chunks: chunks.reversed()))
    }

    var isReleased: Bool { state.withLock { $0.isReleased } }
    var ending: ResponseEnding? { nil }

    func next() async throws(RequestFailure) -> BodyChunk? {
        if let chunk = state.withLock({ $0.chunks.popLast() }) { return BodyChunk(Data(chunk.utf8)) }
        if isEndless {
            await withCheckedContinuation { continuation in
                let isReleased = state.withLock { state in
                    if !state.isReleased { state.waiting = continuation }
                    return state.isReleased
                }
                if isReleased { continuation.resume() }
            }
        }
        release()
        return nil
    }

    func cancel() { release() }
    func abandon() { release() }

    private func release() {
        let waiting = state.withLock { state in
            state.isReleased = true
            return state.waiting.take()
        }
        waiting?.resume()
    }
}
