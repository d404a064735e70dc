import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import Testing

/// The engine ends such a request itself, without a task of the request's own.
@Suite("A request on the wire that the service ends", .timeLimit(.minutes(5)))
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

        /// A request that has reached the server, which does not answer.
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

    @Test("ends as cancelled, and the transport goes on")
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

    @Test("and its own task at the same time ends once", arguments: 0..<20)
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
