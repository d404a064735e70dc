#if OpenCombine
    import EssentialsHTTP
    import EssentialsRequests
    import EssentialsFetching
    import EssentialsResources
    import EssentialsTestKit
    @preconcurrency import OpenCombine
    import EssentialsTools
    import Testing

    @testable import EssentialsPublishers

    @Suite("Publishers", .timeLimit(.minutes(5)))
    struct PublisherTests {
        /// A service over a scripted transport.
        private struct Fixture {
            let transport = ScriptedTransport()
            let environment: ConstantEnvironment
            let requests: HTTPDataRequestService

            init() throws {
                environment = try ConstantEnvironment("https://h/v1/")
                requests = HTTPDataRequestService(environment: environment, transport: transport)
            }
        }

        /// A subscriber that records its signals, and demands values when it is told to.
        private final class Probe<Input: Sendable, Failure: Error>: Subscriber, Sendable {
            struct State {
                var subscription: (any Subscription)?
                var values: [Input] = []
                var completion: Subscribers.Completion<Failure>?
                var perValue = Subscribers.Demand.none
            }

            // `Sendable`: all state is behind the mutex.
            let state = Mutex(State())

            init(perValue: Subscribers.Demand = .none) { state.withLock { $0.perValue = perValue } }

            var values: [Input] { state.withLock { $0.values } }
            var hasEnded: Bool { state.withLock { $0.completion != nil } }

            func receive(subscription: any Subscription) { state.withLock { $0.subscription = subscription } }

            func receive(_ input: Input) -> Subscribers.Demand {
                state.withLock { state in
                    state.values.append(input)
                    return state.perValue
                }
            }

            func receive(completion: Subscribers.Completion<Failure>) { state.withLock { $0.completion = completion } }

            func request(_ demand: Subscribers.Demand) { state.withLock { $0.subscription }?.request(demand) }
            func cancel() { state.withLock { $0.subscription }?.cancel() }

            func wait(until isTrue: (Probe) -> Bool) async { while !isTrue(self) { await Task.yield() } }
        }

        @Test("Each subscription sends one request of its own, when its first value is demanded")
        func cold() async throws {
            let fixture = try Fixture()
            fixture.transport.on(.get, "/v1/a").answer(json: 1).thenAnswer(json: 2)
            let publisher = fixture.requests.publisher(for: DataRequest(.get, "a"), as: Int.self)
            let probes = [Probe<Int, RequestFailure>(), Probe<Int, RequestFailure>()]
            for (number, probe) in probes.enumerated() {
                publisher.subscribe(probe)
                probe.request(.none)
                #expect(fixture.transport.requestCount == number)
                probe.request(.max(1))
                probe.request(.max(1))
                await probe.wait { $0.hasEnded }
                #expect(probe.values == [number + 1])
                #expect(fixture.transport.requestCount == number + 1)
            }
        }

        @Test("A failure ends the subscription, and operators work as with every publisher")
        func failure() async throws {
            let fixture = try Fixture()
            fixture.transport.on(.get, "/v1/a").answer(.notFound)
            let publisher = fixture.requests.publisher(for: DataRequest(.get, "a"))
            let probe = Probe<Int, Never>(perValue: .unlimited)
            publisher.map { $0.status.code }.catch { Just($0.status?.code ?? 0) }.subscribe(probe)
            probe.request(.unlimited)
            await probe.wait { $0.hasEnded }
            #expect(probe.values == [404])
        }

        @Test("A definition is published as what its type says")
        func definitions() async throws {
            let fixture = try Fixture()
            fixture.transport.on(.get, "/v1/a").answer(json: 1)
            fixture.transport.on(.delete, "/v1/a").answer(.noContent)
            let number = fixture.requests.publisher(for: APIRequest<Int>(.get, "a"))
            let values = Probe<Int, RequestFailure>(perValue: .unlimited)
            number.subscribe(values)
            values.request(.unlimited)
            await values.wait { $0.hasEnded }
            #expect(values.values == [1])
            let deletion = fixture.requests.publisher(for: APIRequest(.delete, "a"))
            let ends = Probe<Int, RequestFailure>(perValue: .unlimited)
            deletion.map { _ in 0 }.subscribe(ends)
            ends.request(.unlimited)
            await ends.wait { $0.hasEnded }
            #expect(ends.values == [0])
            let whole: RequestPublisher<DataResponse> = fixture.requests.publisher(
                for: APIRequest<DataResponse>(.get, "a"))
            let codes = Probe<Int, RequestFailure>(perValue: .unlimited)
            whole.map { $0.status.code }.subscribe(codes)
            codes.request(.unlimited)
            await codes.wait { $0.hasEnded }
            #expect(codes.values == [200])
        }

        @Test("Cancelling a subscription cancels its request, and nothing is published")
        func cancelled() async throws {
            let fixture = try Fixture()
            fixture.transport.on(.get, "/v1/a").answer(json: 1, after: .seconds(1_000))
            let probe = Probe<Int, RequestFailure>()
            fixture.requests.publisher(for: DataRequest(.get, "a"), as: Int.self).subscribe(probe)
            probe.request(.unlimited)
            await fixture.transport.clock.waitForSleepers(count: 1)
            probe.cancel()
            while fixture.transport.clock.sleeperCount > 0 { await Task.yield() }
            #expect(probe.values == [] && !probe.hasEnded)
            // One that is cancelled before it demands anything sends nothing.
            let early = Probe<Int, RequestFailure>()
            fixture.requests.publisher(for: DataRequest(.get, "a"), as: Int.self).subscribe(early)
            early.cancel()
            early.request(.unlimited)
            #expect(fixture.transport.requestCount == 1)
        }

        @Test("States of a resource are published one for each demand, and the newest one after a pause")
        func states() async throws {
            let fixture = try Fixture()
            fixture.transport.on(.get, "/v1/a").answer(json: 1).thenAnswer(json: 2).thenAnswer(json: 3)
            let service = try HTTPResourceService(requests: fixture.requests, environment: fixture.environment)
            let resource: Resource<Int> = service.resource("a")
            let probe = Probe<Int?, Never>()
            resource.statesPublisher().map(\.content).subscribe(probe)
            try await resource.load()
            #expect(probe.values == [])
            probe.request(.max(1))
            await probe.wait { $0.values.count == 1 }
            #expect(probe.values == [1])
            for _ in 0..<2 { try await resource.load() }
            #expect(probe.values == [1])
            probe.request(.max(1))
            await probe.wait { $0.values.count == 2 }
            #expect(probe.values == [1, 3])
            probe.cancel()
            probe.request(.unlimited)
            try await resource.load()
            #expect(probe.values == [1, 3])
        }

        @Test(
            "A subscription loads the resource if it is told to"
        )
        func loading() async throws {
            let fixture = try Fixture()
            fixture.transport.on(.get, "/v1/a").answer(json: 1)
            let service = try HTTPResourceService(requests: fixture.requests, environment: fixture.environment)
            let resource: Resource<Int> = service.resource("a")
            let seen = Mutex<[Int]>([])
            let subscription = resource.statesPublisher(loading: .ifNeeded).compactMap(\.content).sink { value in
                seen.withLock { $0.append(value) }
            }
            while seen.withLock({ $0.isEmpty }) { await Task.yield() }
            #expect(fixture.transport.requestCount == 1)
            subscription.cancel()
        }

        private struct CountService: FetchingService, ModelCaching {
            let requests: any DataRequestService
            let cache: any AsyncCache
        }

        @Test("Values of a fetch are published one for each demand, with their source, and each subscription fetches")
        func emissions() async throws {
            let fixture = try Fixture()
            fixture.transport.on(.get, "/v1/a").answer(json: 1).thenAnswer(json: 2)
                .thenAnswer(.notFound)
            let service = CountService(requests: fixture.requests, cache: ModelCache())
            let publisher = service.get("a", as: Int.self).publisher
            #expect(fixture.transport.requestCount == 0)
            for (number, expected) in ["backend 1", "cache 1, backend 2", "cache 2"].enumerated() {
                let probe = Probe<String, RequestFailure>()
                publisher.map { "\($0.source) \($0.value)" }.subscribe(probe)
                probe.request(.max(1))
                await probe.wait { $0.values.count == 1 }
                probe.request(.unlimited)
                await probe.wait { $0.hasEnded }
                #expect(probe.values.joined(separator: ", ") == expected)
                #expect(fixture.transport.requestCount == number + 1)
                let failure = probe.state.withLock { state -> RequestFailure? in
                    if case .failure(let failure) = state.completion { failure } else { nil }
                }
                #expect(failure?.reason == (number == 2 ? .status : nil))
            }
        }

        @Test("Cancelling the subscription of a fetch cancels its request, and nothing more is published")
        func cancelledEmissions() async throws {
            let fixture = try Fixture()
            fixture.transport.on(.get, "/v1/a").answer(json: 1, after: .seconds(1_000))
            let cache = ModelCache()
            let service = CountService(requests: fixture.requests, cache: cache)
            let probe = Probe<Emission<Int>, RequestFailure>()
            service.get("a", as: Int.self).publisher.subscribe(probe)
            probe.request(.unlimited)
            await fixture.transport.clock.waitForSleepers(count: 1)
            probe.cancel()
            while fixture.transport.clock.sleeperCount > 0 { await Task.yield() }
            #expect(probe.values == [] && !probe.hasEnded)
            #expect(cache.count == 0)
        }

        @Test("The end and the failure of a sequence are published, each after its values")
        func sequences() async throws {
            for fails in [false, true] {
                let stream = AsyncThrowingStream<Int, any Error> { continuation in
                    for value in 1...3 { continuation.yield(value) }
                    continuation.finish(throwing: fails ? RequestFailure(.timeout, "") : nil)
                }
                let probe = Probe<Int, any Error>(perValue: .max(1))
                SequencePublisher(stream).subscribe(probe)
                probe.request(.max(1))
                await probe.wait { $0.hasEnded }
                #expect(probe.values == [1, 2, 3])
                let isFailure = probe.state.withLock { state in
                    if case .failure = state.completion { true } else { false }
                }
                #expect(isFailure == fails)
            }
        }

        @Test("Demand adds up, without an overflow, and each value takes one")
        func demand() {
            var demand = DemandCounter()
            let none = demand.take()
            #expect(!none)
            demand.add(2)
            demand.add(-5)
            let taken = (0..<3).map { _ in demand.take() }
            #expect(taken == [true, true, false])
            demand.add(Int.max - 1)
            demand.add(Int.max)
            #expect(demand.remaining == .max)
            demand.add(nil)
            let always = demand.take()
            #expect(always && demand.remaining == .max)
        }
    }
#endif
