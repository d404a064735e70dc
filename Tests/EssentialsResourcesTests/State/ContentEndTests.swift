import Dispatch
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import Testing

@testable import EssentialsResources

/// Calls a closure when it is released, as a content, or an object that a closure holds, may do.
private final class Ending: Sendable {
    private let atEnd: @Sendable () -> Void

    init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }

    deinit { atEnd() }
}

@Suite("Resource: the end of content", .leavesNothing, .timeLimit(.minutes(5)))
struct ContentEndTests {
    /// The causes that replace the content.
    enum Cause: String, CaseIterable {
        case override, update, wipe, wipeOfAll, load, deletion, refusedChange, acceptedChange
        case environment, merging, partition, authorization

        /// The contents that are released.
        var ended: [String] {
            switch self {
            case .refusedChange: ["second"]
            // The change is made again on the content of the server.
            case .acceptedChange, .merging: ["first", "second"]
            default: ["first"]
            }
        }
    }

    @Test(
        "Content that uses its resource and its service when it is replaced causes no deadlock",
        arguments: Cause.allCases)
    func replaced(cause: Cause) async throws {
        let fixture = try ResourceFixture()
        let journal = Journal()
        let content: Resource<Ending> = fixture.service.resource("content")
        content.override(with: ending("first", fixture.service, journal))
        #expect(journal.all == [])
        try await replace(content, cause, fixture, journal)
        // The task that follows the environment may be the one that has replaced it.
        await settled { journal.all.count >= cause.ended.count }
        #expect(journal.all.sorted() == cause.ended)
        #expect(fixture.service.resource("other", as: Item.self).content != nil)
        // The content that is left holds the service.
        content.wipe()
    }

    /// Content that takes the locks of its resource, of another one and of the table when it is released.
    private func ending(_ name: String, _ service: HTTPResourceService, _ journal: Journal) -> Ending {
        Ending {
            service.resource("content", as: Ending.self).invalidate()
            service.resource("other", as: Item.self).override(with: Item(name: name))
            journal.add(name)
        }
    }

    private func replace(
        _ content: Resource<Ending>, _ cause: Cause, _ fixture: ResourceFixture, _ journal: Journal
    ) async throws {
        let (service, transport) = (fixture.service, fixture.transport)
        switch cause {
        case .override: content.override(with: ending("second", service, journal))
        case .update: content.update { $0 = ending("second", service, journal) }
        case .wipe: content.wipe()
        case .wipeOfAll: try service.wipe(.all)
        case .load:
            transport.on(.get, "/v1/content").answer(json: Item(name: "loaded"))
            try await content.resource(as: Item.self).load()
        case .deletion:
            transport.on(.delete, "/v1/content").answer(.noContent)
            try await content.delete()
        case .refusedChange:
            transport.on(.patch, "/v1/content").answer(.conflict)
            await expectFailure(.status) {
                try await content.patch("x", optimistically: { $0 = ending("second", service, journal) })
            }
        case .acceptedChange:
            transport.on(.patch, "/v1/content").answer(.noContent)
            try await content.patch("x", optimistically: { $0 = ending("second", service, journal) })
        case .environment, .merging:
            if cause == .merging {
                let whole: Resource<Ending> = service.resource(url: "https://h/v2/content")
                whole.override(with: ending("second", service, journal))
            }
            fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
            // A look-up adopts the new environment.
            let url = service.resource("content", as: Ending.self).url
            #expect(content.url == url)
        case .partition: service.enter("ada")
        case .authorization: await fixture.requests.clearAuthorization()
        }
    }

    @Test("Content that ends its observation when a full queue of changes drops it causes no deadlock")
    func fullQueue() throws {
        let fixture = try ResourceFixture()
        let item: Resource<Ending> = fixture.service.resource("item")
        let queue = DispatchQueue(label: "test")
        queue.suspend()
        let (observations, journal) = (ResourceObservations(), Journal())
        item.observe(on: queue) { _ in }.store(in: observations)
        for number in 1...1_024 {
            #expect(journal.all == [])
            item.override(
                with: Ending {
                    observations.cancelAll()
                    journal.add("\(number)")
                })
        }
        // The last one is still the content. The one before was dropped, and has ended the observation and its queue.
        #expect(journal.all.count == 1_023)
        #expect(item.observerCount == 0)
        queue.resume()
        queue.sync {}
        item.wipe()
        #expect(journal.all.last == "1024")
    }

    @Test("Objects in the closure of a removed block may use the configuration when they are released")
    func block() throws {
        let fixture = try ResourceFixture()
        let (service, journal) = (fixture.service, Journal())
        let item: Resource<Item> = service.resource("item")
        let block = try addBlock(to: service, journal) { _, _ in }
        _ = item.configuration()
        #expect(journal.all == [])
        block.remove()
        #expect(journal.all == ["ended"])
    }

    @Test("Objects in the decorator of a removed block may use its resource when they are released")
    func decorator() throws {
        let fixture = try ResourceFixture()
        let (service, journal) = (fixture.service, Journal())
        let item: Resource<Item> = service.resource("item")
        let block = try addBlock(to: service, journal) { configuration, ending in
            configuration.decorate { call, next in
                withExtendedLifetime(ending) {}
                return try await next(call.request)
            }
        }
        #expect(item.configuration().decorators.count == 1)
        block.remove()
        #expect(journal.all == [])
        #expect(item.configuration().decorators.isEmpty)
        #expect(journal.all == ["ended"])
    }

    /// Adds a block whose closure holds an object that uses the service when it is released.
    private func addBlock(
        to service: HTTPResourceService, _ journal: Journal,
        _ change: @escaping @Sendable (inout ResourceConfiguration, Ending) -> Void
    ) throws -> ConfigurationBlock {
        let ending = Ending {
            service.reconfigure()
            _ = service.resource("item", as: Item.self).configuration()
            journal.add("ended")
        }
        return try service.configure("/item") { change(&$0, ending) }
    }
}
