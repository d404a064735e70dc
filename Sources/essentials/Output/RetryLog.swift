import Logging
import ServiceEssentials

/// Prints each retry of a request as a line on standard error: what failed, and how long the tool waits.
struct RetryLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level = .debug

    /// A logger for a service whose requests are retried.
    static var logger: Logger { Logger(label: "essentials.retry") { _ in RetryLog() } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard event.message == "request is retried", let metadata = event.metadata else { return }
        let attempt = metadata["attempt"].map { "\($0)" } ?? "?"
        let reason = metadata["reason"].map { "\($0)" } ?? "failed"
        let status = metadata["status"].map { " \($0)" } ?? ""
        let wait = metadata["wait-ms"].map { "\($0)" } ?? "0"
        StandardStream.endLine()
        StandardStream.error.printLine(
            "retry: attempt \(attempt) failed (\(reason)\(status)); the next one follows in \(wait) ms")
    }
}
