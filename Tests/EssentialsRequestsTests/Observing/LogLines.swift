import EssentialsTools
import Logging

/// The messages that a logger has written.
final class LogLines: Sendable {
    typealias Line = (level: Logger.Level, message: String, metadata: [String: String])

    private struct Handler: LogHandler {
        let lines: LogLines
        var logLevel: Logger.Level
        var metadata: Logger.Metadata = [:]
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            let shown = (event.metadata ?? [:]).mapValues { "\($0)" }
            lines.content.withLock { $0.append((event.level, "\(event.message)", shown)) }
        }
    }

    private let content = Mutex<[Line]>([])

    var all: [Line] { content.withLock { $0 } }
    var messages: [String] { all.map(\.message) }
    var text: String { "\(all)" }

    /// The metadata of the last of these messages.
    func metadata(of message: String) -> [String: String]? { all.last { $0.message == message }?.metadata }

    /// A logger that adds its messages to these.
    func logger(_ level: Logger.Level) -> Logger {
        Logger(label: "test") { _ in Handler(lines: self, logLevel: level) }
    }
}
