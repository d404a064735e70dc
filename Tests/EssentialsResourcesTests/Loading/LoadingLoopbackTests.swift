import EssentialsCurl
import EssentialsHTTP
import EssentialsReachability
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import Testing

@testable import EssentialsResources

/// Loads over a real connection. The time of the resources is moved by hand.
@Suite("Resource: loading over a connection", .leavesNothing, .timeLimit(.minutes(5)))
struct LoadingLoopbackTests {
    /// A server that loses its connections while it is down.
    private final class Backend: Sendable {
        private let state = Mutex((isDown: false, count: 0))

        /// The number of requests.
        var count: Int { state.withLock { $0.count } }

        func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

        /// Responds with the number of the request.
        func reply() -> ServerReply {
            let (number, isDown) = state.withLock { state in
                state.count += 1
                return (state.count, state.isDown)
            }
            if isDown {
                return .raw([.head(headers: [("Content-Type", "application/json"), ("Content-Length", "10")]), .reset])
            }
            return .response(headers: [("Content-Type", "application/json")], body: "\(number)")
        }
    }

    private func withService(
        reachability: (any ReachabilityService)? = nil, handler: @escaping @Sendable (ServerRequest) -> ServerReply,
        _ body: (HTTPResourceService, ManualClock) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(handler: handler)
        let environment = try ConstantEnvironment(server.url + "/v1")
        let requests = HTTPDataRequestService(environment: environment, transport: try CurlTransport())
        let clock = ManualClock()
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = clock.requestClock
        let service = try HTTPResourceService(
            requests: requests, environment: environment, reachability: reachability, configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(service, clock)) } catch { result = .failure(error) }
        await service.close()
        await requests.shutdown()
        server.stop()
        try result.get()
    }

    /// Loads while the server is down, after it was up.
    private func lose(_ item: Resource<Int>, _ backend: Backend) async throws {
        #expect(try await item.load() == 1)
        backend.setDown(true)
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        let lost: [RequestFailure.Reason] = [.connection, .interrupted]
        #expect(failure.map { lost.contains($0.reason) } == true, "\(String(describing: failure))")
        #expect(item.content == 1)
    }

    @Test("A resource whose connection was lost is loaded again when its server is reachable again")
    func reachableAgain() async throws {
        let backend = Backend()
        let reachability = ControlledReachability(.local)
        try await withService(reachability: reachability, handler: { _ in backend.reply() }) { service, clock in
            let item: Resource<Int> = service.resource("item")
            let observation = item.observeSynchronously { _ in }
            try await lose(item, backend)
            reachability.set(.unreachable(.noRoute))
            while service.polling.isReachable { await Task.yield() }
            let count = backend.count
            backend.setDown(false)
            reachability.set(.local)
            while item.state.failure != nil || item.isLoading { await advance(clock, item) }
            #expect(item.content == count + 1)
            #expect(backend.count == count + 1)
            observation.cancel()
        }
    }

    @Test("A resource that is loaded regularly has content again after its server has returned")
    func polledAgain() async throws {
        let backend = Backend()
        try await withService(handler: { _ in backend.reply() }) { service, clock in
            let item: Resource<Int> = service.resource("item")
            try await lose(item, backend)
            let observation = item.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
            // It is still down at the first time.
            let count = backend.count
            while backend.count == count || item.isLoading { await advance(clock, item) }
            #expect(item.content == 1)
            #expect(item.state.failure != nil)
            backend.setDown(false)
            while item.state.failure != nil || item.isLoading { await advance(clock, item) }
            #expect(item.content != 1)
            observation.cancel()
        }
    }

    /// Moves the clock to the next load, unless a load is running.
    private func advance(_ clock: ManualClock, _ item: Resource<Int>) async {
        if !item.isLoading { clock.advanceToNextDeadline() }
        await Task.yield()
    }

    @Test("A slow older response that arrives after a newer one goes to its caller and changes nothing")
    func olderResponse() async throws {
        let (backend, arrived, gate) = (Backend(), LoopbackGate(), LoopbackGate())
        let handler: @Sendable (ServerRequest) -> ServerReply = { _ in
            let reply = backend.reply()
            guard backend.count == 1 else { return reply }
            arrived.open()
            return .raw([
                .gate(gate), .head(headers: [("Content-Type", "application/json"), ("Content-Length", "1")]),
                .text("1"), .keepAlive,
            ])
        }
        try await withService(handler: handler) { service, _ in
            defer { gate.open() }
            let item: Resource<Int> = service.resource("item")
            let older = item.startLoad()
            await arrived.opened()
            let newer = try await item.load()
            #expect(newer == 2)
            gate.open()
            let content = try await older.content
            #expect(content == 1)
            while item.isLoading { await Task.yield() }
            #expect(item.content == 2)
            #expect(backend.count == 2)
        }
    }
}
