import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsResources

/// A resource by path, a resource by whole URL, and a change of the environment that merges them.
private struct MergingFixture {
    let fixture: ResourceFixture
    let path: Resource<Item>
    let whole: Resource<Item>

    init() throws {
        fixture = try ResourceFixture()
        path = fixture.service.resource("item")
        whole = fixture.service.resource(url: "https://new/v2/item")
    }

    func switchBase(to url: String = "https://new/v2/") throws {
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL(url)))
        fixture.service.adoptEnvironment()
    }
}

@Suite("Resources that are merged by a change of the environment", .leavesNothing)
struct MergingTests {
    @Test("A whole URL that now lies below the base refers to the resource of the path, even for earlier handles")
    func handles() async throws {
        let merging = try MergingFixture()
        let (service, path, whole) = (merging.fixture.service, merging.path, merging.whole)
        whole.override(with: Item(name: "foreign"))
        #expect(service.resourceCount == 2)
        try merging.switchBase()
        #expect(service.resourceCount == 1)
        #expect(service.resource(url: "https://new/v2/item", as: Item.self) == path)
        #expect(whole.url == "https://new/v2/item" && path.url == whole.url)
        #expect(whole.content == nil && !whole.isFresh)
        whole.override(with: Item(name: "a"))
        #expect(path.content?.name == "a" && path.isFresh && whole.isFresh)
        #expect(path.update { $0.name += "b" })
        #expect(whole.content?.name == "ab" && whole.state.version == path.state.version)
        whole.invalidate()
        #expect(path.isInvalid && whole.isInvalid)
        #expect(whole.resource(as: String.self).state.version == path.state.version)
        #expect(whole.any.url == path.url && whole.description == path.description)
        whole.wipe()
        #expect(path.content == nil)
        // The resource lies below the base from now on.
        try merging.switchBase(to: "https://newer/v3/")
        #expect(whole.url == "https://newer/v3/item")
        #expect(whole.child("x", as: Item.self) == path.child("x", as: Item.self))
        let other: Resource<Item> = service.resource(url: "https://new/v2/item")
        #expect(other != path && other.core !== whole.core)
    }

    @Test("Observers of both see one sequence with rising versions, in which the moved ones receive attached")
    func observers() async throws {
        let merging = try MergingFixture()
        let (path, whole) = (merging.path, merging.whole)
        let (first, second) = (EventLog(), EventLog())
        for _ in 0..<20 { whole.invalidate() }
        let observations = [
            whole.observeSynchronously { first.add($0.event, $0.state.version) },
            path.observeSynchronously { second.add($0.event, $0.state.version) },
        ]
        var states = whole.states().makeAsyncIterator()
        #expect(await states.next()?.version == 20)
        try merging.switchBase()
        await first.waitFor(count: 3)
        path.override(with: Item(name: "a"))
        whole.invalidate()
        await first.waitFor(count: 5)
        await second.waitFor(count: 4)
        #expect(
            first.events == [.attached, .wiped(.environment), .attached, .newContent(.local), .invalidated])
        #expect(second.events == [.attached, .wiped(.environment), .newContent(.local), .invalidated])
        #expect(zip(first.versions, first.versions.dropFirst()).allSatisfy { $0 < $1 })
        #expect(zip(second.versions, second.versions.dropFirst()).allSatisfy { $0 < $1 })
        #expect(first.versions.suffix(2) == second.versions.suffix(2))
        while let state = await states.next(), state.content?.name != "a" || !state.isInvalid {}
        #expect(path.observerCount == 3 && whole.observerCount == 3)
        for observation in observations { observation.cancel() }
        #expect(path.observerCount == 1)
        path.override(with: Item(name: "b"))
        #expect(first.events.count == 5 && second.events.count == 4)
    }

    @Test("Loads of both are cancelled, and one request then serves both; observed resources are loaded again")
    func loads() async throws {
        let merging = try MergingFixture()
        let (fixture, path, whole) = (merging.fixture, merging.path, merging.whole)
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "old"))
        }
        fixture.transport.on(.get, "/v2/item").answer(json: Item(name: "new"))
        whole.override(with: Item(name: "foreign"))
        let observation = whole.observeSynchronously { _ in }
        let load = path.startLoad()
        let options = LoadOptions(
            .current, of: whole.core, fixture.service, in: fixture.service.adoptEnvironment())
        let foreign = whole.core.beginLoad(options, fixture.service, isAwaited: true)
        _ = try await fixture.transport.request(number: 1)
        try merging.switchBase()
        latch.open()
        await #expect(throws: RequestFailure(.cancelled, "The load was cancelled.")) { try await load.content }
        #expect(foreign.hasEnded)
        #expect(try await whole.loadIfNeeded().name == "new")
        #expect(path.content?.name == "new")
        #expect(try await path.loadIfNeeded().name == "new")
        #expect(fixture.transport.requests.map(\.url.path) == ["/v1/item", "/v2/item"])
        observation.cancel()
    }

    @Test("Changes in delivery do not reach further observers after the environment was left")
    func delivery() async throws {
        let merging = try MergingFixture()
        let (path, whole) = (merging.path, merging.whole)
        let log = Mutex<[(event: ResourceEvent, name: String?)]>([])
        let first = whole.observeSynchronously { change in
            guard change.state.content?.name == "foreign" else { return }
            // The change of the environment happens in the middle of a delivery.
            try? merging.switchBase()
            path.override(with: Item(name: "a"))
            whole.invalidate()
        }
        let second = whole.observeSynchronously { change in
            log.withLock { $0.append((change.event, change.state.content?.name)) }
        }
        whole.override(with: Item(name: "foreign"))
        while log.withLock({ $0.count }) < 3 { await Task.yield() }
        // The resource is loaded again afterwards.
        let seen = log.withLock { $0.prefix(3) }
        #expect(seen.map(\.event) == [.attached, .wiped(.environment), .attached])
        #expect(seen.map(\.name) == [nil, nil, "a"])
        #expect(whole.observerCount == 2 && path.content?.name == "a")
        first.cancel()
        second.cancel()
        #expect(path.observerCount == 0)
    }

    @Test("Observer objects follow, and are removed by token, by owner, and with their owner")
    func owners() async throws {
        final class Owner: Sendable {}
        final class Counter: ResourceObserver {
            let log = EventLog()
            let url = Mutex<String?>(nil)

            func resourceChanged(_ change: ResourceChange<Item>, of resource: Resource<Item>) {
                url.withLock { $0 = resource.url }
                log.add(change.event, change.state.version)
            }
            func stoppedObserving(_ resource: Resource<Item>) { log.addStop() }
        }
        let merging = try MergingFixture()
        let (path, whole) = (merging.path, merging.whole)
        let (byToken, byOwner, owned) = (Counter(), Counter(), Counter())
        let owner = Owner()
        var last: Owner? = Owner()
        let token = whole.addObserver(byToken)
        whole.addObserver(byOwner, owner: owner)
        if let last { whole.addObserver(owned, owner: last) }
        try merging.switchBase()
        await byToken.log.waitFor(count: 3)
        path.override(with: Item(name: "a"))
        for counter in [byToken, byOwner, owned] {
            await counter.log.waitFor(count: 4)
            #expect(counter.log.events == [.attached, .wiped(.environment), .attached, .newContent(.local)])
        }
        #expect(byToken.url.withLock { $0 } == path.url)
        // An observer that is added again, now by the other handle, still receives each change once.
        #expect(path.addObserver(byToken) == token)
        #expect(path.observerCount == 3)
        token.remove()
        #expect(path.observerCount == 2 && byToken.log.stops == 1)
        path.removeObservers(ownedBy: owner)
        #expect(path.observerCount == 1 && byOwner.log.stops == 1)
        last = nil
        #expect(path.observerCount == 0 && owned.log.stops == 1)
        path.override(with: Item(name: "b"))
        #expect(byToken.log.events.count == 4)
    }

    @Test("A write continues, is listed by the resource that stays, and does not change the state")
    func writes() async throws {
        let fixture = try ResourceFixture(open: nil) { $0.foreignHosts = [.init("h", sendsCredentials: true)] }
        let (path, whole): (Resource<Item>, Resource<Item>) = (
            fixture.service.resource("item"), fixture.service.resource(url: "https://h/v2/item")
        )
        let latch = Latch()
        fixture.transport.on(.put, "/v2/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "written"))
        }
        let write = Task { try await whole.put(Item(name: "w")) }
        _ = try await fixture.transport.request(number: 1)
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
        #expect(fixture.service.resource(url: "https://h/v2/item", as: Item.self) == path)
        path.override(with: Item(name: "a"))
        #expect(path.runningRequests.map(\.method) == [.put])
        latch.open()
        _ = try await write.value
        #expect(path.content?.name == "a" && whole.content?.name == "a")
        #expect(path.runningRequests.isEmpty)
    }

    @Test("The interval of a moved observer continues, and ends with the observer")
    func polling() async throws {
        let merging = try MergingFixture()
        let (fixture, path, whole) = (merging.fixture, merging.path, merging.whole)
        fixture.transport.on(.get, "/v2/item").answer(json: Item(name: "new"))
        let observation = whole.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        try merging.switchBase()
        while path.observerCount == 0 { await Task.yield() }
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(5))
        _ = try await fixture.transport.request(number: 1)
        while path.content == nil { await Task.yield() }
        observation.cancel()
        #expect(path.observerCount == 0)
    }

    @Test("A resource that has replaced another one can be replaced itself, and all handles lead to the last one")
    func chain() async throws {
        let fixture = try ResourceFixture(base: "https://a/v1?k=1")
        let service = fixture.service
        let path: Resource<Item> = service.resource("item")
        // It lies below the base without its query, which the base after the next one does not have.
        let bare: Resource<Item> = service.resource(url: "https://a/v1/item")
        let foreign: Resource<Item> = service.resource(url: "https://b/v2/item")
        let log = EventLog()
        let observation = foreign.observeSynchronously { log.add($0.event, $0.state.version) }
        for base in ["https://b/v2?k=2", "https://c/v3/"] {
            fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL(base)))
            service.adoptEnvironment()
            while service.resource(url: bare.url, as: Item.self).observerCount == 0 { await Task.yield() }
        }
        #expect(service.resourceCount == 1)
        #expect(foreign.core === path.core && bare.core === path.core)
        #expect(foreign.handle !== foreign.core && foreign.url == "https://c/v3/item")
        path.override(with: Item(name: "a"))
        #expect(foreign.content?.name == "a" && bare.content?.name == "a")
        await log.waitFor(version: path.state.version)
        #expect(
            log.events == [
                .attached, .wiped(.environment), .attached, .wiped(.environment), .attached, .newContent(.local),
            ])
        #expect(zip(log.versions, log.versions.dropFirst()).allSatisfy { $0 < $1 })
        observation.cancel()
        #expect(path.observerCount == 0)
    }

    @Test("Tasks that use both handles during changes lose no observer, and versions only rise")
    func concurrency() async throws {
        let merging = try MergingFixture()
        let (fixture, service) = (merging.fixture, merging.fixture.service)
        for number in 1...3 { fixture.transport.on(.get, "/v\(number)/*").answer(json: Item(name: "\(number)")) }
        let logs = (0..<2).map { _ in EventLog() }
        let observations = [merging.path, merging.whole].enumerated().map { index, resource in
            resource.observeSynchronously { logs[index].add($0.event, $0.state.version) }
        }
        try await withThrowingTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<60 {
                        let urls = ["https://new/v2/item", "https://newer/v3/item", "https://h/v1/item"]
                        let item: Resource<Item> =
                            task.isMultiple(of: 2)
                            ? service.resource("item") : service.resource(url: urls[number % 3])
                        let own = item.observeSynchronously { _ in }
                        item.override(with: Item(name: "\(number)"))
                        if number.isMultiple(of: 5) { _ = try? await item.load() }
                        if number.isMultiple(of: 7) { for await _ in item.states() { break } }
                        _ = (item.content, item.isLoading, item.isFresh, merging.whole.content)
                        own.cancel()
                    }
                }
            }
            group.addTask {
                for number in 0..<60 {
                    let base = ["https://new/v2/", "https://newer/v3/", "https://h/v1/"][number % 3]
                    try merging.switchBase(to: base)
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
        try merging.switchBase(to: "https://new/v2/")
        let last: Resource<Item> = service.resource("item")
        while last.observerCount < 2 { await Task.yield() }
        last.override(with: Item(name: "last"))
        #expect(merging.whole.content?.name == "last" && merging.path.content?.name == "last")
        for log in logs {
            await log.waitFor(version: last.state.version)
            #expect(zip(log.versions, log.versions.dropFirst()).allSatisfy { $0 < $1 })
        }
        for observation in observations { observation.cancel() }
        #expect(last.observerCount == 0)
    }

    /// Content whose first decoding begins by calling a closure.
    private struct Interrupted: Codable, Sendable {
        static let interruption = Mutex<(@Sendable () -> Void)?>(nil)
        var name: String

        init(from decoder: any Decoder) throws {
            let interruption = Self.interruption.withLock { interruption in
                defer { interruption = nil }
                return interruption
            }
            interruption?()
            name = try decoder.singleValueContainer().decode(String.self)
        }
    }

    @Test("A resource can be merged with another one while the response to its load is being decoded")
    func whileDecoding() async throws {
        let fixture = try ResourceFixture { $0.foreignHosts = [.init("h", sendsCredentials: true)] }
        fixture.transport.on(.get, "/v2/*").answer(json: "Ada")
        let service = fixture.service
        let path: Resource<Interrupted> = service.resource("item")
        let whole: Resource<Interrupted> = service.resource(url: "https://h/v2/item")
        let base = try RequestURL("https://h/v2/")
        Interrupted.interruption.withLock { interruption in
            interruption = {
                fixture.environment.set(EnvironmentSnapshot(baseURL: base))
                service.adoptEnvironment()
            }
        }
        _ = try? await whole.load()
        #expect(service.resourceCount == 1 && path.url == whole.url && path.content == nil)
        #expect(try await whole.loadIfNeeded().name == "Ada")
        #expect(path.content?.name == "Ada")
    }
}
