import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Response cache: validations in the background", .timeLimit(.minutes(5)))
struct CacheBackgroundTests {
    private static let fields: HTTPFields = [.cacheControl: "max-age=10, stale-while-revalidate=60"]

    /// A service with a stored response "one", which is stale and may be served while it is validated.
    private func staleService(
        _ origin: CacheOrigin, _ cache: ResponseCache = ResponseCache(), paths: [String] = ["a"],
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) async throws -> HTTPDataRequestService {
        origin.answer { CacheOrigin.reply(to: $0, tag: "\"1\"", Self.fields, body: "one") }
        let service = try origin.service(cache, change)
        for path in paths { _ = try await service.text(path) }
        origin.clock.advance(by: .seconds(20))
        return service
    }

    @Test("Within stale-while-revalidate the stored response is served at once, and replaced in the background")
    func served() async throws {
        let (origin, gate) = (CacheOrigin([:]), LoopbackGate())
        let service = try await staleService(origin)
        origin.answer { _ in
            await gate.opened()
            return .init(fields: Self.fields, body: "two")
        }
        let stale = try await service.response("a")
        #expect(stale.text == "one" && stale.cache?.outcome == .stale && stale.storedUse?.isStale == true)
        await until { origin.count == 2 }
        #expect(origin.requests.last?.headerFields[.ifNoneMatch] == "\"1\"" && service.requestsInFlight == 1)
        // Requests during the validation begin no other one.
        for _ in 0..<20 { #expect(try await service.text("a") == "one") }
        gate.open()
        await until { service.requestsInFlight == 0 }
        let new = try await service.response("a")
        #expect(new.text == "two" && new.cache?.outcome == .hit && origin.count == 2)
        origin.clock.advance(by: .seconds(100))
        origin.answer { _ in .init(fields: Self.fields, body: "three") }
        #expect(try await service.text("a") == "three")
    }

    @Test("Who was served the stale response receives the one that replaces or confirms it", arguments: [true, false])
    func updates(isReplaced: Bool) async throws {
        let (origin, gate) = (CacheOrigin([:]), LoopbackGate())
        let service = try await staleService(origin)
        origin.answer { request in
            await gate.opened()
            return CacheOrigin.reply(
                to: request, tag: isReplaced ? "\"2\"" : "\"1\"", Self.fields, body: isReplaced ? "two" : "one")
        }
        let response = try await service.response("a")
        let stale = try #require(response.identity)
        let url = try RequestURL("https://h/a")
        let updates = service.updates(of: response)
        gate.open()
        var responses: [DataResponse] = []
        for await response in updates { responses.append(response) }
        let update = try #require(responses.first)
        let identity = try #require(update.identity)
        #expect(responses.count == 1 && update.text == (isReplaced ? "two" : "one") && update.url == url)
        #expect(identity.load > stale.load && (identity.body == stale.body) == !isReplaced)
        // A reader that comes later finds it too, and nobody finds that of another URL.
        var late = service.updates(of: url, after: stale.load).makeAsyncIterator()
        #expect(await late.next()?.identity == identity)
        var other = service.updates(of: try RequestURL("https://h/b"), after: stale.load).makeAsyncIterator()
        #expect(await other.next() == nil)
        var unknown = service.updates(of: url, after: identity.load).makeAsyncIterator()
        #expect(await unknown.next() == nil)
    }

    @Test("After a refusal, a removal or a response that is not stored, the old response is not served any more")
    func revoked() async throws {
        let replies: [CacheOrigin.Reply] =
            [.unauthorized, .forbidden, .notFound, .gone].map { .init(status: $0, body: "no") }
            + [.init(fields: [.cacheControl: "no-store"], body: "no")]
        for reply in replies {
            let origin = CacheOrigin([:])
            let service = try await staleService(origin)
            origin.answer { _ in reply }
            let stale = try await service.response("a")
            #expect(stale.text == "one")
            await until { service.requestsInFlight == 0 }
            var updates = service.updates(
                of: try RequestURL("https://h/a"), after: try #require(stale.identity).load
            ).makeAsyncIterator()
            #expect(await updates.next() == nil)
            #expect(try await service.response("a").text == "no" && origin.count == 3)
        }
    }

    @Test("A failure and a server error change nothing that is stored, and are no update")
    func failures() async throws {
        let replies: [CacheOrigin.Reply] = [
            .init(failure: RequestFailure(.connection, "No route to host.")),
            .init(status: .serviceUnavailable, fields: [.cacheControl: "max-age=1000"], body: "down"),
        ]
        for reply in replies {
            let origin = CacheOrigin([:])
            let service = try await staleService(origin)
            origin.answer { _ in reply }
            let stale = try #require(try await service.response("a").identity)
            var updates = service.updates(of: try RequestURL("https://h/a"), after: stale.load).makeAsyncIterator()
            #expect(await updates.next() == nil)
            #expect(try await service.text("a") == "one" && origin.count >= 2)
            await until { service.requestsInFlight == 0 }
        }
    }

    @Test("At most 64 responses are validated at the same time, and the others are served nevertheless")
    func limit() async throws {
        let (origin, gate) = (CacheOrigin([:]), LoopbackGate())
        let paths = (0..<70).map { "p\($0)" }
        let service = try await staleService(origin, paths: paths)
        origin.answer { _ in
            await gate.opened()
            return .init(fields: Self.fields, body: "two")
        }
        for path in paths { #expect(try await service.text(path) == "one") }
        #expect(service.requestsInFlight == 64)
        gate.open()
        await until { service.requestsInFlight == 0 }
        #expect(origin.count == 70 + 64)
        for path in paths { _ = try await service.text(path) }
        await until { service.requestsInFlight == 0 }
        for path in paths { #expect(try await service.text(path) == "two") }
    }

    @Test("A shutdown ends the validations, and none begins afterwards")
    func shutdown() async throws {
        let origin = CacheOrigin([:])
        let cancelled = Atomic<Int>(0)
        let service = try await staleService(origin)
        origin.answer { _ in
            while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
            cancelled.add(1, ordering: .relaxed)
            return .init(fields: Self.fields, body: "two")
        }
        let stale = try #require(try await service.response("a").identity)
        await until { origin.count == 2 }
        await service.shutdown()
        await until { service.requestsInFlight == 0 }
        #expect(cancelled.load(ordering: .relaxed) == 1)
        var updates = service.updates(of: try RequestURL("https://h/a"), after: stale.load).makeAsyncIterator()
        #expect(await updates.next() == nil)
    }

    @Test("A validation ends within thirty seconds, does not end with its request, and reports no progress")
    func independence() async throws {
        let (origin, gate) = (CacheOrigin([:]), LoopbackGate())
        let service = try await staleService(origin)
        origin.answer { _ in
            await gate.opened()
            return .init(fields: Self.fields, body: "new")
        }
        let reports = Atomic<Int>(0)
        var request = DataRequest(.get, "a")
        request.options.totalTimeout = .seconds(5)
        request.downloadProgress = ProgressReport { _ in reports.add(1, ordering: .relaxed) }
        let served = try await Task { [request] in try await service.send(request) }.value
        #expect(served.text == "one")
        let count = reports.load(ordering: .relaxed)
        await until { origin.count == 2 }
        #expect(try #require(origin.requests.last?.options.totalTimeout) <= .seconds(5))
        gate.open()
        await until { service.requestsInFlight == 0 }
        #expect(try await service.text("a") == "new" && reports.load(ordering: .relaxed) == count)
        origin.clock.advance(by: .seconds(20))
        _ = try await service.text("a")
        await until { origin.count == 3 }
        #expect(try #require(origin.requests.last?.options.totalTimeout) <= .seconds(30))
    }

    @Test("What is invalidated or removed during a validation is not stored by it", arguments: [true, false])
    func removal(isInvalidated: Bool) async throws {
        let (origin, gate, cache) = (CacheOrigin([:]), LoopbackGate(), ResponseCache())
        let service = try await staleService(origin, cache)
        origin.answer { request in
            if request.method == .post { return .init() }
            await gate.opened()
            return .init(fields: Self.fields, body: "two")
        }
        let stale = try #require(try await service.response("a").identity)
        await until { origin.count == 2 }
        if isInvalidated {
            _ = try await service.send(.post("a", body: ["x": 1]))
        } else {
            await cache.removeAll()
        }
        gate.open()
        var updates = service.updates(of: try RequestURL("https://h/a"), after: stale.load).makeAsyncIterator()
        #expect(await updates.next() == nil)
        await until { service.requestsInFlight == 0 }
        #expect(await cache.usage == ResponseCache.Usage())
    }

    @Test(
        "A logout during a validation: nothing is stored, and nobody receives the response", arguments: [true, false])
    func logout(isNamed: Bool) async throws {
        let (origin, gate, cache) = (CacheOrigin([:]), LoopbackGate(), ResponseCache())
        origin.answer { _ in .init(fields: Self.fields, body: "one") }
        let service = try origin.service(cache)
        var credentials = try Credentials.bearer("ada")
        if isNamed { credentials.account = EntityPartition("ada") }
        service.setAuthorization(credentials)
        _ = try await service.text("a")
        origin.clock.advance(by: .seconds(20))
        origin.answer { _ in
            await gate.opened()
            return .init(fields: Self.fields, body: "two")
        }
        let stale = try #require(try await service.response("a").identity)
        await until { origin.count == 2 }
        let reading = Task {
            var updates = service.updates(of: try RequestURL("https://h/a"), after: stale.load).makeAsyncIterator()
            return await updates.next()
        }
        await service.clearAuthorization()
        gate.open()
        #expect(try await reading.value == nil)
        await until { service.requestsInFlight == 0 }
        #expect(await cache.usage == ResponseCache.Usage())
    }

    @Test("After a login during a validation without credentials, the old response is not delivered as an update")
    func login() async throws {
        let (origin, gate) = (CacheOrigin([:]), LoopbackGate())
        let service = try await staleService(origin)
        origin.answer { request in
            await gate.opened()
            return CacheOrigin.reply(to: request, tag: "\"1\"", Self.fields, body: "one")
        }
        let stale = try #require(try await service.response("a").identity)
        await until { origin.count == 2 }
        service.setAuthorization(try .bearer("ada"))
        gate.open()
        var updates = service.updates(of: try RequestURL("https://h/a"), after: stale.load).makeAsyncIterator()
        #expect(await updates.next() == nil)
    }

    @Test("A validation that a transport or an interceptor does not end is cancelled after thirty seconds")
    func timer() async throws {
        let origin = CacheOrigin([:])
        let service = try await staleService(origin)
        origin.answer { _ in
            while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
            return .init()
        }
        #expect(try await service.text("a") == "one")
        await until { origin.count == 2 }
        await origin.clock.waitForSleepers(count: 1)
        origin.clock.advance(by: .seconds(29))
        #expect(service.requestsInFlight == 1)
        origin.clock.advance(by: .seconds(1))
        await until { service.requestsInFlight == 0 }
    }

    @Test("A change of the environment cancels a validation if it cancels requests")
    func environment() async throws {
        let origin = CacheOrigin([:])
        origin.answer { _ in .init(fields: Self.fields, body: "one") }
        let environments = try ["one", "two"].map {
            EnvironmentSnapshot(name: $0, baseURL: try RequestURL("https://\($0)/"))
        }
        let environment = try SwitchableEnvironment(environments)
        let service = try origin.service(ResponseCache(), environment: environment) {
            $0.onEnvironmentChange = .cancelRequests
        }
        _ = try await service.text("a")
        origin.clock.advance(by: .seconds(20))
        origin.answer { _ in
            while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
            return .init()
        }
        _ = try await service.text("a")
        await until { origin.count == 2 }
        try environment.select("two")
        await until { service.requestsInFlight == 0 }
    }
}
