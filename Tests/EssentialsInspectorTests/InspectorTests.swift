import EssentialsCurl
import EssentialsHTTP
import EssentialsInspector
import EssentialsLocator
import EssentialsPersistence
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The inspector", .timeLimit(.minutes(5)))
struct InspectorTests {
    private func service(
        _ inspector: Inspector, _ server: LoopbackServer,
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) throws -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.observers = [inspector]
        change(&configuration)
        return HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url + "/v1/"), transport: try CurlTransport(),
            configuration: configuration)
    }

    @Test("A report has the exchanges, their connections and commands, the events and the services")
    func report() async throws {
        let server = try LoopbackServer { _ in .response(headers: [("Content-Type", "text/plain")], body: "ok") }
        defer { server.stop() }
        let inspector = Inspector(program: "shop 1.4", bodyLimit: 100)
        let service = try service(inspector, server)
        let locator = ServiceLocator(name: "app")
        try locator.register(service, as: (any DataRequestService).self)
        _ = try await service.send(DataRequest(.get, "a?token=s3cret"))
        _ = try? await service.send(DataRequest(.get, "a", expecting: 201))
        let report = await inspector.report(of: locator)
        #expect(report.har.entries.map(\.response.status) == [200, 200])
        let entry = try #require(report.har.entries.first)
        #expect(entry.connection?.protocol == "HTTP/1.1" && entry.connection?.isReused == false)
        #expect(entry.connection?.address.hasPrefix("127.0.0.1:") == true)
        #expect(entry.command?.hasPrefix("curl -X 'GET' ") == true)
        #expect(entry.response.body.text == "ok")
        #expect(report.har.entries.last?.failure?.reason == "status")
        let events = try #require(report.events)
        #expect(
            events.contains { $0.text == "ended: completed" && $0.call == entry.call && $0.layer == "request" })
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.at <= $1.at })
        #expect(report.health?.services.count == 1 && report.health?.status == "ok")
        #expect(report.locator?.svg.contains("DataRequestService") == true)
        let data = try JSONEncoder().encode(report)
        #expect(!String(decoding: data, as: UTF8.self).contains("s3cret"))
        #expect(try JSONDecoder().decode(InspectorReport.self, from: data).program == "shop 1.4")
        await locator.close()
    }

    @Test("A call that runs is in the report, and its entry says so")
    func running() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/slow").answer(text: "late", after: .seconds(1))
        let inspector = Inspector()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.observers = [inspector]
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport, configuration: configuration)
        let task = Task { try await service.send(DataRequest(.get, "slow")) }
        await transport.clock.waitForSleepers(count: 1)
        let entry = try #require(await inspector.report().har.entries.first)
        #expect(entry.isRunning && entry.response.status == 0 && entry.attempt == 1)
        transport.clock.advance(by: .seconds(1))
        _ = try await task.value
        #expect(await inspector.report().har.entries.map(\.isRunning) == [false])
    }

    @Test("The events of stores become their state")
    func stores() async throws {
        let inspector = Inspector()
        inspector.observe(StoreEvent(.opened, store: "/tmp/a.sqlite"))
        let saved = StoreEvent.Call(
            .save, scope: "/tmp/a.sqlite", duration: .milliseconds(2), result: .success(SaveReport()), pendingRows: 0,
            logBytes: 4_096)
        let changed = StoreEvent.Call(
            .change, scope: "draft", duration: .zero, result: .success(SaveReport()), pendingRows: 3)
        for call in [changed, saved] { inspector.observe(StoreEvent(.called(call), store: "/tmp/a.sqlite")) }
        var store = try #require(await inspector.report().stores?.first)
        #expect(store.state == "open" && store.logBytes == 4_096 && store.pendingRows == 3)
        #expect(store.scopes.map(\.name) == ["draft"])
        inspector.observe(StoreEvent(.discarded(scope: "draft", rows: 3), store: "/tmp/a.sqlite"))
        inspector.observe(StoreEvent(.closed, store: "/tmp/a.sqlite"))
        store = try #require(await inspector.report().stores?.first)
        #expect(store.state == "closed" && store.pendingRows == 0)
        let texts = await inspector.report().events?.map(\.text) ?? []
        #expect(texts.first == "/tmp/a.sqlite: opened")
        #expect(texts.contains("/tmp/a.sqlite: “draft” was closed with 3 pending rows"))
    }

    @Test("Only the last exchanges and events are kept")
    func limits() async throws {
        let transport = ScriptedTransport()
        _ = transport.on { _ in true }.answer(text: "x")
        let inspector = Inspector()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.observers = [inspector]
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport, configuration: configuration)
        for index in 0..<600 { _ = try await service.send(DataRequest(.get, "\(index)")) }
        for _ in 0..<3_000 { inspector.observe(StoreEvent(.opened, store: "a")) }
        let report = await inspector.report()
        #expect(report.har.entries.count == Inspector.maximumExchanges)
        #expect(report.har.comment == "100 earlier exchanges were dropped.")
        #expect(report.events?.count == Inspector.maximumEvents)
        #expect(report.page.utf8.count < 3 << 20)
    }
}
