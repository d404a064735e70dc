import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Synchronization
import Testing

@Suite("A switchable environment")
struct SwitchableEnvironmentTests {
    private func environment() throws -> SwitchableEnvironment {
        try SwitchableEnvironment([
            EnvironmentSnapshot(name: "live", baseURL: RequestURL("https://live.test/v1/")),
            EnvironmentSnapshot(
                name: "staging", baseURL: RequestURL("https://staging.test/v2/"),
                headerFields: [.acceptLanguage: "en"]),
        ])
    }

    @Test("begins with the first, or the one that is named")
    func first() throws {
        #expect(try environment().name == "live")
        let all = try environment().environments
        #expect(try SwitchableEnvironment(all, current: "staging").baseURL.description == "https://staging.test/v2/")
    }

    @Test("says which names there are when another is asked for, and what is wrong about a list")
    func wrong() throws {
        let environment = try environment()
        let failure = #expect(throws: RequestFailure.self) { try environment.select("stagnig") }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.remedy.contains("“live”, “staging”") == true)
        #expect(environment.name == "live")
        #expect(throws: RequestFailure.self) { try SwitchableEnvironment([]) }
        let twice = environment.environments + environment.environments
        #expect(throws: RequestFailure.self) { try SwitchableEnvironment(twice) }
        #expect(throws: RequestFailure.self) { try SwitchableEnvironment(environment.environments, current: "x") }
    }

    @Test("sends the requests that are submitted after a switch to the new one, with its fields")
    func requests() async throws {
        let environment = try environment()
        let fixture = ServiceFixture(environment: environment)
        #expect(try await fixture.sent(DataRequest(.get, "a")).url.description == "https://live.test/v1/a")
        try environment.select("staging")
        let sent = try await fixture.sent(DataRequest(.get, "a"))
        #expect(sent.url.description == "https://staging.test/v2/a")
        #expect(sent.headerFields[.acceptLanguage] == "en")
        #expect(fixture.service.currentEnvironment.name == "staging")
    }

    @Test("tells every observer of each switch, and nobody of none")
    func changes() async throws {
        let environment = try environment()
        var first = environment.changes.makeAsyncIterator()
        var second = environment.changes.makeAsyncIterator()
        try environment.select("live")
        try environment.select("staging")
        #expect(await first.next()?.name == "staging")
        try environment.select("live")
        #expect(await first.next()?.name == "live")
        // The second has read nothing yet: the newest is kept.
        #expect(await second.next()?.name == "live")
    }

    @Test("ends its observers' streams with itself")
    func end() async throws {
        var environment: SwitchableEnvironment? = try environment()
        var changes = environment?.changes.makeAsyncIterator()
        environment = nil
        #expect(await changes?.next() == nil)
        var none = try ConstantEnvironment("https://h/").changes.makeAsyncIterator()
        #expect(await none.next() == nil)
    }

    /// DATA-REQUESTS.md 1.11, environment change.
    @Test("lets requests that run finish where they were sent to", arguments: [false, true])
    func inFlight(isSwitched: Bool) async throws {
        let environment = try environment()
        let transport = StubTransport { request throws(RequestFailure) in
            if isSwitched { try environment.select("staging") }
            let location: HTTPFields = [.location: "/v1/b"]
            let isFirst = request.url.path == "/v1/a"
            return TransportResponse(
                HTTPResponse(status: isFirst ? .found : .ok, headerFields: isFirst ? location : [:]),
                body: ResponseBody(Data()))
        }
        let fixture = ServiceFixture(transport, environment: environment)
        let response = try await fixture.service.send(DataRequest(.get, "a"))
        #expect(response.url?.description == "https://live.test/v1/b")
    }

    @Test("ends requests that run as cancelled where the service is told so, and no others")
    func cancelling() async throws {
        let environment = try environment()
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let transport = StubTransport { request throws(RequestFailure) in
            guard request.url.origin.host.text == "live.test" else {
                return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data()))
            }
            start.yield()
            while !Task.isCancelled { await Task.yield() }
            throw RequestFailure(.cancelled, "Cancelled.")
        }
        let fixture = ServiceFixture(transport, environment: environment) { $0.onEnvironmentChange = .cancelRequests }
        let running = Task { try await fixture.service.send(DataRequest(.get, "a")) }
        var starts = started.makeAsyncIterator()
        await starts.next()
        try environment.select("staging")
        let failure = await #expect(throws: RequestFailure.self) { _ = try await running.value }
        #expect(failure?.reason == .cancelled)
        #expect(try await fixture.service.send(DataRequest(.get, "b")).status == .ok)
        #expect(fixture.service.requestsInFlight == 0)
    }
}
