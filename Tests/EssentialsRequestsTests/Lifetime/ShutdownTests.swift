import Dispatch
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Shutdown")
struct ShutdownTests {
    /// Responds at once below `/open`, otherwise when the request is cancelled or the gate opens.
    private struct Held {
        let fixture: ServiceFixture
        let started: AsyncStream<Void>
        let gate = LoopbackGate()

        init(_ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }) throws {
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            self.started = started
            let transport = StubTransport { [gate] _ throws(RequestFailure) in
                start.yield()
                await gate.opened()
                if Task.isCancelled { throw RequestFailure(.cancelled, "Cancelled.") }
                return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("whole".utf8)))
            }
            fixture = try ServiceFixture(transport, change)
        }

        func begun(_ count: Int) async {
            var starts = started.makeAsyncIterator()
            for _ in 0..<count { await starts.next() }
        }
    }

    @Test("A shutdown cancels running requests, refuses new ones with closed, and shuts down the transport")
    func atOnce() async throws {
        let held = try Held()
        let service = held.fixture.service
        var marked = DataRequest(.get, "a")
        marked.finishesOnShutdown = true
        let first = Task { try await service.send(DataRequest(.get, "a")) }
        let second = Task { try await service.send(marked) }
        await held.begun(2)
        #expect(service.requestsInFlight == 2)
        await service.shutdown()
        let failures = [
            await #expect(throws: RequestFailure.self) { _ = try await first.value },
            await #expect(throws: RequestFailure.self) { _ = try await second.value },
            await #expect(throws: RequestFailure.self) { _ = try await service.send(DataRequest(.get, "b")) },
            await #expect(throws: RequestFailure.self) { _ = try await service.download("b", to: "/nowhere/b") },
        ]
        #expect(failures.map { $0?.reason } == [.cancelled, .cancelled, .closed, .closed])
        #expect(failures.suffix(2).map { $0?.request } == ["GET b", "GET b"])
        #expect(held.fixture.transport.shutdownCount == 1)
        #expect(service.requestsInFlight == 0)
        await service.shutdown()
    }

    @Test("A graceful shutdown waits for whole responses and marked streams, and cancels other streams at once")
    func grace() async throws {
        let held = try Held()
        let service = held.fixture.service
        let stream = Task { try await service.send(RequestBuilder(.get, "a").streaming()) }
        let path = FileManager.default.temporaryDirectory.path + "/essentials-\(UUID())"
        let file = Task { try await service.download("a", to: path) }
        let whole = Task { try await service.send(DataRequest(.get, "a")) }
        let second = Task { try await service.send(RequestBuilder(.get, "a").streaming().finishingOnShutdown()) }
        await held.begun(4)
        async let end: Void = service.shutdown(grace: .seconds(600))
        let cancelled = await #expect(throws: RequestFailure.self) { _ = try await stream.value }
        let failure = await #expect(throws: RequestFailure.self) { _ = try await file.value }
        #expect(cancelled?.reason == .cancelled && failure?.reason == .cancelled)
        let refused = await #expect(throws: RequestFailure.self) { _ = try await service.send(DataRequest(.get, "b")) }
        #expect(refused?.reason == .closed)
        #expect(held.fixture.transport.shutdownCount == 0)
        held.gate.open()
        #expect(try await whole.value.body.data == Data("whole".utf8))
        #expect(try await second.value.body.data == Data("whole".utf8))
        await end
        #expect(held.fixture.transport.shutdownCount == 1)
    }

    @Test("A service that only finishes refuses new requests, and leaves what is late")
    func finishing() async throws {
        let held = try Held()
        let service = held.fixture.service
        let request = Task { try await service.send(DataRequest(.get, "a")) }
        await held.begun(1)
        await service.finish(within: .milliseconds(10))
        #expect(service.isClosed && service.requestsInFlight == 1 && held.fixture.transport.shutdownCount == 0)
        let refused = await #expect(throws: RequestFailure.self) { _ = try await service.send(DataRequest(.get, "b")) }
        #expect(refused?.reason == .closed)
        held.gate.open()
        #expect(try await request.value.status == .ok)
        await service.finish(within: .seconds(600))
        await service.shutdown()
    }

    @Test("During a grace period, a change of the environment still cancels its requests")
    func environment() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let transport = StubTransport { _ throws(RequestFailure) in
            start.yield()
            try? await Task.sleep(for: .seconds(600))
            throw RequestFailure(.cancelled, "Cancelled.")
        }
        let environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL("https://h/")))
        var configuration = HTTPDataRequestService.Configuration()
        configuration.onEnvironmentChange = .cancelRequests
        let service = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
        let request = Task { try await service.send(DataRequest(.get, "a")) }
        for await _ in started { break }
        let end = Task { await service.shutdown(grace: .seconds(600)) }
        while !service.isClosed { await Task.yield() }
        environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://other/")))
        let failure = await #expect(throws: RequestFailure.self) { _ = try await request.value }
        #expect(failure?.reason == .cancelled)
        await end.value
    }

    @Test("A graceful shutdown waits for every request if the configuration says so, unless a request opts out")
    func graceForAll() async throws {
        let held = try Held { $0.finishesOnShutdown = true }
        let service = held.fixture.service
        let first = Task { try await service.send(DataRequest(.get, "a")) }
        let second = Task { try await service.send(RequestBuilder(.get, "b").finishingOnShutdown(false)) }
        await held.begun(2)
        async let end: Void = service.shutdown(grace: .seconds(600))
        let failure = await #expect(throws: RequestFailure.self) { _ = try await second.value }
        #expect(failure?.reason == .cancelled)
        held.gate.open()
        #expect(try await first.value.status == .ok)
        await end
    }

    @Test("A graceful shutdown cancels marked requests after the grace period")
    func graceIsOver() async throws {
        let held = try Held()
        let service = held.fixture.service
        var marked = DataRequest(.get, "a")
        marked.finishesOnShutdown = true
        let request = Task { try await service.send(marked) }
        await held.begun(1)
        await service.shutdown(grace: .milliseconds(20))
        let failure = await #expect(throws: RequestFailure.self) { _ = try await request.value }
        #expect(failure?.reason == .cancelled)
    }

    @Test(
        "A graceful shutdown accepts any grace period",
        arguments: [
            Duration.seconds(Int64.max), .seconds(-1), .seconds(Int64.min), .nanoseconds(1),
        ])
    func anyGrace(grace: Duration) async throws {
        let held = try Held()
        let service = held.fixture.service
        var marked = DataRequest(.get, "a")
        marked.finishesOnShutdown = true
        let request = Task { try await service.send(marked) }
        await held.begun(1)
        async let end: Void = service.shutdown(grace: grace)
        // The gate opens after the shutdown has started.
        while !service.isClosed { await Task.yield() }
        held.gate.open()
        let status = try? await request.value.status
        if grace > .seconds(1) { #expect(status == .ok) }
        await end
        #expect(service.requestsInFlight == 0)
    }

    @Test("A shutdown ends a request that is still being prepared, and it is not sent")
    func preparing() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let waiting = Intercepting { _ in
            begin.yield()
            try await Task.sleep(for: .seconds(600))
        }
        let fixture = try ServiceFixture { $0.interceptors = [waiting] }
        let request = Task { try await fixture.service.send(DataRequest(.get, "a")) }
        for await _ in begun { break }
        #expect(fixture.service.requestsInFlight == 1)
        await fixture.service.shutdown()
        let failure = await #expect(throws: RequestFailure.self) { _ = try await request.value }
        #expect(failure?.reason == .cancelled)
        #expect(fixture.transport.requests.isEmpty)
        #expect(fixture.service.requestsInFlight == 0)
    }

    @Test("A shutdown calls completion handlers with the same reasons")
    func handlers() async throws {
        let held = try Held()
        let service = held.fixture.service
        let results = AsyncStream<Result<DataResponse, RequestFailure>>.makeStream()
        service.get("a") { results.continuation.yield($0) }
        await held.begun(1)
        await service.shutdown()
        var iterator = results.stream.makeAsyncIterator()
        var reasons: [RequestFailure.Reason?] = []
        if case .failure(let failure) = await iterator.next() { reasons.append(failure.reason) }
        service.get("a") { results.continuation.yield($0) }
        if case .failure(let failure) = await iterator.next() { reasons.append(failure.reason) }
        #expect(reasons == [.cancelled, .closed])
    }

    @Test("Releasing a service lets its requests finish")
    func released() async throws {
        let held = try Held()
        var service: HTTPDataRequestService? = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: held.fixture.transport)
        weak let left = service
        let results = AsyncStream<Result<DataResponse, RequestFailure>>.makeStream()
        service?.get("a") { results.continuation.yield($0) }
        await held.begun(1)
        service = nil
        held.gate.open()
        var iterator = results.stream.makeAsyncIterator()
        #expect(try await iterator.next()?.get().status == .ok)
        // The request's task retains the service until its handler has been called.
        for _ in 0..<10_000 where left != nil { await Task.yield() }
        #expect(left == nil)
    }
}
