import EssentialsHTTP
import EssentialsReachability
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: reachability", .leavesNothing)
struct ReachabilityTests {
    let fixture: ResourceFixture
    let reachability = ControlledReachability(.unreachable(.noRoute))
    private var clock: ManualClock { fixture.clock }

    init() throws { fixture = try ResourceFixture(reachability: reachability) }

    private func resource(_ name: String, failing reason: RequestFailure.Reason? = nil) -> Resource<Int> {
        if let reason {
            fixture.transport.on(.get, "/v1/\(name)").fail(reason).thenAnswer(json: 1)
        } else {
            fixture.transport.on(.get, "/v1/\(name)").answer(.internalServerError)
        }
        return fixture.service.resource(name)
    }

    /// Waits until the service has received a status.
    private func knows(_ isReachable: Bool) async {
        while fixture.service.polling.isReachable != isReachable { await Task.yield() }
    }

    @Test(
        "An observed resource whose load failed because of the network is loaded when the server is reachable again",
        arguments: [RequestFailure.Reason.nameResolution, .connection, .timeout, .interrupted])
    func loadsAgain(reason: RequestFailure.Reason) async throws {
        let (observed, unobserved) = (resource("observed", failing: reason), resource("unobserved", failing: reason))
        let refused = resource("refused")
        let observations = [observed, refused].map { $0.observeSynchronously { _ in } }
        for item in [observed, unobserved, refused] { _ = try? await item.load() }
        #expect(observed.state.failure?.reason == reason)
        await knows(false)
        reachability.set(.local)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        _ = try await fixture.transport.request(number: 4)
        while observed.content == nil { await Task.yield() }
        #expect(fixture.transport.requests[3].url.path == "/v1/observed")
        #expect(fixture.transport.requests[3].headerFields[.cacheControl] == nil)
        #expect(fixture.transport.requestCount == 4)
        for observation in observations { observation.cancel() }
    }

    @Test(
        "An observed resource whose token provider failed because of the network is loaded when the server is reachable"
    )
    func tokens() async throws {
        /// A provider whose first call fails.
        final class Provider: AccessTokenProvider {
            private let isReachable = Mutex(false)

            func token(replacing old: AccessToken?) async throws -> AccessToken {
                let isReachable = isReachable.withLock { isReachable in
                    defer { isReachable = true }
                    return isReachable
                }
                guard isReachable else { throw RequestFailure(.connection, "The network is away.") }
                return try AccessToken("t1")
            }
        }
        fixture.requests.setAuthorization(.tokens(Provider(), clock: clock.requestClock))
        fixture.transport.on(.get, "/v1/item").answer(json: 1)
        let item: Resource<Int> = fixture.service.resource("item")
        let observation = item.observeSynchronously { _ in }
        _ = try? await item.load()
        #expect(item.state.failure?.reason == .authorization)
        await knows(false)
        reachability.set(.local)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        _ = try await fixture.transport.request(number: 1)
        while item.content == nil { await Task.yield() }
        #expect(item.content == 1)
        observation.cancel()
    }

    @Test("An invalid resource is then loaded, and bypasses caches")
    func invalid() async throws {
        let item = resource("item", failing: .connection)
        let observation = item.observeSynchronously { _ in }
        _ = try? await item.load()
        item.invalidate()
        await knows(false)
        reachability.set(.local)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        #expect(try await fixture.transport.request(number: 2).headerFields[.cacheControl] == "no-cache")
        observation.cancel()
    }

    @Test("Four loads run at a time, and their beginnings are spread over two seconds")
    func storm() async throws {
        let latch = Latch()
        var observations: [ResourceObservation] = []
        for number in 0..<20 {
            fixture.transport.on(.get, "/v1/\(number)").fail(.connection).thenAnswer { _ in
                await latch.wait()
                return ScriptedAnswer(json: number)
            }
            let item: Resource<Int> = fixture.service.resource("\(number)")
            observations.append(item.observeSynchronously { _ in })
            _ = try? await item.load()
        }
        await knows(false)
        reachability.set(.local)
        await clock.waitForSleepers(count: 1)
        #expect(fixture.transport.requestCount == 20)
        let start = clock.now
        var times: Set<ManualClock.Instant> = []
        for number in 21...24 {
            await clock.waitForSleepers(count: 1)
            clock.advanceToNextDeadline()
            times.insert(clock.now)
            _ = try await fixture.transport.request(number: number)
        }
        #expect(times.count == 4)
        #expect(start.duration(to: clock.now) < .seconds(2))
        clock.advance(by: .seconds(2))
        for _ in 0..<200 { await Task.yield() }
        #expect(fixture.transport.requestCount == 24)
        latch.open()
        _ = try await fixture.transport.request(number: 40)
        for observation in observations { observation.cancel() }
    }

    @Test("Loads that have not begun are dropped if the server becomes unreachable again")
    func lostAgain() async throws {
        let item = resource("item", failing: .connection)
        let observation = item.observeSynchronously { _ in }
        _ = try? await item.load()
        await knows(false)
        reachability.set(.local)
        await clock.waitForSleepers(count: 1)
        reachability.set(.unreachable(.noRoute))
        while clock.sleeperCount > 0 { await Task.yield() }
        clock.advance(by: .seconds(60))
        #expect(fixture.transport.requestCount == 1)
        observation.cancel()
    }

    @Test("An unreachable server pauses regular loads, and an overdue one begins within two seconds after it")
    func polling() async throws {
        let item = resource("item")
        await knows(false)
        let observation = item.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        #expect(fixture.service.polling.count == 0)
        clock.advance(by: .seconds(60))
        #expect(fixture.transport.requestCount == 0)
        reachability.set(.local)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        _ = try await fixture.transport.request(number: 1)
        while item.isLoading || fixture.service.polling.count == 0 { await Task.yield() }
        reachability.set(.unreachable(.noRoute))
        while fixture.service.polling.count > 0 { await Task.yield() }
        clock.advance(by: .seconds(60))
        #expect(fixture.transport.requestCount == 1)
        observation.cancel()
    }

    @Test("A service that ends stops following the reachability service")
    func end() async throws {
        weak var released: HTTPResourceService?
        do {
            let other = try ResourceFixture(reachability: reachability)
            released = other.service
        }
        #expect(released == nil)
        await fixture.service.close()
        reachability.set(.local)
        #expect(clock.sleeperCount == 0)
    }
}
