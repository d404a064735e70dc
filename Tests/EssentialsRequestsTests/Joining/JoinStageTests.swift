import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Equal requests in the chain", .timeLimit(.minutes(5)))
struct JoinStageTests {
    private let fixture = ChainFixture { $0.joins = true }

    private var usage: (groups: Int, waiters: Int) { fixture.settings.joins?.usage ?? (-1, -1) }

    private func waiting(_ count: Int) async { await until { usage.waiters == count } }

    private func isUnused() async {
        await until { usage == (0, 0) }
        await until { fixture.clock.sleeperCount == 0 }
    }

    @Test("An interceptor that prevents joining leaves out the stage")
    func off() {
        struct Signer: RequestInterceptor {
            var preventsJoining: Bool { true }
        }
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = [Intercepting { _ in }]
        #expect(ServiceSettings(configuration).joins != nil)
        configuration.interceptors.append(Signer())
        #expect(ServiceSettings(configuration).joins == nil)
        var text = ""
        dump(Chain(over: StubTransport(), ServiceSettings(configuration), AuthorizationStore()), to: &text)
        #expect(!text.contains("EssentialsRequests.JoinStage"))
    }

    @Test("A thousand equal requests at once are sent once, and each gets the response")
    func thousand() async throws {
        fixture.transport.on(.get, "/a").answer(text: "same", after: .seconds(1))
        let requests = (0..<1_000).map { _ in fixture.begin() }
        await waiting(1_000)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1))
        for request in requests { #expect(try await request.value.get().body.data == Data("same".utf8)) }
        #expect(fixture.transport.requestCount == 1)
        await isUnused()
        fixture.transport.on(.get, "/a").answer()
        try await fixture.send()
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("A shared exchange waits with the highest priority of its requests, at their arrival and later")
    func priorities() async throws {
        let fixture = ChainFixture {
            $0.joins = true
            $0.limits = OriginLimits(concurrency: 1)
        }
        let joins = try #require(fixture.settings.joins)
        fixture.transport.on(.get, "/**").answer(after: .seconds(1))
        var requests = [fixture.begin("/running")]
        await until { fixture.transport.requestCount == 1 }
        requests.append(fixture.begin("/normal"))
        try await until { try fixture.state.waiting == 1 }
        // The first of these is less urgent; the second one raises the exchange by arriving, the third one later.
        let priority = RaisablePriority()
        for path in ["/arriving", "/later"] {
            requests.append(fixture.begin(path) { $0.options.priority = .low })
        }
        try await until { try fixture.state.waiting == 3 }
        requests.append(fixture.begin("/arriving") { $0.options.priority = .high })
        requests.append(
            fixture.begin("/later") {
                $0.options.priority = .low
                $0.raisablePriority = priority
            })
        await until { joins.usage.waiters == 6 && priority.handlerCount == 1 }
        priority.raise(to: .interactive)
        for sent in 1...4 {
            await until { fixture.transport.requestCount == sent }
            await fixture.clock.waitForSleepers(count: 5 - sent)
            fixture.clock.advance(by: .seconds(1))
        }
        for request in requests { #expect(await request.value.failure == nil) }
        #expect(
            fixture.transport.requests.map { String($0.url.path) } == ["/running", "/later", "/arriving", "/normal"])
        #expect(priority.handlerCount == 0)
    }

    @Test("Requests that share an exchange have its redirects, its attempts and its URL")
    func records() async throws {
        fixture.transport.on(.get, "/a").answer(.found, headerFields: [.location: "/b"])
        fixture.transport.on(.get, "/b").answer(text: "here", after: .seconds(1))
        let requests = (0..<3).map { _ in Task { try await fixture.send() } }
        await waiting(3)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1))
        for request in requests {
            let (response, attempts) = try await request.value
            #expect(response.url?.path == "/b")
            #expect(response.redirects.count == 1)
            #expect(attempts == 2)
        }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("A failure is shared as it is")
    func failure() async throws {
        fixture.transport.on(.get, "/a").fail(.connection, message: "Down.", after: .seconds(1))
        let requests = (0..<3).map { _ in fixture.begin() }
        await waiting(3)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1))
        for request in requests {
            let failure = await request.value.failure
            #expect(failure?.reason == .connection)
            #expect(failure?.message == "Down.")
        }
        #expect(fixture.transport.requestCount == 1)
        await isUnused()
    }

    @Test("The status is checked for each request by its own expectation")
    func expectations() async throws {
        fixture.transport.on(.get, "/a").answer(.notFound, data: Data("no".utf8), after: .seconds(1))
        let strict = Task { try await fixture.send(expecting: .success) }
        await waiting(1)
        let lenient = Task { try await fixture.send(expecting: [404...404]) }
        await waiting(2)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await lenient.value.response.status == .notFound)
        let failure = await #expect(throws: RequestFailure.self) { try await strict.value }
        #expect(failure?.reason == .status)
        #expect(failure?.response?.body == Data("no".utf8))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("A cancelled request leaves the others alone, whether it leads or follows", arguments: [0, 1, 2])
    func oneCancelled(index: Int) async throws {
        fixture.transport.on(.get, "/a").answer(text: "same", after: .seconds(1))
        var requests: [Task<Result<DataResponse, RequestFailure>, Never>] = []
        for number in 1...3 {
            requests.append(fixture.begin())
            await waiting(number)
        }
        await fixture.clock.waitForSleepers(count: 1)
        let cancelled = requests.remove(at: index)
        cancelled.cancel()
        #expect(await cancelled.value.failure?.reason == .cancelled)
        #expect(usage == (1, 2))
        fixture.clock.advance(by: .seconds(1))
        for request in requests { #expect(try await request.value.get().body.data == Data("same".utf8)) }
        #expect(fixture.transport.requestCount == 1)
        await isUnused()
    }

    @Test(
        "When the last request is cancelled the exchange ends, and the next equal request is sent anew",
        arguments: [true, false])
    func allCancelled(byTask: Bool) async throws {
        fixture.transport.on(.get, "/a").answer(after: .seconds(1)).thenAnswer(text: "new")
        let cancellations = (0..<3).map { _ in Cancellation() }
        let requests = cancellations.map { fixture.begin(cancellation: $0) }
        await waiting(3)
        await fixture.clock.waitForSleepers(count: 1)
        for (request, cancellation) in zip(requests, cancellations) {
            if byTask { request.cancel() } else { cancellation.cancel() }
        }
        // At once, although the cancelled exchange may not have ended yet.
        #expect(try await fixture.send().response.body.data == Data("new".utf8))
        for request in requests { #expect(await request.value.failure?.reason == .cancelled) }
        await isUnused()
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("A request that was cancelled before it arrived is not sent")
    func cancelledBefore() async throws {
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(await fixture.begin(cancellation: cancellation).value.failure?.reason == .cancelled)
        let task = fixture.begin()
        task.cancel()
        #expect(await task.value.failure?.reason == .cancelled)
        #expect(fixture.transport.requestCount == 0)
        #expect(usage == (0, 0))
    }

    // MARK: Deadlines

    @Test("The earlier deadline of a following request ends its wait alone")
    func earlierDeadline() async throws {
        fixture.transport.on(.get, "/a").answer(text: "same", after: .seconds(10))
        let leader = fixture.begin()
        await waiting(1)
        let follower = fixture.begin { $0.options.totalTimeout = .seconds(3) }
        await waiting(2)
        await fixture.clock.waitForSleepers(count: 2)
        fixture.clock.advance(by: .seconds(3))
        let failure = await follower.value.failure
        #expect(failure?.reason == .timeout)
        #expect(failure?.phase == .waiting)
        #expect(usage == (1, 1))
        fixture.clock.advance(by: .seconds(7))
        #expect(await leader.value.failure == nil)
        await isUnused()
    }

    @Test(
        "When the deadline of the leading request has passed, the others are sent by themselves with the rest of their time",
        arguments: [4, 6])
    func leadersDeadline(delay: Int) async throws {
        fixture.transport.on(.get, "/a").answer(after: .seconds(10)).thenAnswer(text: "own", after: .seconds(delay))
        let leader = fixture.begin { $0.options.totalTimeout = .seconds(3) }
        await waiting(1)
        let patient = fixture.begin()
        await waiting(2)
        let hasty = fixture.begin { $0.options.totalTimeout = .seconds(8) }
        await waiting(3)
        // The exchange, and the deadline of the third request.
        await fixture.clock.waitForSleepers(count: 2)
        fixture.clock.advance(by: .seconds(3))
        #expect(await leader.value.failure?.reason == .timeout)
        await until { fixture.transport.requestCount == 3 }
        // They are not a group again.
        #expect(usage == (0, 0))
        await until { fixture.clock.sleeperCount == 2 }
        fixture.clock.advance(by: .seconds(min(delay, 5)))
        if delay > 5 {
            #expect(await hasty.value.failure?.reason == .timeout)
            fixture.clock.advance(by: .seconds(delay - 5))
        } else {
            #expect(try await hasty.value.get().body.data == Data("own".utf8))
        }
        #expect(try await patient.value.get().body.data == Data("own".utf8))
        #expect(fixture.transport.requestCount == 3)
        await isUnused()
    }

    @Test("A timeout that is not the leader's deadline is shared")
    func sharedTimeout() async throws {
        fixture.transport.on(.get, "/a").fail(.timeout, after: .seconds(2))
        let leader = fixture.begin { $0.options.totalTimeout = .seconds(30) }
        await waiting(1)
        let follower = fixture.begin()
        await waiting(2)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(2))
        #expect(await leader.value.failure?.reason == .timeout)
        #expect(await follower.value.failure?.reason == .timeout)
        #expect(fixture.transport.requestCount == 1)
    }

    // MARK: What closes a group

    @Test("A later priority does not change the priority of the exchange")
    func priority() async throws {
        let gate = LoopbackGate()
        let transport = StubTransport { _ in
            await gate.opened()
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data()))
        }
        let fixture = ChainFixture(over: transport) { $0.joins = true }
        let first = fixture.begin { $0.options.priority = .low }
        await until { transport.requests.count == 1 }
        let second = fixture.begin { $0.options.priority = .interactive }
        await until { fixture.settings.joins?.usage.waiters == 2 }
        gate.open()
        #expect(await first.value.failure == nil)
        #expect(await second.value.failure == nil)
        #expect(transport.requests.map(\.options.priority) == [.low])
    }

    @Test(
        "A request that may change the resource separates the equal requests before, during and after it",
        arguments: [HTTPRequest.Method.post, .put, .patch, .delete, HTTPRequest.Method("PURGE")!])
    func unsafeRequest(method: HTTPRequest.Method) async throws {
        fixture.transport.on(nil, "/a").answer(after: .seconds(1))
        let before = fixture.begin()
        await until { fixture.transport.requestCount == 1 }
        let change = Task { try await fixture.send(method) }
        await until { fixture.transport.requestCount == 2 }
        let during = (0..<2).map { _ in fixture.begin() }
        await waiting(3)
        await until { fixture.transport.requestCount == 3 }
        fixture.transport.on(.get, "/a").answer(after: .seconds(5))
        await fixture.clock.waitForSleepers(count: 3)
        fixture.clock.advance(by: .seconds(1))
        _ = try await change.value
        for request in [before] + during { #expect(await request.value.failure == nil) }
        #expect(fixture.transport.requestCount == 3)
    }

    @Test("A request after an unsafe one does not get the response of a request from during it")
    func afterUnsafeRequest() async throws {
        fixture.transport.on(.post, "/a").answer(after: .seconds(1))
        fixture.transport.on(.get, "/a").answer(text: "old", after: .seconds(5)).thenAnswer(
            text: "new", after: .seconds(1))
        let change = Task { try await fixture.send(.post) }
        await until { fixture.transport.requestCount == 1 }
        let during = fixture.begin()
        await fixture.clock.waitForSleepers(count: 2)
        fixture.clock.advance(by: .seconds(1))
        _ = try await change.value
        let after = fixture.begin()
        await until { fixture.transport.requestCount == 3 }
        await fixture.clock.waitForSleepers(count: 2)
        fixture.clock.advance(by: .seconds(4))
        #expect(try await during.value.get().body.data == Data("old".utf8))
        #expect(try await after.value.get().body.data == Data("new".utf8))
    }

    @Test("An unsafe request to another URL, and a safe one, leave the groups open")
    func otherRequests() async throws {
        fixture.transport.on(nil, "/**").answer(after: .seconds(1))
        let first = fixture.begin()
        await waiting(1)
        let others = [
            Task { try await fixture.send(.post, "/b") }, Task { try await fixture.send(.post, "/a?x=1") },
            Task { try await fixture.send(.options) },
        ]
        await until { fixture.transport.requestCount == 4 }
        let second = fixture.begin()
        await waiting(2)
        await fixture.clock.waitForSleepers(count: 4)
        fixture.clock.advance(by: .seconds(1))
        #expect(await first.value.failure == nil)
        #expect(await second.value.failure == nil)
        for other in others { _ = try await other.value }
        #expect(fixture.transport.requestCount == 4)
    }

    @Test("Streams, ranges and requests with a body are sent one by one")
    func alone() async throws {
        fixture.transport.on(nil, "/a").answer(after: .seconds(1))
        let requests = [
            fixture.begin { $0.options.delivery = .streamed }, fixture.begin { $0.options.delivery = .streamed },
            fixture.begin { $0.headerFields[.range] = "bytes=0-1" },
            fixture.begin { $0.headerFields[.range] = "bytes=0-1" },
        ]
        await until { fixture.transport.requestCount == 4 }
        await fixture.clock.waitForSleepers(count: 4)
        fixture.clock.advance(by: .seconds(1))
        for request in requests { #expect(await request.value.failure == nil) }
    }
}
