import EssentialsHTTP
import Logging

/// Writes the log messages of one request. If the logger's level is above debug when the request begins, each message
/// costs only a comparison.
struct RequestLog: Sendable {
    private let settings: ServiceSettings
    /// The request's number, the same in all of its messages.
    private let number: UInt64
    /// Read once for each request, because the logger asks its handler.
    private let isOn: Bool

    init(settings: ServiceSettings, number: UInt64) {
        self.settings = settings
        self.number = number
        isOn = settings.configuration.logger.logLevel <= .debug
    }

    private var logger: Logger { settings.configuration.logger }
    private var redaction: Redaction { settings.configuration.redaction }

    func sends(_ request: TransportRequest) {
        guard isOn else { return }
        logger.debug("request", metadata: metadata(request))
        guard settings.configuration.logsCommands, logger.logLevel <= .trace else { return }
        var metadata = metadata(request)
        metadata["command"] = "\(CurlCommand.text(of: request, redaction))"
        logger.trace("request as a command", metadata: metadata)
    }

    func received(_ response: DataResponse, to request: TransportRequest) {
        guard isOn else { return }
        var metadata = metadata(request)
        metadata["status"] = "\(response.status.code)"
        metadata["redirects"] = "\(response.redirects.count)"
        metadata["attempt"] = "\(max(1, response.metrics.sendings))"
        logger.debug("response", metadata: metadata)
    }

    /// - Parameters:
    ///   - failure: The failure that ended the request.
    ///   - request: The prepared request; `nil` if the request failed before it was prepared.
    ///   - method: The method of the request.
    func failed(_ failure: RequestFailure, _ request: TransportRequest?, method: HTTPRequest.Method) {
        guard isOn else { return }
        var metadata: Logger.Metadata =
            request.map(metadata) ?? ["request-id": "\(number)", "method": "\(method.rawValue)"]
        metadata["reason"] = "\(failure.reason)"
        metadata["phase"] = "\(failure.phase)"
        metadata["attempt"] = "\(failure.attempt)"
        if let status = failure.response?.head.status.code { metadata["status"] = "\(status)" }
        logger.debug("request failed", metadata: metadata)
    }

    /// Logs the names of fields that were set in several places. The less specific values were dropped.
    func passedOver(_ names: [HTTPField.Name]) {
        guard isOn, !names.isEmpty else { return }
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
