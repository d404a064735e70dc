import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: unobserved loads", .leavesNothing)
struct UnobservedCheckTests {
    /// A resource with a load that was started by hand and ends when the latch is opened.
    private func loading(
        _ fixture: ResourceFixture, _ latch: Latch
    ) async throws -> (Resource<Int>, ResourceRequest<Int>) {
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 7)
        }
        let item: Resource<Int> = fixture.service.resource("item")
        let load = item.startLoad()
        _ = try await fixture.transport.request(number: 1)
        return (item, load)
    }

    @Test("An unobserved load is cancelled at the end of the delay, not before")
    func cancelled() async throws {
        let (fixture, latch) = (try ResourceFixture(), Latch())
        let (item, load) = try await loading(fixture, latch)
        let check = item.cancelLoadIfUnobserved(after: .milliseconds(50))
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .milliseconds(49))
        #expect(item.isLoading)
        fixture.clock.advance(by: .milliseconds(1))
        // A task that waits for the content earlier would keep the load.
        await check.task.value
        await #expect(throws: RequestFailure(.cancelled, "")) { try await load.content }
        #expect(!item.isLoading)
        latch.open()
    }

    @Test("An observer that is added meanwhile, or a call-off, keeps the load")
    func kept() async throws {
        let (fixture, latch) = (try ResourceFixture(), Latch())
        let (item, load) = try await loading(fixture, latch)
        let check = item.cancelLoadIfUnobserved()
        await fixture.clock.waitForSleepers(count: 1)
        check.callOff()
        await check.task.value
        let observation = item.observeSynchronously { _ in }
        let second = item.cancelLoadIfUnobserved()
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1))
        await second.task.value
        #expect(item.isLoading)
        latch.open()
        #expect(try await load.content == 7)
        observation.cancel()
    }

    @Test("A load continues if a task waits for it")
    func awaited() async throws {
        let (fixture, latch) = (try ResourceFixture(), Latch())
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 7)
        }
        let item: Resource<Int> = fixture.service.resource("item")
        let waiting = Task { try await item.load() }
        _ = try await fixture.transport.request(number: 1)
        let check = item.cancelLoadIfUnobserved()
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1))
        await check.task.value
        latch.open()
        #expect(try await waiting.value == 7)
    }

    @Test("A load by hand continues as long as a task waits for the content of its request")
    func awaitedRequest() async throws {
        let (fixture, latch) = (try ResourceFixture(), Latch())
        let (item, load) = try await loading(fixture, latch)
        func waiting() -> Int? { item.core.reading { $0.machine.loads.first?.waiting } }
        let tasks = (0..<2).map { _ in Task { try await load.content } }
        while waiting() != 2 { await Task.yield() }
        await item.cancelLoadIfUnobserved(after: .zero).task.value
        item.cancelLoads()
        #expect(item.isLoading)
        tasks[0].cancel()
        await #expect(throws: RequestFailure(.cancelled, "")) { try await tasks[0].value }
        #expect(waiting() == 1)
        #expect(item.isLoading)
        // The load was started by hand, so it runs without the tasks too.
        tasks[1].cancel()
        await #expect(throws: RequestFailure(.cancelled, "")) { try await tasks[1].value }
        #expect(item.isLoading)
        await item.cancelLoadIfUnobserved(after: .zero).task.value
        #expect(!item.isLoading)
        latch.open()
    }

    @Test("The observer of a released owner does not keep the load")
    func deadOwner() async throws {
        let (fixture, latch) = (try ResourceFixture(), Latch())
        let (item, _) = try await loading(fixture, latch)
        var owner: Owner? = Owner()
        item.addObserver(Listener(EventLog()), owner: owner)
        owner = nil
        await item.cancelLoadIfUnobserved(after: .zero).task.value
        #expect(!item.isLoading)
        latch.open()
    }

    @Test("A delay of any length is accepted", arguments: [Duration.seconds(Int64.max), .seconds(Int64.min)])
    func anyDelay(delay: Duration) async throws {
        let (fixture, latch) = (try ResourceFixture(), Latch())
        let (item, _) = try await loading(fixture, latch)
        let check = item.cancelLoadIfUnobserved(after: delay)
        if delay > .zero { check.callOff() }
        await check.task.value
        #expect(item.isLoading == (delay > .zero))
        latch.open()
    }
}
