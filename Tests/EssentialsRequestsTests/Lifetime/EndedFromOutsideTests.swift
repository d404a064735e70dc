import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import Testing

/// The engine cancels such a request itself, without a task for the request.
@Suite("Requests that a service cancels", .timeLimit(.minutes(5)))
struct EndedFromOutsideTests {
    private struct Held {
        let server: LoopbackServer
        let environment: SwitchableEnvironment
        let transport: CurlTransport
        let service: HTTPDataRequestService

        init() throws {
            server = try LoopbackServer { $0.path == "/held" ? .raw([.hang]) : .response(body: "whole") }
            let url = try RequestURL(server.url)
            environment = try SwitchableEnvironment([
                EnvironmentSnapshot(name: "live", baseURL: url), EnvironmentSnapshot(name: "staging", baseURL: url),
            ])
            transport = try CurlTransport()
            var configuration = HTTPDataRequestService.Configuration()
            configuration.onEnvironmentChange = .cancelRequests
            service = HTTPDataRequestService(
                environment: environment, transport: transport, configuration: configuration)
        }

        /// Starts a request and waits until it reaches the server, which does not respond.
        func begin() async -> Task<DataResponse, any Error> {
            let (count, service) = (server.requestCount, service)
            let task = Task { try await service.send(DataRequest(.get, "held")) }
            while server.requestCount == count { await Task.yield() }
            return task
        }

        func end() async {
            await transport.shutdown()
            server.stop()
        }
    }

    @Test("A request on the wire that a service cancels fails with cancelled, and the transport keeps working")
    func environment() async throws {
        let held = try Held()
        let task = await held.begin()
        try held.environment.select("staging")
        let failure = await #expect(throws: RequestFailure.self) { _ = try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(try await held.service.send(DataRequest(.get, "a")).body.collect(upTo: 9).count == 5)
        #expect(held.service.requestsInFlight == 0)
        await held.end()
    }

    @Test("A request that its service and its task cancel at the same time ends once", arguments: 0..<20)
    func both(round: Int) async throws {
        let held = try Held()
        let task = await held.begin()
        async let switched: Void = held.environment.select(round.isMultiple(of: 2) ? "staging" : "live")
        task.cancel()
        try await switched
        let failure = await #expect(throws: RequestFailure.self) { _ = try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(held.service.requestsInFlight == 0)
        await held.end()
    }
}
