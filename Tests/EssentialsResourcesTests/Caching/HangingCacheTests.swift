import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import Logging
import TestTools
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

@Suite("Entity caches: removals that fail", .leavesNothing, .timeLimit(.minutes(5)))
struct HangingCacheTests {
    @Test("A logout waits five seconds for a cache that does not respond, and its entities are not found any more")
    func logout() async throws {
        let (fixture, latch) = (CacheFixture(), Latch())
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada")).thenAnswer(.internalServerError)
        let service = try fixture.service()
        let requests = try #require(service.requests as? HTTPDataRequestService)
        requests.setAuthorization(try .bearer("a"))
        service.enter("ada")
        try await service.resource("item", as: Item.self).load()
        await fixture.cache.waitForCalls(2)
        fixture.cache.stalls(latch)
        let isDone = Mutex(false)
        let logout = Task {
            await requests.clearAuthorization()
            isDone.withLock { $0 = true }
        }
        await fixture.cache.waitForCalls(3)
        // The data-request service and the resource service each wait for at most five seconds.
        await fixture.clock.waitForSleepers(count: 2)
        fixture.clock.advance(by: .milliseconds(4_999))
        #expect(!isDone.withLock { $0 })
        fixture.clock.advance(by: .milliseconds(1))
        await logout.value
        #expect(service.cacheProblems.readableAfterRestart == ["CacheDouble"])
        service.dropUnused()
        service.enter("ada")
        await expectFailure(.status) { try await service.resource("item", as: Item.self).loadIfNeeded() }
        latch.open()
        await service.close()
        #expect(fixture.cache.entities.isEmpty)
        #expect(service.cacheProblems.readableAfterRestart.isEmpty)
    }

    @Test("A wipe that purges returns false after five seconds if a cache does not respond")
    func wipe() async throws {
        let (fixture, latch) = (CacheFixture(), Latch())
        let service = try fixture.service()
        fixture.cache.stalls(latch)
        let wipe = Task { try await service.wipe(.all, purging: .caches) }
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(5))
        #expect(try await wipe.value == false)
        latch.open()
        await service.close()
    }

    @Test("A wipe that purges returns false at once if a cache fails, and the entity is not found, even after a flush")
    func failing() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("old"), for: CacheFixture.key)
        fixture.cache.fails()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "new"))
        let service = try fixture.service()
        #expect(try await service.wipe(.all, purging: .caches) == false)
        let access = service.caching.access(to: fixture.cache)
        await access.flush()
        fixture.cache.fails(false)
        #expect(await access.entity(for: CacheFixture.key) == nil)
        #expect(service.cacheProblems.readableAfterRestart == ["CacheDouble"])
        await service.close()
        #expect(fixture.cache.entities.isEmpty)
    }

    // MARK: Files

    private func entity() -> StoredEntity {
        StoredEntity(body: Data("x".utf8), date: Date(timeIntervalSinceReferenceDate: 0))
    }

    private func key(_ name: String, _ partition: EntityPartition = "ada") -> EntityKey {
        EntityKey(url: "https://h/\(name)", stage: "decoding", partition: partition)
    }

    /// Calls that cannot remove one file.
    private func calls(keeping key: EntityKey, writing: Bool = true) -> FileCalls {
        let name = CacheDirectory.name(of: key)
        var calls = FileCalls.system
        let (unlink, write) = (calls.unlink, calls.write)
        calls.unlink = { $0.hasSuffix(name) ? EPERM : unlink($0) }
        calls.write = { writing ? write($0, $1) : -Int(ENOSPC) }
        return calls
    }

    @Test("A file that cannot be removed affects no other, and no process finds it, even after a restart")
    func oneFile() async throws {
        let directory = CacheDirectory()
        for number in 1...3 { try await directory.cache().store(entity(), for: key("\(number)")) }
        try await directory.cache().store(entity(), for: key("1", "bob"))
        let other = try directory.cache()
        #expect(try await other.entity(for: key("2")) != nil)
        let cache = try directory.cache(calls: calls(keeping: key("2")))
        let failure = await #expect(throws: RequestFailure.self) {
            try await cache.removeAll(in: EntityScope(partition: "ada"))
        }
        #expect((failure?.underlying as? SystemError)?.code == EPERM)
        #expect(directory.names.count == 2)
        #expect(try directory.isRemovalUnfinished)
        for cache in [cache, other, try directory.cache(calls: calls(keeping: key("2")))] {
            #expect(try await cache.entity(for: key("2")) == nil)
            #expect(try await cache.entity(for: key("1", "bob")) != nil)
        }
        #expect(cache.hasNotedRemovals)
        // A later start removes it, and then a newly stored entity is found.
        let again = try directory.cache()
        #expect(try await again.entity(for: key("2")) == nil)
        #expect(directory.names == [CacheDirectory.name(of: key("1", "bob"))])
        try await again.store(entity(), for: key("2"))
        for cache in [cache, other, again] { #expect(try await cache.entity(for: key("2")) != nil) }
    }

    @Test("An entity that is stored in place of one that could not be removed is found")
    func replaced() async throws {
        let directory = CacheDirectory()
        let cache = try directory.cache(calls: calls(keeping: key("1")))
        try await cache.store(entity(), for: key("1"))
        await #expect(throws: RequestFailure.self) { try await cache.remove(key("1")) }
        #expect(try await cache.entity(for: key("1")) == nil)
        try await cache.store(entity(), for: key("1"))
        #expect(try await cache.entity(for: key("1")) != nil)
        #expect(directory.names.count == 1)
    }

    @Test("A scope with a condition reads only the keys, and removes only the entities that it contains")
    func condition() async throws {
        let directory = CacheDirectory()
        let cache = try directory.cache()
        for name in ["a", "b"] { try await cache.store(entity(), for: key(name)) }
        try await cache.removeAll(in: EntityScope(matching: { $0.url.hasSuffix("a") }))
        #expect(directory.names == [CacheDirectory.name(of: key("b"))])
        #expect(try await cache.entity(for: key("b")) != nil)
    }

    @Test("A store that can neither remove entities nor record the removal is named as readable after a restart")
    func readable() async throws {
        let (fixture, directory) = (CacheFixture(), CacheDirectory())
        let resource = EntityKey(url: "https://h/v1/item", stage: "decoding", partition: "ada")
        try await directory.cache().store(fixture.entity("old"), for: resource)
        for writing in [true, false] {
            let cache = try directory.cache(calls: calls(keeping: resource, writing: writing))
            let fixture = try ResourceFixture(cache: cache)
            fixture.service.enter("ada")
            #expect(try await fixture.service.wipe(.all, purging: .caches) == false)
            #expect(fixture.service.cacheProblems.readableAfterRestart == (writing ? [] : [directory.path]))
            fixture.transport.on(.get, "/v1/item").answer(.internalServerError)
            await expectFailure(.status) {
                try await fixture.service.resource("item", as: Item.self).loadIfNeeded()
            }
            await fixture.service.close()
            try? FileManager.default.removeItem(atPath: directory.path + "/" + CacheDirectory.removals)
        }
        #expect(try await directory.cache().entity(for: resource) != nil)
    }

    /// Records that the entities of a partition are to be removed, as a process does before it removes the first one.
    private func beginRemoval(of partition: EntityPartition, in directory: CacheDirectory) throws {
        var removals = RecordRemovals()
        removals.begin(RecordScope(EntityScope(partition: partition)), isWhole: true)
        try directory.write(Data(removals.bytes), CacheDirectory.removals)
    }

    @Test("Damaged records of removals hide all earlier entities, and no entity that is stored afterwards")
    func damagedNotes() async throws {
        let directory = CacheDirectory()
        try await directory.cache().store(entity(), for: key("1"))
        try directory.write(Data("damaged".utf8), CacheDirectory.removals)
        let cache = try directory.cache()
        #expect(try await cache.entity(for: key("1")) == nil)
        #expect(directory.names == [])
        try await cache.store(entity(), for: key("1"))
        for cache in [cache, try directory.cache()] { #expect(try await cache.entity(for: key("1")) != nil) }
    }

    @Test("The next start finishes the removal of a process that was killed between two files")
    func killed() async throws {
        let directory = CacheDirectory()
        try await directory.cache().store(entity(), for: key("1"))
        try await directory.cache().store(entity(), for: key("1", "bob"))
        try beginRemoval(of: "ada", in: directory)
        let cache = try directory.cache()
        #expect(try await cache.entity(for: key("1")) == nil)
        #expect(directory.names == [CacheDirectory.name(of: key("1", "bob"))])
    }

    @Test("All tasks that wait for one removal are resumed")
    func waiters() async {
        let clock = ManualClock()
        let removal = EntityRemoval(1, clock.requestClock)
        let waiters = (0..<3).map { _ in Task { await removal.isDone() } }
        await clock.waitForSleepers(count: 3)
        for _ in 0..<100 { await Task.yield() }
        removal.end(isDone: true)
        for waiter in waiters { #expect(await waiter.value) }
    }

    @Test("A file that cannot be removed neither pauses the cache nor prevents it from storing for any account")
    func usable() async throws {
        let (fixture, directory) = (CacheFixture(), CacheDirectory())
        let cache = try directory.cache(calls: calls(keeping: key("2")))
        for number in 1...3 { try await cache.store(entity(), for: key("\(number)")) }
        let access = CacheAccess(cache, fixture.clock.requestClock, Logger(label: "test"))
        for _ in 0..<4 { #expect(await !access.removeAll(in: EntityScope(partition: "ada"))) }
        for stored in [key("1"), key("1", "bob")] { access.add(.store(entity()), for: stored) }
        access.work()
        await settled { access.isIdle }
        #expect(access.problems.resting == 0 && access.problems.count == 4)
        #expect(access.problems.readableAfterRestart == [])
        for stored in [key("1"), key("1", "bob")] {
            #expect(await access.entity(for: stored) != nil)
            #expect(try await directory.cache(calls: calls(keeping: key("2"))).entity(for: stored) != nil)
        }
        for removed in [key("2"), key("3")] { #expect(await access.entity(for: removed) == nil) }
    }

    /// How many attempts to remove a file fail.
    private final class Attempts: Sendable {
        let count = Mutex(2)
    }

    @Test("A removal that has failed is tried again with the next removal of any account")
    func again() async throws {
        let (directory, left) = (CacheDirectory(), Attempts())
        let name = CacheDirectory.name(of: key("2"))
        var calls = FileCalls.system
        let unlink = calls.unlink
        // The first two attempts fail.
        calls.unlink = { path in
            let fails =
                path.hasSuffix(name)
                && left.count.withLock { left in
                    defer { left = max(left - 1, 0) }
                    return left > 0
                }
            return fails ? EPERM : unlink(path)
        }
        let cache = try directory.cache(calls: calls)
        try await cache.store(entity(), for: key("2"))
        await #expect(throws: RequestFailure.self) { try await cache.removeAll(in: EntityScope(partition: "ada")) }
        try await cache.removeAll(in: EntityScope(partition: "bob"))
        #expect(directory.names == [name])
        #expect(try directory.isRemovalUnfinished)
        try await cache.removeAll(in: EntityScope(partition: "bob"))
        #expect(directory.names == [])
        #expect(try !directory.isRemovalUnfinished)
    }

    @Test("A removal ends the records of all scopes that could not be listed before")
    func unlisted() async throws {
        let directory = CacheDirectory()
        let cache = try directory.cache()
        try await cache.store(entity(), for: key("1"))
        try beginRemoval(of: "ada", in: directory)
        #expect(try await cache.entity(for: key("1")) == nil)
        // The union of the waiting removals has neither this partition nor this origin.
        try await cache.removeAll(in: EntityScope(matching: { $0.partition == "ada" || $0.partition == "bob" }))
        #expect(directory.names == [])
        try await cache.store(entity(), for: key("1"))
        for cache in [cache, try directory.cache()] { #expect(try await cache.entity(for: key("1")) != nil) }
    }

    @Test("A new entity is found for an account whose earlier entities could not be listed")
    func storedAfterUnlisted() async throws {
        let directory = CacheDirectory()
        let cache = try directory.cache()
        try await cache.store(entity(), for: key("1"))
        try beginRemoval(of: "ada", in: directory)
        #expect(try await cache.entity(for: key("1")) == nil)
        try await cache.store(entity(), for: key("2"))
        for cache in [cache, try directory.cache()] {
            #expect(try await cache.entity(for: key("2")) != nil)
            #expect(try await cache.entity(for: key("1")) == nil)
        }
    }

    @Test("Two processes that record removals at the same time lose no record of each other")
    func twoNotes() async throws {
        let directory = CacheDirectory()
        var calls = FileCalls.system
        calls.unlink = { $0.hasSuffix(".record") ? EPERM : FileCalls.system.unlink($0) }
        for number in 0..<60 { try await directory.cache().store(entity(), for: key("\(number)")) }
        let caches = [try directory.cache(calls: calls), try directory.cache(calls: calls)]
        await withTaskGroup(of: Void.self) { group in
            for (cache, part) in zip(caches, [0..<30, 30..<60]) {
                group.addTask { [self] in
                    for number in part {
                        await #expect(throws: RequestFailure.self) { try await cache.remove(key("\(number)")) }
                    }
                    #expect(cache.hasNotedRemovals)
                }
            }
        }
        #expect(directory.names.count == 60)
        let next = try directory.cache(calls: calls)
        for number in 0..<60 { #expect(try await next.entity(for: key("\(number)")) == nil) }
    }
}
