import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Limits in the chain", .timeLimit(.minutes(5)))
struct GateStageTests {
    private static func concurrency(_ count: Int) -> ChainFixture {
        ChainFixture { $0.limits = OriginLimits(concurrency: count) }
    }

    @Test("A service without limits has no counts")
    func off() throws {
        #expect(try ServiceFixture().service.limits == nil)
        #expect(try ServiceFixture { $0.limits.concurrency = 1 }.service.limits?.settings.concurrency == 1)
    }

    @Test("No more requests than the concurrency are sent at once, and each waiting one is sent when another ends")
    func concurrency() async throws {
        let fixture = Self.concurrency(2)
        fixture.transport.on(.get, "/a").answer(after: .seconds(1))
        let requests = (0..<5).map { _ in fixture.begin() }
        try await until { try fixture.state.waiting == 3 }
        await until { fixture.transport.requestCount == 2 }
        #expect(try fixture.state == OriginLimits.State(permitsInUse: 2, waiting: 3))
        // Two for the delays of the script, and three for the timeouts of the waits.
        await fixture.clock.waitForSleepers(count: 5)
        fixture.clock.advance(by: .seconds(1))
        await until { fixture.transport.requestCount == 4 }
        await fixture.clock.waitForSleepers(count: 3)
        fixture.clock.advance(by: .seconds(1))
        await until { fixture.transport.requestCount == 5 }
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1))
        for request in requests { #expect(await request.value.failure == nil) }
        #expect(try fixture.state == OriginLimits.State())
        #expect(fixture.clock.sleeperCount == 0)
    }

    @Test("Waiting requests are sent by priority, and equal ones in order of arrival")
    func priorities() async throws {
        let fixture = Self.concurrency(1)
        fixture.transport.on(.get, "/**").answer(after: .seconds(1))
        var requests = [fixture.begin("/first")]
        try await until { try fixture.state.permitsInUse == 1 }
        let priorities: [RequestPriority] = [.background, .normal, .interactive, .normal]
        for (index, priority) in priorities.enumerated() {
            requests.append(fixture.begin("/\(index)") { $0.options.priority = priority })
            try await until { try fixture.state.waiting == index + 1 }
        }
        for sent in 1...5 {
            await until { fixture.transport.requestCount == sent }
            await fixture.clock.waitForSleepers(count: 6 - sent)
            fixture.clock.advance(by: .seconds(1))
        }
        for request in requests { _ = await request.value }
        #expect(fixture.transport.requests.map { String($0.url.path) } == ["/first", "/2", "/1", "/3", "/0"])
    }

    @Test("A request that waits for its limits is sent earlier if its priority is raised")
    func raised() async throws {
        let fixture = Self.concurrency(1)
        fixture.transport.on(.get, "/**").answer(after: .seconds(1))
        let priorities = (0..<4).map { _ in RaisablePriority() }
        var requests: [Task<Result<DataResponse, RequestFailure>, Never>] = []
        for (index, priority) in priorities.enumerated() {
            requests.append(fixture.begin("/\(index)") { $0.raisablePriority = priority })
            try await until { try fixture.state.waiting == index }
            try await until { try fixture.state.permitsInUse == 1 }
        }
        await fixture.clock.waitForSleepers(count: 4)
        await until { priorities.dropFirst().allSatisfy { $0.handlerCount == 1 } }
        priorities[0].raise(to: .interactive)
        priorities[3].raise(to: .high)
        #expect(try fixture.state.waiting == 3)
        for sent in 1...4 {
            await until { fixture.transport.requestCount == sent }
            await fixture.clock.waitForSleepers(count: 5 - sent)
            fixture.clock.advance(by: .seconds(1))
        }
        for request in requests { #expect(await request.value.failure == nil) }
        #expect(fixture.transport.requests.map { String($0.url.path) } == ["/0", "/3", "/1", "/2"])
        #expect(priorities.allSatisfy { $0.handlerCount == 0 })
        // After the wait nothing is moved, although the lane can belong to another origin then.
        for priority in priorities { priority.raise(to: .interactive) }
        #expect(try fixture.state == OriginLimits.State())
    }

    @Test("A streamed body has its permit until it was read, cancelled, abandoned or released", arguments: 0..<5)
    func streams(end: Int) async throws {
        let fixture = Self.concurrency(1)
        fixture.transport.on(.get, "/a").answer(pieces: ["one", "two"]).thenAnswer(pieces: [
            "one", .failure(.interrupted),
        ])
        if end == 4 { try await fixture.send() }
        var body: ResponseBody? = try await fixture.send { $0.options.delivery = .streamed }.response.body
        let next = fixture.begin()
        try await until { try fixture.state == OriginLimits.State(permitsInUse: 1, waiting: 1) }
        if case .stream(let source)? = body?.content {
            switch end {
            case 0:
                #expect(try await source.next()?.count == 3)
                #expect(try await source.next()?.count == 3)
                #expect(try fixture.state.permitsInUse == 1)
                #expect(try await source.next() == nil)
                #expect(source.ending != nil)
            case 1: source.cancel()
            case 2: source.abandon()
            case 4: while (try? await source.next()) != nil {}
            default: break
            }
        } else {
            Issue.record("The body is not streamed.")
        }
        body = nil
        _ = await next.value
        #expect(try fixture.state == OriginLimits.State())
    }

    @Test("A cancelled wait ends at once, and leaves neither a waiting request nor a permit", arguments: [true, false])
    func cancelled(byTask: Bool) async throws {
        let fixture = Self.concurrency(1)
        fixture.transport.on(.get, "/a").answer(after: .seconds(1))
        let first = fixture.begin()
        try await until { try fixture.state.permitsInUse == 1 }
        let cancellation = Cancellation()
        let second = fixture.begin(cancellation: cancellation)
        try await until { try fixture.state.waiting == 1 }
        if byTask { second.cancel() } else { cancellation.cancel() }
        let failure = await second.value.failure
        #expect(failure?.reason == .cancelled)
        #expect(failure?.phase == .queue)
        #expect(try fixture.state == OriginLimits.State(permitsInUse: 1))
        // Only the delay of the script is left.
        await until { fixture.clock.sleeperCount == 1 }
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1))
        #expect(await first.value.failure == nil)
        #expect(try fixture.state == OriginLimits.State())
    }

    @Test("A request that was cancelled before it arrived does not wait")
    func cancelledBefore() async throws {
        let fixture = Self.concurrency(1)
        fixture.transport.on(.get, "/a").answer(after: .seconds(1))
        let first = fixture.begin()
        try await until { try fixture.state.permitsInUse == 1 }
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(await fixture.begin(cancellation: cancellation).value.failure?.reason == .cancelled)
        let task = fixture.begin()
        task.cancel()
        #expect(await task.value.failure?.reason == .cancelled)
        #expect(try fixture.state == OriginLimits.State(permitsInUse: 1))
        first.cancel()
        #expect(await first.value.failure?.reason == .cancelled)
        #expect(try fixture.state == OriginLimits.State())
    }

    @Test(
        "A wait ends as a timeout in the queue after the shortest of the limits for it",
        arguments: [
            (60, nil, nil, 60), (60, 5, nil, 5), (3, 5, nil, 3), (60, 60, 2, 2), (nil, 7, nil, 7), (nil, nil, 9, 9),
        ] as [(Int?, Int?, Int?, Int)])
    func timeouts(own: Int?, general: Int?, total: Int?, expected: Int) async throws {
        let fixture = ChainFixture {
            $0.limits.concurrency = 1
            $0.limits.queueTimeout = general.map { .seconds($0) }
        }
        fixture.transport.on(.get, "/a").answer(after: .seconds(1_000))
        let first = fixture.begin { $0.options.idleTimeout = nil }
        try await until { try fixture.state.permitsInUse == 1 }
        let second = fixture.begin { request in
            request.options.queueTimeout = own.map { .seconds($0) }
            request.options.totalTimeout = total.map { .seconds($0) }
        }
        try await until { try fixture.state.waiting == 1 }
        await fixture.clock.waitForSleepers(count: 2)
        fixture.clock.advance(by: .seconds(expected) - .milliseconds(1))
        #expect(try fixture.state.waiting == 1)
        fixture.clock.advance(by: .milliseconds(1))
        let failure = await second.value.failure
        #expect(failure?.reason == .timeout)
        #expect(failure?.phase == .queue)
        #expect(
            failure?.message == "The limits of https://h did not let the request through within \(expected).0 seconds.")
        #expect(try fixture.state == OriginLimits.State(permitsInUse: 1))
        first.cancel()
        _ = await first.value
    }

    /// A clock that runs a closure when it is read for the second time. A minute has passed then.
    private final class JumpingClock: Clock {
        typealias Instant = ManualClock.Instant

        private let reads = Mutex(0)
        private let onSecondRead: @Sendable () -> Void

        init(_ onSecondRead: @escaping @Sendable () -> Void) { self.onSecondRead = onSecondRead }

        var now: Instant {
            let count = reads.withLock { reads in
                reads += 1
                return reads
            }
            if count == 2 { onSecondRead() }
            return Instant(elapsed: count > 1 ? .seconds(60) : .zero)
        }

        var minimumResolution: Duration { .zero }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
    }

    @Test("A request whose time ends at its arrival leaves no permit behind, even if its turn comes at that moment")
    func turnAtDeadline() async throws {
        let limits = RequestLimits(OriginLimits(concurrency: 1, rate: RateLimit(2, per: .seconds(60))), clock: .system)
        var request = TransportRequest(.get, try RequestURL("https://h/a"))
        request.options.totalTimeout = .seconds(1)
        guard case .start(let permit) = limits.arrive(request.url.origin, .normal) else {
            Issue.record("the first request waits")
            return
        }
        let transport = ScriptedTransport()
        let stage = GateStage(next: RemainingStages(TransportStage(transport: transport)))
        let record = ExchangeRecord(
            request,
            ExchangeRules(expectedStatus: .any, redirects: .standard, everywhere: HopRules(nil, limits, nil)),
            id: RequestID(service: 0, number: 1), environment: nil, cancellation: Cancellation())
        // The second read is that of the deadline, after the request has taken its place in the line.
        record.deadline = SharedDeadline(of: request, clock: JumpingClock { limits.leave(permit) })
        do throws(RequestFailure) {
            _ = try await stage.send(request, record)
            Issue.record("the request was sent")
        } catch {
            #expect(error.reason == .timeout)
        }
        #expect(transport.requestCount == 0)
        // The request that was not sent does not count for the rate.
        #expect(limits.state(of: request.url.origin) == OriginLimits.State(rateTokensLeft: 1))
    }

    @Test("After its wait a request has only the rest of its total time")
    func remainingTime() async throws {
        let fixture = Self.concurrency(1)
        fixture.transport.on(.get, "/a").answer(after: .seconds(4)).thenAnswer(after: .seconds(7))
        let first = fixture.begin()
        try await until { try fixture.state.permitsInUse == 1 }
        let second = fixture.begin { $0.options.totalTimeout = .seconds(10) }
        try await until { try fixture.state.waiting == 1 }
        await fixture.clock.waitForSleepers(count: 2)
        fixture.clock.advance(by: .seconds(4))
        #expect(await first.value.failure == nil)
        await until { fixture.transport.requestCount == 2 }
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(6))
        let failure = await second.value.failure
        #expect(failure?.reason == .timeout)
        #expect(failure?.phase == .waiting)
        #expect(try fixture.state == OriginLimits.State())
    }

    @Test("A request fails at once if the line is full")
    func queueFull() async throws {
        let fixture = ChainFixture {
            $0.limits.concurrency = 1
            $0.limits.queueLimit = 0
        }
        fixture.transport.on(.get, "/a").answer(after: .seconds(1))
        let first = fixture.begin()
        try await until { try fixture.state.permitsInUse == 1 }
        let failure = await fixture.begin().value.failure
        #expect(failure?.reason == .queueFull)
        #expect(failure?.phase == .queue)
        #expect(failure?.message == "The line of requests to https://h is full, with 0 waiting.")
        first.cancel()
        _ = await first.value
    }

    @Test("A redirect within the origin gives its permit back before the next hop takes one")
    func redirects() async throws {
        let fixture = Self.concurrency(1)
        fixture.transport.on(.get, "/a").answer(
            .found, pieces: ["moved"], headerFields: [.location: "/b"])
        fixture.transport.on(.get, "/b").answer(text: "here")
        let response = try await fixture.send().response
        #expect(response.body.data == Data("here".utf8))
        #expect(response.redirects.count == 1)
        #expect(try fixture.state == OriginLimits.State())
    }

    @Test("Origins do not wait for each other")
    func origins() async throws {
        let fixture = Self.concurrency(1)
        fixture.transport.on(.get, "/a").answer(after: .seconds(1))
        fixture.transport.on(.get, "/a", host: "other").answer()
        let first = fixture.begin()
        try await until { try fixture.state.permitsInUse == 1 }
        let other = try RequestURL("https://other/a")
        try await fixture.send { $0.url = other }
        first.cancel()
        _ = await first.value
    }

    @Test("1,024 origins are remembered, and more only while they have requests")
    func manyOrigins() async throws {
        let limits = RequestLimits(OriginLimits(concurrency: 2), clock: .system)
        func origin(_ number: Int) throws -> Origin { try RequestURL("https://h\(number)").origin }
        func use(_ number: Int) throws -> RequestLimits.Permit? {
            if case .start(let permit) = limits.arrive(try origin(number), .normal) { permit } else { nil }
        }
        let busy = try #require(try use(0))
        for number in 1...5_000 {
            let permit = try #require(try use(number))
            limits.leave(permit, .success)
            #expect(limits.originCount <= 1_024)
        }
        #expect(limits.state(of: try origin(0)).permitsInUse == 1)
        let permits = try (1...3_000).map { try #require(try use($0)) }
        #expect(limits.originCount > 3_000)
        #expect(limits.state(of: try origin(0)).permitsInUse == 1)
        for permit in permits + [busy] { limits.leave(permit, .success) }
        for number in 1...3_000 { #expect(limits.state(of: try origin(number)) == OriginLimits.State()) }
    }

    @Test("An origin with an open circuit is forgotten after those with a closed one")
    func openCircuitStays() throws {
        var breaker = CircuitBreaker()
        breaker.minimumOutcomes = 1
        let clock = ManualClock()
        let limits = RequestLimits(OriginLimits(breaker: breaker), clock: clock.requestClock)
        func use(_ name: String, _ outcome: BreakerMachine.Outcome) throws {
            guard case .start(let permit) = limits.arrive(try RequestURL("https://\(name)").origin, .normal) else {
                return
            }
            limits.leave(permit, outcome)
        }
        try use("down", .failure)
        for number in 1...3_000 { try use("h\(number)", .success) }
        let down = try RequestURL("https://down").origin
        #expect(limits.state(of: down).circuit == .open(timeLeft: .seconds(5)))
    }
}
