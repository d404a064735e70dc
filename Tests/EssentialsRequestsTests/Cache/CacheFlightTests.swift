import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Response cache: validations that requests share", .timeLimit(.minutes(5)))
struct CacheFlightTests {
    /// A service with a stale response of "a", whose validation waits for the gate.
    private func staleService(
        _ origin: CacheOrigin, _ gate: LoopbackGate, _ directive: String = ""
    ) async throws -> HTTPDataRequestService {
        let reply: @Sendable (TransportRequest) -> CacheOrigin.Reply = {
            CacheOrigin.reply(to: $0, tag: "\"1\"", [.cacheControl: "max-age=10" + directive], body: "one")
        }
        origin.answer { reply($0) }
        let service = try origin.service(ResponseCache())
        _ = try await service.text("a")
        origin.clock.advance(by: .seconds(20))
        origin.answer { request in
            await gate.opened()
            return reply(request)
        }
        return service
    }

    @Test("Requests for one stale response wait for one validation", arguments: ["", ", must-revalidate"])
    func singleFlight(directive: String) async throws {
        let (origin, gate) = (CacheOrigin([:]), LoopbackGate())
        let service = try await staleService(origin, gate, directive)
        let readers = (0..<1_000).map { _ in Task { try await service.text("a") } }
        await until { origin.count == 2 && service.requestsInFlight == 1_000 }
        gate.open()
        for reader in readers { #expect(try await reader.value == "one") }
        #expect(origin.count == 2)
    }

    @Test("Each use of a response that has to be validated each time is validated by itself")
    func unsharedFlight() async throws {
        let (origin, gate) = (CacheOrigin([:]), LoopbackGate())
        let service = try await staleService(origin, gate, ", no-cache")
        let readers = (0..<3).map { _ in Task { try await service.text("a") } }
        await until { origin.count == 4 }
        gate.open()
        for reader in readers { #expect(try await reader.value == "one") }
    }

    @Test("If the validation fails, the requests that waited for it ask the server themselves, all at the same time")
    func failedValidation() async throws {
        let (origin, gate) = (CacheOrigin([:]), LoopbackGate())
        let service = try await staleService(origin, gate)
        let leader = Task { try await service.text("a") }
        await until { origin.count == 2 }
        let followers = (0..<10).map { _ in Task { try await service.text("a") } }
        await until { service.requestsInFlight == 11 }
        let second = LoopbackGate()
        origin.answer { _ in
            await second.opened()
            return .init(failure: RequestFailure(.connection, "No route to host."))
        }
        leader.cancel()
        // The next one validates, and its failure is no reason for the others to fail.
        await until { origin.count == 3 }
        let third = LoopbackGate()
        origin.answer { _ in
            await third.opened()
            return .init(failure: RequestFailure(.connection, "No route to host."))
        }
        second.open()
        await until { origin.count == 12 }
        third.open()
        for follower in followers { await #expect(throws: RequestFailure.self) { try await follower.value } }
        gate.open()
        await #expect(throws: RequestFailure.self) { try await leader.value }
        #expect(origin.count == 12)
    }

    @Test("Nobody waits for the validation of a response that is stale again after it")
    func noLifetime() async throws {
        let gate = LoopbackGate()
        let origin = CacheOrigin { CacheOrigin.reply(to: $0, tag: "\"1\"", [:], body: "one") }
        let service = try origin.service(ResponseCache())
        _ = try await service.text("a")
        origin.answer { request in
            await gate.opened()
            return CacheOrigin.reply(to: request, tag: "\"1\"", [:], body: "one")
        }
        let readers = (0..<10).map { _ in Task { try await service.text("a") } }
        await until { origin.count == 11 }
        gate.open()
        for reader in readers { #expect(try await reader.value == "one") }
    }

    @Test("Nobody waits for the body of a streamed response, and a streamed request waits for a validation")
    func streamedFlight() async throws {
        let (origin, gate) = (CacheOrigin([:]), LoopbackGate())
        let service = try await staleService(origin, gate)
        let streamed = Task { try await service.response("a", isStreamed: true).text }
        await until { origin.count == 2 }
        let leader = Task { try await service.text("a") }
        await until { origin.count == 3 }
        let follower = Task { try await service.response("a", isStreamed: true).text }
        await until { service.requestsInFlight == 3 }
        gate.open()
        for task in [streamed, leader, follower] { #expect(try await task.value == "one") }
        #expect(origin.count == 3)
    }

    @Test("A request whose time ends while it waits is served the stale response if the server allows it")
    func followerDeadline() async throws {
        let (origin, gate) = (CacheOrigin([:]), LoopbackGate())
        let service = try await staleService(origin, gate, ", stale-if-error=60")
        let leader = Task { try await service.text("a") }
        await until { origin.count == 2 }
        var request = DataRequest(.get, "a")
        request.options.totalTimeout = .seconds(5)
        let follower = Task { [request] in try await service.send(request) }
        await until { service.requestsInFlight == 2 }
        await origin.clock.waitForSleepers(count: 1)
        origin.clock.advance(by: .seconds(5))
        #expect(try await follower.value.cache?.outcome == .stale)
        gate.open()
        #expect(try await leader.value == "one" && origin.count == 2)
    }

    @Test("Services that share a cache wait for one validation")
    func flightOfTwoServices() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=10"])
        let (cache, transport, gate) = (ResponseCache(), TrustedStub(origin.transport()), LoopbackGate())
        let services = [
            try origin.service(cache, over: transport), try origin.service(cache, over: transport),
        ]
        origin.answer { CacheOrigin.reply(to: $0, tag: "\"1\"", [.cacheControl: "max-age=10"], body: "one") }
        _ = try await services[0].text("a")
        origin.clock.advance(by: .seconds(20))
        origin.answer { request in
            await gate.opened()
            return CacheOrigin.reply(to: request, tag: "\"1\"", [.cacheControl: "max-age=10"], body: "one")
        }
        let readers = services.map { service in Task { try await service.text("a") } }
        await until { services.allSatisfy { $0.requestsInFlight == 1 } && origin.count == 2 }
        gate.open()
        for reader in readers { #expect(try await reader.value == "one") }
        #expect(origin.count == 2)
    }

    @Test("If the request that validates is cancelled, the next one validates")
    func failedFlight() async throws {
        let (origin, gate) = (CacheOrigin([:]), LoopbackGate())
        let service = try await staleService(origin, gate)
        let leader = Task { try await service.text("a") }
        await until { origin.count == 2 }
        let followers = (0..<3).map { _ in Task { try await service.text("a") } }
        await until { service.requestsInFlight == 4 }
        followers[0].cancel()
        await #expect(throws: RequestFailure.self) { try await followers[0].value }
        leader.cancel()
        await until { origin.count == 3 }
        gate.open()
        await #expect(throws: RequestFailure.self) { try await leader.value }
        #expect(try await followers[1].value == "one")
        #expect(try await followers[2].value == "one")
        #expect(origin.count == 3)
    }
}
