import EssentialsHTTP
import Logging

/// What a service tells its logger of one request. At other levels than debug and trace it costs a comparison.
struct RequestLog: Sendable {
    /// By reference, because every request has a log of its own.
    let settings: ServiceSettings
    /// The request's number, the same in all of its messages.
    let number: UInt64

    private var logger: Logger { settings.configuration.logger }
    private var redaction: Redaction { settings.configuration.redaction }

    func sends(_ request: TransportRequest) {
        guard settings.configuration.logger.logLevel <= .debug else { return }
        logger.debug("request", metadata: metadata(request))
        guard settings.configuration.logsCommands, logger.logLevel <= .trace else { return }
        var metadata = metadata(request)
        metadata["command"] = "\(CurlCommand.text(of: request, redaction))"
        logger.trace("request as a command", metadata: metadata)
    }

    func received(_ response: DataResponse, to request: TransportRequest) {
        guard settings.configuration.logger.logLevel <= .debug else { return }
        var metadata = metadata(request)
        metadata["status"] = "\(response.status.code)"
        metadata["redirects"] = "\(response.redirects.count)"
        metadata["attempt"] = "\(max(1, response.metrics.sendings))"
        logger.debug("response", metadata: metadata)
    }

    /// - Parameter request: nil when the request failed before there was one to be sent.
    func failed(_ failure: RequestFailure, _ request: TransportRequest?, _ asked: DataRequest?) {
        guard settings.configuration.logger.logLevel <= .debug else { return }
        var metadata: Logger.Metadata = ["request-id": "\(number)"]
        if let request {
            metadata = self.metadata(request)
        } else if let asked {
            metadata["method"] = "\(asked.method.rawValue)"
        }
        metadata["reason"] = "\(failure.reason)"
        metadata["phase"] = "\(failure.phase)"
        metadata["attempt"] = "\(failure.attempt)"
        if let status = failure.response?.head.status.code { metadata["status"] = "\(status)" }
        logger.debug("request failed", metadata: metadata)
    }

    /// A field was set in two places, and the more specific one is sent.
    func passedOver(_ names: [HTTPField.Name]) {
        guard settings.configuration.logger.logLevel <= .debug, !names.isEmpty else { return }
        let text = names.map(\.rawName).joined(separator: ", ")
        logger.debug("header fields passed over", metadata: ["request-id": "\(number)", "fields": "\(text)"])
    }

    private func metadata(_ request: TransportRequest) -> Logger.Metadata {
        [
            "request-id": "\(number)", "method": "\(request.method.rawValue)",
            "url": "\(redaction.text(of: request.url))",
        ]
    }
}
