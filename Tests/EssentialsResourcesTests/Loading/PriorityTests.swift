import EssentialsRequests
import EssentialsTestKit
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: priority and shared exchanges", .leavesNothing)
struct PriorityTests {
    /// A service whose requests run one at a time.
    private func service(
        _ transport: ScriptedTransport, _ change: (inout HTTPDataRequestService.Configuration) -> Void
    ) throws -> HTTPResourceService {
        let environment = try ConstantEnvironment("https://h/v1/")
        var settings = HTTPDataRequestService.Configuration()
        change(&settings)
        let requests = HTTPDataRequestService(environment: environment, transport: transport, configuration: settings)
        return try HTTPResourceService(requests: requests, environment: environment)
    }

    @Test("A waiting load gets the highest priority of its requests, tasks and observers", arguments: 0..<5)
    func raised(interest: Int) async throws {
        let (transport, latch) = (ScriptedTransport(), Latch())
        transport.on(.get, "/v1/first").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 1)
        }
        for name in ["a", "b", "c"] { transport.on(.get, "/v1/\(name)").answer(json: 1) }
        let service = try service(transport) { $0.limits.concurrency = 1 }
        let first = service.resource("first", as: Int.self).startLoad()
        _ = try await transport.request(number: 1)
        let (a, b) = (service.resource("a", as: Int.self), service.resource("b", as: Int.self))
        let c: Resource<Int> = service.resource("c")
        let prefetch = service.prefetch(a, b)
        let third = c.startLoad()
        // Loads begin on the thread of the caller, so all of them wait in the queue now.
        var observation: ResourceObservation?
        var task: Task<Void, Never>?
        let object = IdleObserver()
        switch interest {
        case 0: task = Task { _ = try? await b.loadIfNeeded(priority: .interactive) }
        case 1: task = Task { _ = try? await b.loadIfNeeded() }
        case 2: observation = b.observeSynchronously { _ in }
        case 3: b.addObserver(object)
        default: _ = b.startLoadIfNeeded()
        }
        if task != nil {
            let raised = interest == 0 ? RequestPriority.interactive : .normal
            while b.core.newestLoad?.priority.value != raised { await Task.yield() }
        }
        latch.open()
        _ = try await transport.request(number: 4)
        // Loads with the same priority keep the order in which they got it.
        let order = interest == 0 ? ["first", "b", "c", "a"] : ["first", "c", "b", "a"]
        #expect(transport.requests.map(\.url.path) == order.map { "/v1/\($0)" })
        await prefetch.waitUntilCompleted()
        _ = try await (first.content, third.content)
        observation?.cancel()
        withExtendedLifetime(object) {}
        await task?.value
    }

    @Test("A load has the priority that its caller names")
    func named() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: 1)
        let item: Resource<Int> = fixture.service.resource("item")
        try await item.load(priority: .low)
        try await item.load()
        item.invalidate()
        try await item.loadIfNeeded(priority: .high)
        #expect(fixture.transport.requests.map(\.options.priority) == [.low, .normal, .high])
    }

    @Test("A load by hand shares no exchange with an older request, although the data-request service joins equal ones")
    func notJoined() async throws {
        let (transport, latch) = (ScriptedTransport(), Latch())
        transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 1)
        }
        let service = try service(transport) { $0.joins = true }
        let item: Resource<Int> = service.resource("item")
        let loads = [item.startLoad(), item.startLoad()]
        _ = try await transport.request(number: 2)
        let repeated = loads[0].repeated().start()
        _ = try await transport.request(number: 3)
        async let using = item.load(using: DataRequest(.get, "item"))
        _ = try await transport.request(number: 4)
        latch.open()
        for load in loads + [repeated] { _ = try await load.content }
        _ = try await using
        #expect(transport.requestCount == 4)
    }
}

/// An observer object that does nothing.
private final class IdleObserver: ResourceObserver {
    func resourceChanged(_ change: ResourceChange<Int>, of resource: Resource<Int>) {}
}
