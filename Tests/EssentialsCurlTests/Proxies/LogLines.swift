import EssentialsTools
import Logging

/// Keeps the logged lines.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    /// A logger of every level that writes here.
    var logger: Logger {
        var logger = Logger(label: "test", factory: { _ in Handler(lines: self) })
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(lines: LogLines) { self.lines = lines }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
        }
    }
}

/// A value that a test changes while others read it.
final class Choice: Sendable {
    private let value: Mutex<String>

    init(_ name: String) { value = Mutex(name) }

    var name: String {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
