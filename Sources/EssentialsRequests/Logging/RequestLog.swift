import EssentialsHTTP
import Logging

/// Writes the log messages of requests.
///
/// Its messages and keys are the same as ever, so that programs can search for them.
struct RequestLog: RequestObserver {
    let logger: Logger
    /// Whether the level trace shows each request as a command.
    let writesCommands: Bool

    init(_ logger: Logger, writesCommands: Bool) { (self.logger, self.writesCommands) = (logger, writesCommands) }

    /// Whether a service has messages for its logger.
    @inline(__always)
    static func isWanted(by logger: Logger) -> Bool { logger.logLevel <= .debug }

    func observe(_ event: RequestEvent) {
        switch event.kind {
        case .passedOver(let names):
            let fields = names.map(\.rawName).joined(separator: ", ")
            logger.debug("header fields passed over", metadata: common(event).adding(["fields": "\(fields)"]))
        case .prepared(let request): prepared(request, common(event))
        case .retrying(let retry):
            var metadata = timed(event).adding(
                Self.facts(of: retry.failure),
                ["attempt": "\(retry.attempt)", "wait-ms": "\(retry.wait.milliseconds)"])
            if let budget = retry.budget { metadata["budget"] = "\(budget)" }
            logger.debug("request is retried", metadata: metadata)
        case .cookiesLeftOut(let count):
            logger.debug("cookies left out", metadata: timed(event).adding(["cookies": "\(count)"]))
        case .cookiesRefused(let refusals):
            // The reasons contain no values.
            let reasons = refusals.map { "\($0)" }.joined(separator: ", ")
            logger.debug("cookies refused", metadata: timed(event).adding(["refusals": "\(reasons)"]))
        case .received(let reception):
            let counts = Self.counts(reception.attempts, reception.redirects, reception.cache)
            logger.debug("response", metadata: timed(event).adding(counts, Self.facts(of: reception.response)))
        case .ended(let ending): ended(ending, timed(event))
        default: break
        }
    }

    private func prepared(_ request: ObservedRequest, _ common: Logger.Metadata) {
        logger.debug("request", metadata: common)
        guard writesCommands, logger.logLevel <= .trace else { return }
        logger.trace("request as a command", metadata: common.adding(["command": "\(request.curlCommand)"]))
    }

    private func ended(_ ending: RequestEvent.Ending, _ metadata: Logger.Metadata) {
        guard let count = ending.bytesRead else {
            // The end of a whole response is that of its head.
            guard let failure = ending.failure else { return }
            let progress = ending.progress.map { progress in
                Self.counts(progress.attempts, progress.redirects, progress.cache)
                    .adding(progress.response.map { Self.facts(of: $0) } ?? [:])
            }
            logger.debug("request failed", metadata: metadata.adding(progress ?? [:], Self.facts(of: failure)))
            return
        }
        let read: Logger.Metadata = ["read-bytes": "\(count)"]
        switch ending.outcome {
        case .completed:
            let times = ending.metrics.map { Self.times(of: $0, isWhole: true) } ?? [:]
            logger.debug("response body", metadata: metadata.adding(read, times))
        case .dropped: logger.debug("response body dropped", metadata: metadata.adding(read))
        case .failed(let failure):
            logger.debug("response body failed", metadata: metadata.adding(read, Self.facts(of: failure)))
        }
    }

    // MARK: Metadata

    /// The identifier, the method and the URL, which all messages of a request have.
    private func common(_ event: RequestEvent) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "request-id": "\(event.call.id)", "method": "\(event.call.method.rawValue)",
        ]
        if let url = event.call.url { metadata["url"] = "\(url)" }
        return metadata
    }

    /// The same, and the time since the request began.
    private func timed(_ event: RequestEvent) -> Logger.Metadata {
        common(event).adding(["total-ms": "\(event.elapsed.milliseconds)"])
    }

    private static func counts(_ attempts: Int, _ redirects: Int, _ cache: CacheUse?) -> Logger.Metadata {
        var counts: Logger.Metadata = ["attempt": "\(attempts)", "redirects": "\(redirects)"]
        if let cache { counts["cache"] = "\(cache.status.text)" }
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

    private static func facts(of response: ObservedResponse) -> Logger.Metadata {
        var facts = times(of: response.metrics, isWhole: !response.isStreamed)
        facts["status"] = "\(response.status.code)"
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
