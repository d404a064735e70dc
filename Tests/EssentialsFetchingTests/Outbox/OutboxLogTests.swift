import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import Logging
import Testing

@testable import EssentialsFetching

@Suite("Log entries of an outbox", .timeLimit(.minutes(5)))
struct OutboxLogTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let (category, error) = (event.metadata?["category"] ?? "no category", event.metadata?["error"] ?? "")
            lines.add("\(event.level) \(category): \(event.message) \(error)")
        }
    }

    @Test("Problems of an outbox are logged with its category")
    func outbox() async throws {
        let fixture = try OutboxFixture()
        let lines = Lines()
        let outbox = try fixture.outbox { $0.logger = Logger(label: "outbox") { _ in Handler(lines: lines) } }
        outbox.core.log("The files of an outbox could not be changed.", RequestFailure(.resources, "The disk is full."))
        #expect(lines.all == ["debug outbox: The files of an outbox could not be changed. The disk is full."])
        await outbox.close()
        // The fixture removes the directory.
        withExtendedLifetime(fixture) {}
    }
}
