import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("Tasks that are cancelled before they begin a request", .timeLimit(.minutes(5)))
struct CancelledBeforeTests {
    /// The failure of work in a task that is cancelled before the work begins.
    private func failure(
        of work: @escaping @Sendable () async throws(RequestFailure) -> Void
    ) async -> RequestFailure? {
        let gate = LoopbackGate()
        let task = Task { () async -> RequestFailure? in
            await gate.opened()
            do throws(RequestFailure) {
                try await work()
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        gate.open()
        return await task.value
    }

    @Test("Such a request is neither prepared nor sent by a transport that knows only tasks")
    func service() async throws {
        final class Counter: Sendable { let value = Mutex(0) }
        let counter = Counter()
        let fixture = try ServiceFixture {
            $0.interceptors = [Intercepting { _ in counter.value.withLock { $0 += 1 } }]
        }
        let (service, path) = (fixture.service, "/nowhere/\(UUID().uuidString)")
        let sent = await failure { () throws(RequestFailure) in try await service.send(DataRequest(.get, "a")) }
        #expect(sent?.reason == .cancelled)
        #expect(sent?.request == "GET a")
        let downloaded = await failure { () throws(RequestFailure) in try await service.download("a", to: path) }
        #expect(downloaded?.reason == .cancelled)
        #expect(counter.value.withLock { $0 } == 0)
        #expect(fixture.transport.requests.isEmpty)
        #expect(service.requestsInFlight == 0)
        // Others are sent as before.
        try await service.send(DataRequest(.get, "a"))
        #expect(fixture.transport.requests.count == 1)
    }

    @Test("A scripted transport does not record it")
    func scripted() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/a").answer(json: 1)
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport)
        let open = HTTPDataRequestService.forAnyServer(over: transport)
        let sent = await failure { () throws(RequestFailure) in try await service.send(DataRequest(.get, "a")) }
        #expect(sent?.reason == .cancelled)
        let unsafe = await failure { () throws(RequestFailure) in
            try await open.send(DataRequest(at: "https://api.test/v1/a"))
        }
        #expect(unsafe?.reason == .cancelled)
        let direct = await failure { () throws(RequestFailure) in
            let request = TransportRequest(.get, try RequestURL("https://api.test/v1/a"))
            _ = try await transport.send(request, cancellation: Cancellation())
        }
        #expect(direct?.reason == .cancelled)
        #expect(transport.requests.isEmpty)
        #expect(transport.problems == [])
    }

    @Test("A request whose task is cancelled while an interceptor ignores that is not sent")
    func whilePrepared() async throws {
        let (begun, gate) = (LoopbackGate(), LoopbackGate())
        let fixture = try ServiceFixture {
            $0.interceptors = [
                Intercepting { _ in
                    begun.open()
                    await gate.opened()
                }
            ]
        }
        let service = fixture.service
        let task = Task { try await service.send(DataRequest(.get, "a")) }
        await begun.opened()
        task.cancel()
        gate.open()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("A closed service says so, also to a cancelled task")
    func closed() async throws {
        let fixture = try ServiceFixture()
        await fixture.service.shutdown()
        let service = fixture.service
        let sent = await failure { () throws(RequestFailure) in try await service.send(DataRequest(.get, "a")) }
        #expect(sent?.reason == .closed)
    }
}
