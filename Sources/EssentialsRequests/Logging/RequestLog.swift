import EssentialsHTTP
import EssentialsTools
import Logging

/// Identifies a request in log messages: the number of its service in the process, and its number in the service.
struct RequestID: Sendable, CustomStringConvertible {
    let service: UInt64
    let number: UInt64

    var description: String { "\(service)-\(number)" }
}

/// Writes the log messages of one request. If the logger's level is above debug when the request begins, each message
/// costs only a comparison.
struct RequestLog: Sendable {
    /// The facts that the messages of a request have in common.
    private final class Entry: Sendable {
        struct Facts {
            /// The identifier, the method and the URL.
            var metadata: Logger.Metadata
            /// The numbers of attempts and redirects, and the metrics, if a failure ends the request.
            var progress: Logger.Metadata = [:]
        }

        let settings: ServiceSettings
        let began = ContinuousClock.now
        let facts: Mutex<Facts>

        init(_ settings: ServiceSettings, _ metadata: Logger.Metadata) {
            self.settings = settings
            facts = Mutex(Facts(metadata: metadata))
        }

        var logger: Logger { settings.configuration.logger }

        /// The common metadata, and the time since the request began.
        func metadata() -> Logger.Metadata {
            var metadata = facts.withLock { $0.metadata }
            metadata["total-ms"] = "\((ContinuousClock.now - began).milliseconds)"
            return metadata
        }
    }

    /// `nil` if the logger's level was above debug when the request began.
    private let entry: Entry?

    init(_ settings: ServiceSettings, _ id: RequestID, _ method: HTTPRequest.Method) {
        entry =
            settings.configuration.logger.logLevel <= .debug
            ? Entry(settings, ["request-id": "\(id)", "method": "\(method.rawValue)"]) : nil
    }

    /// Whether messages are written.
    var isOn: Bool { entry != nil }

    /// Adds the URL of the request to the later messages.
    func prepared(_ request: TransportRequest) {
        guard let entry else { return }
        let url = entry.settings.configuration.redaction.text(of: request.url)
        entry.facts.withLock { $0.metadata["url"] = "\(url)" }
    }

    func sends(_ request: TransportRequest) {
        guard let entry else { return }
        prepared(request)
        var metadata = entry.facts.withLock { $0.metadata }
        entry.logger.debug("request", metadata: metadata)
        let configuration = entry.settings.configuration
        guard configuration.logsCommands, entry.logger.logLevel <= .trace else { return }
        metadata["command"] = "\(CurlCommand.text(of: request, configuration.redaction))"
        entry.logger.trace("request as a command", metadata: metadata)
    }

    /// Logs that an attempt has failed and another one follows.
    ///
    /// - Parameters:
    ///   - failure: The failure of the attempt.
    ///   - attempt: The number of the attempt, from 1.
    ///   - wait: The wait before the next attempt.
    ///   - budget: The units that are left in the retry budget; `nil` if the next attempt takes none.
    func retries(after failure: RequestFailure, attempt: Int, in wait: Duration, budget: Int?) {
        guard let entry else { return }
        var metadata = entry.metadata().adding(
            Self.facts(of: failure), ["attempt": "\(attempt)", "wait-ms": "\(wait.milliseconds)"])
        if let budget { metadata["budget"] = "\(budget)" }
        entry.logger.debug("request is retried", metadata: metadata)
    }

    /// Logs that the `Cookie` field has no room for some cookies.
    func leftOut(cookies count: Int) {
        guard let entry else { return }
        entry.logger.debug("cookies left out", metadata: entry.metadata().adding(["cookies": "\(count)"]))
    }

    /// Logs why cookies of a response were not stored. The reasons contain no values.
    func refused(_ refusals: [CookieRefusal]) {
        guard let entry else { return }
        let reasons = refusals.map { "\($0)" }.joined(separator: ", ")
        entry.logger.debug("cookies refused", metadata: entry.metadata().adding(["refusals": "\(reasons)"]))
    }

    func received(_ response: DataResponse, _ record: ExchangeRecord) {
        guard let entry else { return }
        let metadata = entry.metadata().adding(
            Self.counts(record), Self.facts(of: response.transportResponse, isStreamed: !response.body.isWhole))
        entry.logger.debug("response", metadata: metadata)
    }

    /// Keeps the facts that the message about a failure needs.
    func keep(_ record: ExchangeRecord) {
        guard let entry else { return }
        let facts = record.failedResponse.map { Self.facts(of: $0, isStreamed: false) } ?? [:]
        let progress = Self.counts(record).adding(facts)
        entry.facts.withLock { $0.progress = progress }
    }

    /// - Parameter failure: The failure that ended the request.
    func failed(_ failure: RequestFailure) {
        guard let entry else { return }
        let metadata = entry.metadata().adding(entry.facts.withLock { $0.progress }, Self.facts(of: failure))
        entry.logger.debug("request failed", metadata: metadata)
    }

    /// Logs the names of fields that were set in several places. The less specific values were dropped.
    func passedOver(_ names: [HTTPField.Name]) {
        guard let entry, !names.isEmpty else { return }
        var metadata = entry.facts.withLock { $0.metadata }
        metadata["fields"] = "\(names.map(\.rawName).joined(separator: ", "))"
        entry.logger.debug("header fields passed over", metadata: metadata)
    }

    // MARK: Streamed bodies

    /// Logs the end of a streamed body.
    ///
    /// - Parameters:
    ///   - metrics: The metrics of the whole exchange; `nil` if the transport has none.
    ///   - count: The number of bytes that were read, after decompression.
    func finishedBody(_ metrics: TransportMetrics?, read count: Int64) {
        guard let entry else { return }
        let metadata = entry.metadata().adding(
            ["read-bytes": "\(count)"], metrics.map { Self.times(of: $0, isWhole: true) } ?? [:])
        entry.logger.debug("response body", metadata: metadata)
    }

    /// Logs that a streamed body was released before its end.
    func droppedBody(read count: Int64) {
        guard let entry else { return }
        entry.logger.debug("response body dropped", metadata: entry.metadata().adding(["read-bytes": "\(count)"]))
    }

    /// Logs the failure of a streamed body.
    func failedBody(_ failure: RequestFailure, read count: Int64) {
        guard let entry else { return }
        let metadata = entry.metadata().adding(["read-bytes": "\(count)"], Self.facts(of: failure))
        entry.logger.debug("response body failed", metadata: metadata)
    }

    // MARK: Metadata

    private static func counts(_ record: ExchangeRecord) -> Logger.Metadata {
        var counts: Logger.Metadata = ["attempt": "\(record.attempts)", "redirects": "\(record.hops.count)"]
        if let facts = record.cacheFacts { counts["cache"] = "\(facts.use.status.text)" }
        return counts
    }

    private static func facts(of failure: RequestFailure) -> Logger.Metadata {
        var facts: Logger.Metadata = [
            "reason": "\(failure.reason)", "phase": "\(failure.phase)", "error": "\(failure.message)",
        ]
        if let status = failure.response?.head.status.code { facts["status"] = "\(status)" }
        switch failure.underlying {
        case nil: break
        case let cause as RequestFailure: facts["cause"] = "\(cause.reason)"
        case let cause as SystemError: facts["cause"] = "\(cause)"
        // The text of another error may contain secrets.
        case let cause?: facts["cause"] = "\(type(of: cause))"
        }
        return facts
    }

    private static func facts(of response: TransportResponse, isStreamed: Bool) -> Logger.Metadata {
        var facts = times(of: response.metrics, isWhole: !isStreamed)
        facts["status"] = "\(response.statusCode)"
        if response.metrics.sendings > 1 { facts["sendings"] = "\(response.metrics.sendings)" }
        let connection = response.connection
        if !connection.protocolName.isEmpty {
            facts["protocol"] = "\(connection.protocolName)"
            facts["reused"] = "\(connection.isReused)"
        }
        return facts
    }

    /// The durations of the phases that happened, and the sizes of the bodies.
    private static func times(of metrics: TransportMetrics, isWhole: Bool) -> Logger.Metadata {
        // A test double measures nothing.
        guard metrics != TransportMetrics() else { return [:] }
        var times: Logger.Metadata = [
            "queued-ms": "\(metrics.queued.milliseconds)", "sent-bytes": "\(metrics.bodyBytesSent)",
        ]
        var last = Duration.zero
        for (key, time) in [
            ("name-ms", metrics.nameResolved), ("connect-ms", metrics.connected), ("tls-ms", metrics.secured),
        ] {
            guard let time else { continue }
            times[key] = "\((time - last).milliseconds)"
            last = time
        }
        if let firstByte = metrics.firstByte {
            times["first-byte-ms"] = "\((firstByte - (metrics.requestBegan ?? last)).milliseconds)"
        }
        guard isWhole else { return times }
        times["received-bytes"] = "\(metrics.bodyBytesReceived)"
        if let firstByte = metrics.firstByte, let finished = metrics.finished {
            times["body-ms"] = "\((finished - firstByte).milliseconds)"
        }
        return times
    }
}

extension Logger.Metadata {
    /// The metadata merged with others, whose values win.
    fileprivate func adding(_ others: Logger.Metadata...) -> Logger.Metadata {
        others.reduce(self) { $0.merging($1) { $1 } }
    }
}

extension Duration {
    /// The duration in milliseconds with three decimals; zero if it is negative.
    fileprivate var milliseconds: String {
        let (seconds, attoseconds) = bounded.components
        let micros = Swift.max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        let decimals = "\(micros % 1_000)"
        return "\(micros / 1_000).\(String(repeating: "0", count: 3 - decimals.utf8.count))\(decimals)"
    }
}
