import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("Switchable environments")
struct SwitchableEnvironmentTests {
    private func environment() throws -> SwitchableEnvironment {
        try SwitchableEnvironment([
            EnvironmentSnapshot(name: "live", baseURL: RequestURL("https://live.test/v1/")),
            EnvironmentSnapshot(
                name: "staging", baseURL: RequestURL("https://staging.test/v2/"),
                headerFields: [.acceptLanguage: "en"]),
        ])
    }

    @Test("A switchable environment starts with the first one or the named one")
    func first() throws {
        #expect(try environment().name == "live")
        let all = try environment().environments
        #expect(try SwitchableEnvironment(all, current: "staging").baseURL.description == "https://staging.test/v2/")
    }

    @Test("An unknown name is refused with the known ones, and invalid lists are explained")
    func wrong() throws {
        let environment = try environment()
        let failure = #expect(throws: RequestFailure.self) { try environment.select("stagnig") }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.remedy?.contains("“live”, “staging”") == true)
        #expect(environment.name == "live")
        #expect(throws: RequestFailure.self) { try SwitchableEnvironment([]) }
        let twice = environment.environments + environment.environments
        #expect(throws: RequestFailure.self) { try SwitchableEnvironment(twice) }
        #expect(throws: RequestFailure.self) { try SwitchableEnvironment(environment.environments, current: "x") }
    }

    @Test("Requests after a switch use the new environment with its fields")
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

    @Test("Every observer is notified of each switch, and not if nothing changes")
    func changes() async throws {
        let environment = try environment()
        var first = environment.changes.makeAsyncIterator()
        var second = environment.changes.makeAsyncIterator()
        try environment.select("live")
        try environment.select("staging")
        #expect(await first.next()?.name == "staging")
        try environment.select("live")
        #expect(await first.next()?.name == "live")
        // The second observer has read nothing yet, so it receives only the newest value.
        #expect(await second.next()?.name == "live")
    }

    @Test("Releasing a switchable environment ends its observers' streams")
    func end() async throws {
        var environment: SwitchableEnvironment? = try environment()
        var changes = environment?.changes.makeAsyncIterator()
        environment = nil
        #expect(await changes?.next() == nil)
        var none = try ConstantEnvironment("https://h/").changes.makeAsyncIterator()
        #expect(await none.next() == nil)
    }

    @Test("Running requests finish at the environment for which they were sent", arguments: [false, true])
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

    @Test("A switch cancels running requests if the service is configured to, and no others")
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
