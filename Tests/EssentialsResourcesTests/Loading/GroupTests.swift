import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: groups and dependent resources", .leavesNothing)
struct GroupTests {
    struct User: Codable, Sendable, Equatable { var id: Int }

    let fixture: ResourceFixture

    init() throws { fixture = try ResourceFixture() }

    private var user: Resource<User> { fixture.service.resource("user") }

    @Test("The resources of a group are loaded in parallel, and their states come together")
    func group() async throws {
        let latch = Latch()
        for name in ["number", "text"] {
            fixture.transport.on(.get, "/v1/\(name)").answer { _ in
                await latch.wait()
                return ScriptedAnswer(json: 7)
            }
        }
        let number: Resource<Int> = fixture.service.resource("number")
        let text: Resource<String> = fixture.service.resource("text")
        let group = ResourceGroup(number, text)
        var states = group.states(loading: .ifNeeded).makeAsyncIterator()
        let first = try #require(await states.next())
        #expect(first.0.isLoading && first.1.isLoading)
        _ = try await fixture.transport.request(number: 2)
        latch.open()
        while let (number, text) = await states.next() {
            if number.content == 7, text.content == "7" { break }
        }
        let contents = try await group.loadIfNeeded()
        #expect(contents == (7, "7"))
        #expect(fixture.transport.requestCount == 2)
        #expect(number.observerCount == 1)
    }

    @Test("A group fails with the failure of the first resource that has failed")
    func groupFailure() async throws {
        fixture.transport.on(.get, "/v1/number").answer(json: 7)
        fixture.transport.on(.get, "/v1/bad").answer(.notFound)
        let number: Resource<Int> = fixture.service.resource("number")
        let bad: Resource<Int> = fixture.service.resource("bad")
        let failure = await #expect(throws: RequestFailure.self) {
            _ = try await ResourceGroup(number, bad, number).loadIfNeeded()
        }
        #expect(failure?.status == .notFound)
    }

    /// Resources whose responses arrive when the latch is opened.
    private func slow(_ latch: Latch, _ names: String...) -> [Resource<Int>] {
        names.map { name in
            fixture.transport.on(.get, "/v1/\(name)").answer { _ in
                await latch.wait()
                return ScriptedAnswer(json: 7)
            }
            return fixture.service.resource(name)
        }
    }

    @Test("Cancelling the task that loads a group ends the loads that nothing else needs")
    func groupCancelled() async throws {
        let latch = Latch()
        let items = slow(latch, "a", "b", "c")
        let task = Task { _ = try await ResourceGroup(items[0], items[1], items[2]).loadIfNeeded() }
        _ = try await fixture.transport.request(number: 3)
        let kept = items[1].startLoadIfNeeded()
        task.cancel()
        await #expect(throws: RequestFailure(.cancelled, "")) { try await task.value }
        #expect(items.map(\.isLoading) == [false, true, false])
        latch.open()
        #expect(try await kept?.content == 7)
        #expect(fixture.transport.requestCount == 3)
    }

    @Test("If one resource of a group fails, the others continue to load")
    func groupFailureBesideLoads() async throws {
        let latch = Latch()
        let item = slow(latch, "slow")[0]
        fixture.transport.on(.get, "/v1/bad").answer(.notFound)
        let bad: Resource<Int> = fixture.service.resource("bad")
        let failure = await #expect(throws: RequestFailure.self) {
            _ = try await ResourceGroup(bad, item).loadIfNeeded()
        }
        #expect(failure?.status == .notFound)
        #expect(item.isLoading)
        latch.open()
        for await state in item.states where state.content == 7 { break }
    }

    @Test("Any number of changes between two reads makes one element")
    func coalesced() async throws {
        let items = (0..<3).map { fixture.service.resource("\($0)", as: Int.self) }
        var states = ResourceGroup(items[0], items[1], items[2]).states.makeAsyncIterator()
        _ = await states.next()
        for number in 0..<1_000 { items[number % 3].override(with: number) }
        let element = try #require(await states.next())
        #expect([element.0.content, element.1.content, element.2.content] == [999, 997, 998])
        let task = Task { [fixture] in await fixture.service.close() }
        #expect(await states.next() == nil)
        await task.value
    }

    @Test("A dependent resource follows its source, and never shows content of an earlier target")
    func dependent() async throws {
        fixture.transport.on(.get, "/v1/user").answer(json: User(id: 1))
        let latch = Latch()
        fixture.transport.on(.get, "/v1/orders/1").answer(json: ["one"])
        fixture.transport.on(.get, "/v1/orders/2").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: ["two"])
        }
        let derived = Mutex(0)
        let service = fixture.service
        let orders = user.then { user in
            derived.withLock { $0 += 1 }
            return service.resource("orders", String(user.id), as: [String].self)
        }
        #expect(orders.target == nil)
        var states = orders.states(loading: .ifNeeded).makeAsyncIterator()
        var state = try #require(await states.next())
        #expect(state.content == nil && state.isLoading)
        while state.content == nil { state = try #require(await states.next()) }
        #expect(state.content == ["one"])
        let first: Resource<[String]> = service.resource("orders", "1")
        #expect(first.observerCount == 1)

        user.override(with: User(id: 2))
        state = try #require(await states.next())
        #expect(state.content == nil && state.source.content?.id == 2)
        #expect(first.observerCount == 0)
        latch.open()
        while state.content == nil { state = try #require(await states.next()) }
        #expect(state.content == ["two"])

        let calls = derived.withLock { $0 }
        user.invalidate()
        state = try #require(await states.next())
        #expect(derived.withLock { $0 } == calls)
        user.wipe()
        while state.target != nil { state = try #require(await states.next()) }
        #expect(orders.target == nil)
    }

    @Test("New content of the source with the same target keeps the observation")
    func sameTarget() async throws {
        let service = fixture.service
        let orders = user.then { _ in service.resource("orders", as: [String].self) }
        user.override(with: User(id: 1))
        service.resource("orders", as: [String].self).override(with: ["a"])
        var states = orders.states.makeAsyncIterator()
        #expect(await states.next()?.content == ["a"])
        user.override(with: User(id: 2))
        #expect(await states.next()?.content == ["a"])
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("A dependent resource loads its source and then its target, and fails with the failure of either")
    func dependentLoad() async throws {
        fixture.transport.on(.get, "/v1/user").answer(json: User(id: 1)).thenAnswer(json: User(id: 2))
            .thenAnswer(.notFound)
        fixture.transport.on(.get, "/v1/orders/1").answer(json: ["one"])
        let service = fixture.service
        let orders = user.then { user in
            user.id == 1 ? service.resource("orders", String(user.id), as: [String].self) : nil
        }
        #expect(try await orders.loadIfNeeded() == ["one"])
        try await user.load()
        #expect(try await orders.loadIfNeeded() == nil)
        user.wipe()
        await #expect(throws: RequestFailure.self) { try await orders.loadIfNeeded() }
        var states = orders.states.makeAsyncIterator()
        #expect(await states.next()?.failure?.status == .notFound)
    }

    @Test("The target of a dependent resource is not loaded with other credentials than its source")
    func dependentCredentials() async throws {
        fixture.transport.on(.get, "/v1/user").answer(json: User(id: 1))
        fixture.transport.on(.get, "/v1/orders/*").answer(json: ["one"])
        let (service, requests, next) = (fixture.service, fixture.requests, try Credentials.bearer("b"))
        requests.setAuthorization(try .bearer("a"))
        let orders = user.then { user in
            // The next account logs in when the content of the source is known.
            requests.setAuthorization(next)
            return service.resource("orders", String(user.id), as: [String].self)
        }
        await expectFailure(.authorization) { _ = try await orders.loadIfNeeded() }
        #expect(fixture.transport.requestCount == 1)
    }
}
