import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Logging
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

@Suite("Log entries of resources", .leavesNothing, .timeLimit(.minutes(5)))
struct LogEntryTests {
    private struct Handler: LogHandler {
        let entries: @Sendable (_ line: String, _ metadata: String) -> Void
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        init(_ entries: @escaping @Sendable (String, String) -> Void) { self.entries = entries }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let (category, error) = (event.metadata?["category"] ?? "no category", event.metadata?["error"] ?? "")
            entries("\(event.level) \(category): \(event.message) \(error)", "\(event.metadata ?? [:])")
        }
    }

    /// Collects entries as lines.
    private final class Lines: Sendable {
        private struct State {
            var lines: [String] = []
            var taken = 0
            /// The metadata as text.
            var texts: [String] = []
        }

        private let state = Mutex(State())

        var all: [String] { state.withLock { $0.lines } }
        var texts: [String] { state.withLock { $0.texts } }

        /// The lines since the last call.
        func take() -> [String] {
            state.withLock { state in
                defer { state.taken = state.lines.count }
                return Array(state.lines[state.taken...])
            }
        }

        /// Waits until there are so many lines since the last call of ``take()``.
        func wait(count: Int) async {
            while state.withLock({ $0.lines.count - $0.taken }) < count { await Task.yield() }
        }

        var logger: Logger {
            Logger(label: "test") { _ in
                Handler { line, text in
                    self.state.withLock { state in
                        state.lines.append(line)
                        state.texts.append(text)
                    }
                }
            }
        }
    }

    private let lines = Lines()

    @Test("The first of several faults in a row of a cache is logged with its category and its error")
    func cache() async throws {
        let fixture = CacheFixture()
        let access = CacheAccess(fixture.cache, fixture.clock.requestClock, lines.logger)
        fixture.cache.fails()
        for _ in 0..<2 { _ = await access.entity(for: CacheFixture.key) }
        let read = "debug cache: An entity could not be read from a cache. Fault()"
        #expect(lines.all == [read])
        fixture.cache.fails(false)
        _ = await access.entity(for: CacheFixture.key)
        fixture.cache.fails()
        access.add(.store(fixture.entity("new")), for: CacheFixture.key)
        access.work()
        await access.flush()
        #expect(lines.all == [read, "debug cache: A change could not be written to a cache. Fault()"])
    }

    @Test("A service logs the faults of its cache, and that responses to requests with credentials are not stored")
    func service() async throws {
        let fixture = CacheFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
        fixture.cache.fails()
        let service = try fixture.service { $0.logger = lines.logger }
        try (service.requests as? HTTPDataRequestService)?.setAuthorization(.bearer("secret"))
        try await service.resource("item", as: Item.self).load()
        await service.close()
        #expect(lines.all.contains("debug cache: An entity could not be read from a cache. Fault()"))
        #expect(lines.all.contains { $0.hasPrefix("debug cache: Responses to requests with credentials") })
        #expect(!lines.all.contains { $0.contains("no category") || $0.contains("secret") })
    }

    @Test("Stages that are skipped are logged with the category of the pipeline")
    func pipeline() throws {
        let fixture = try ResourceFixture { $0.logger = lines.logger }
        try fixture.service.configure("/item") {
            $0.pipeline.order = [.raw]
            $0.pipeline.transform(at: .model) { (text: String) in text + "b" }
        }
        let item: Resource<String> = fixture.service.resource("item")
        _ = item.configuration()
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.hasPrefix("debug pipeline: Transformers of stages outside the order") == true)
    }

    @Test("Why a resource was loaded or not, and what has become of it, is logged without its query")
    func loads() async throws {
        let fixture = try ResourceFixture { $0.logger = lines.logger }
        fixture.transport.on(.get, "/v1/item").answer(json: 1, after: .seconds(1)).thenAnswer(.internalServerError)
        let item: Resource<Int> = fixture.service.resource("item", as: Int.self).withParam("secret", "x")
        #expect(lines.take() == [])
        async let first = item.loadIfNeeded()
        _ = try await fixture.transport.request(number: 1)
        async let second = item.loadIfNeeded()
        await lines.wait(count: 2)
        let began = "debug load: A resource is loaded. "
        let joined = "debug load: A resource is not loaded once more, because a load that runs is joined. "
        #expect(lines.take() == [began, joined])
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1))
        _ = try await (first, second)
        #expect(lines.take() == ["debug load: A load has ended. ", "debug load: A resource has new content. "])
        try await item.loadIfNeeded()
        #expect(lines.take() == ["debug load: A resource is not loaded, because its content is fresh. "])
        await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(lines.take() == [began, "debug load: A load has failed. "])
        try await item.loadIfNeeded()
        #expect(
            lines.take() == ["debug load: A resource is not loaded, because its last load has failed a moment ago. "])
        fixture.service.reload([item.core])
        #expect(lines.take() == ["debug load: A resource is not loaded again, because it has no observers. "])
        item.invalidate()
        item.wipe()
        let changes = ["debug load: A resource is marked as outdated. ", "debug load: A resource is wiped. "]
        #expect(lines.take() == changes)
        let nowhere: Resource<Int> = fixture.service.resource(url: nil)
        await #expect(throws: RequestFailure.self) { try await nowhere.load() }
        await fixture.service.close()
        await #expect(throws: RequestFailure.self) { try await item.load() }
        let ended = "debug load: A load has ended without a request to the server. "
        #expect(lines.take() == [began, ended, began, ended])
        #expect(!lines.texts.contains { $0.contains("secret") } && lines.texts.contains { $0.contains("freshFor") })
        #expect(lines.texts.contains { $0.contains("why") && $0.contains("missing") })
    }
}
