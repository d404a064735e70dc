import EssentialsHTTP
import EssentialsReachability
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests
@testable import EssentialsResources

@Suite("Outbox: accounts, environments and reachability", .timeLimit(.minutes(5)))
struct OutboxScopeTests {
    let fixture: OutboxFixture
    private var transport: ScriptedTransport { fixture.transport }

    init() throws { fixture = try OutboxFixture() }

    @Test("Entries of another account wait, are listed, can be dropped, and are sent when that account is back")
    func partitions() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        let outbox = try fixture.outbox(partition: "ada")
        outbox.pause()
        let first = try await outbox.add(fixture.view(1))
        let second = try await outbox.add(fixture.view(2))
        await outbox.leave()
        #expect(outbox.partition == nil)
        await #expect(throws: RequestFailure(.invalidRequest, "")) { try await outbox.add(fixture.view(3)) }
        outbox.resume()
        await outbox.enter("grace")
        try await outbox.add(fixture.view(4))
        try await outbox.drain()
        #expect(transport.requests.map(\.bodyText) == [#"{"id":4}"#])
        #expect(try await outbox.entries.map(\.state) == [.otherPartition, .otherPartition])
        #expect(try await outbox.entries.map(\.partition) == ["ada", "ada"])
        #expect(try await outbox.drop(first))
        await outbox.enter("ada")
        try await outbox.drain()
        #expect(transport.requests.map(\.bodyText) == [#"{"id":4}"#, #"{"id":2}"#])
        #expect(try await outbox.entries == [])
        #expect(first < second)
    }

    @Test("Leaving a partition cancels requests that are being sent, and returns when they have ended")
    func leaving() async throws {
        let latch = Latch()
        transport.on(.post, "/v1/views").answer { _ in
            await latch.wait()
            return ScriptedAnswer()
        }
        let outbox = try fixture.outbox(partition: "ada")
        try await outbox.add(fixture.view(1))
        _ = try await transport.request(number: 1)
        await outbox.leave()
        #expect(outbox.core.reading(\.sendingCount) == 0)
        #expect(try await outbox.entries.map(\.state) == [.otherPartition])
        latch.open()
        await outbox.enter("ada")
        try await outbox.drain()
        #expect(transport.requests.map(\.key).count == 2)
        #expect(transport.requests[0].key == transport.requests[1].key)
    }

    @Test("An outbox that begins without an account sends nothing")
    func nobody() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        var outbox = try fixture.outbox(partition: "ada")
        outbox.pause()
        try await outbox.add(fixture.view(1))
        await outbox.close()
        outbox = try fixture.outbox(partition: nil)
        try await outbox.drain()
        #expect(transport.requestCount == 0)
        await outbox.enter("ada")
        try await outbox.drain()
        #expect(transport.requestCount == 1)
    }

    @Test("Entries of another environment wait until it is back")
    func environments() async throws {
        transport.on(.post, "/**").answer(.ok)
        let outbox = try fixture.outbox()
        outbox.pause()
        try await outbox.add(fixture.view(1))
        let old = fixture.environment.snapshot
        fixture.environment.set(EnvironmentSnapshot(name: "staging", baseURL: try RequestURL("https://s/")))
        outbox.resume()
        try await outbox.drain()
        #expect(transport.requestCount == 0)
        #expect(try await outbox.entries.map(\.state) == [.otherEnvironment])
        try await outbox.add(fixture.view(2))
        try await outbox.drain()
        #expect(transport.requests.map(\.url.description) == ["https://s/views"])
        fixture.environment.set(old)
        _ = try await transport.request(number: 2)
        await outbox.core.idle()
        #expect(transport.requests.last?.url.description == "https://h/v1/views")
        #expect(try await outbox.entries == [])
    }

    @Test("The current credentials are sent, and no credentials are stored")
    func credentials() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        let outbox = try fixture.outbox()
        outbox.pause()
        fixture.requests.setAuthorization(try .bearer("old-secret"))
        let id = try await outbox.add(fixture.view(1))
        let bytes = try #require(FileManager.default.contents(atPath: fixture.path(id, .request)))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
        fixture.requests.setAuthorization(try .bearer("new"))
        outbox.resume()
        try await outbox.drain()
        #expect(transport.requests.first?.headerFields[.authorization] == "Bearer new")
        for name in [HTTPField.Name.authorization, .cookie, .proxyAuthorization] {
            var request = fixture.view(2)
            request.headerFields[name] = "secret"
            let failure = await #expect(throws: RequestFailure.self) { try await outbox.add(request) }
            #expect(failure?.reason == .invalidRequest)
            #expect(failure?.message.contains(name.rawName) == true)
        }
    }

    @Test("Entries that failed because of the network are sent at once when the server is reachable again")
    func reachable() async throws {
        let reachability = ControlledReachability(.unreachable(.noRoute))
        transport.on(.post, "/v1/views").fail(.connection).thenAnswer(.ok)
        let outbox = try fixture.outbox(reachability: reachability)
        try await outbox.add(fixture.view(1))
        await outbox.core.idle()
        #expect(try await outbox.entries.map(\.state) == [.delayed])
        reachability.set(.local)
        _ = try await transport.request(number: 2)
        await outbox.core.idle()
        #expect(try await outbox.entries == [])
    }

    @Test("Resources that wait for the server load after the outbox")
    func beforeResources() async throws {
        let reachability = ControlledReachability(.unreachable(.noRoute))
        let latch = Latch()
        transport.on(.post, "/v1/views").fail(.connection).thenAnswer { _ in
            await latch.wait()
            return ScriptedAnswer()
        }
        transport.on(.get, "/v1/item").fail(.connection).thenAnswer(json: 1)
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = fixture.clock.requestClock
        let service = try HTTPResourceService(
            requests: fixture.requests, environment: fixture.environment, reachability: reachability,
            configuration: configuration)
        let outbox = try fixture.outbox()
        service.attach(outbox)
        let item: Resource<Int> = service.resource("item")
        let observation = item.observeSynchronously { _ in }
        _ = try? await item.load()
        try await outbox.add(fixture.view(1))
        await outbox.core.idle()
        #expect(transport.requestCount == 2)
        while service.polling.isReachable { await Task.yield() }
        reachability.set(.local)
        #expect(try await transport.request(number: 3).method == .post)
        for _ in 0..<200 { await Task.yield() }
        #expect(transport.requestCount == 3)
        latch.open()
        while item.content == nil {
            fixture.clock.advance(by: .seconds(1))
            await Task.yield()
        }
        #expect(transport.requests.map(\.method) == [.get, .post, .post, .get])
        observation.cancel()
        service.detach(outbox)
        await service.close()
    }

    @Test("Resources wait for an outbox no longer than the given time")
    func boundedWait() async throws {
        let reachability = ControlledReachability(.unreachable(.noRoute))
        let latch = Latch()
        transport.on(.post, "/v1/views").fail(.connection).thenAnswer { _ in
            await latch.wait()
            return ScriptedAnswer()
        }
        transport.on(.get, "/v1/item").fail(.connection).thenAnswer(json: 1)
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = fixture.clock.requestClock
        let service = try HTTPResourceService(
            requests: fixture.requests, environment: fixture.environment, reachability: reachability,
            configuration: configuration)
        let outbox = try fixture.outbox { $0.closeDeadline = .zero }
        service.attach(outbox, waitingAtMost: .seconds(10))
        let item: Resource<Int> = service.resource("item")
        let observation = item.observeSynchronously { _ in }
        _ = try? await item.load()
        try await outbox.add(fixture.view(1))
        await outbox.core.idle()
        while service.polling.isReachable { await Task.yield() }
        reachability.set(.local)
        _ = try await transport.request(number: 3)
        let start = fixture.clock.now
        while item.content == nil {
            fixture.clock.advance(by: .seconds(1))
            for _ in 0..<20 { await Task.yield() }
        }
        #expect(start.duration(to: fixture.clock.now) >= .seconds(10))
        latch.open()
        observation.cancel()
        await outbox.close()
        await service.close()
    }
}
