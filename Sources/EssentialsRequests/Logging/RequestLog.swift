import EssentialsHTTP
import Logging

/// What a service tells its logger of one request. Where its level is neither debug nor trace when the request begins, it
/// costs one look at that.
struct RequestLog: Sendable {
    /// By reference, because every request has a log of its own.
    let settings: ServiceSettings
    /// The request's number, the same in all of its messages.
    let number: UInt64
    /// Asked once for each request, because asking a logger goes through its handler.
    private let isOn: Bool

    @inline(__always)
    init(settings: ServiceSettings, number: UInt64) {
        self.settings = settings
        self.number = number
        isOn = settings.configuration.logger.logLevel <= .debug
    }

    private var logger: Logger { settings.configuration.logger }
    private var redaction: Redaction { settings.configuration.redaction }

    @inline(__always)
    func sends(_ request: TransportRequest) {
        if isOn { logSending(request) }
    }

    private func logSending(_ request: TransportRequest) {
        logger.debug("request", metadata: metadata(request))
        guard settings.configuration.logsCommands, logger.logLevel <= .trace else { return }
        var metadata = metadata(request)
        metadata["command"] = "\(CurlCommand.text(of: request, redaction))"
        logger.trace("request as a command", metadata: metadata)
    }

    @inline(__always)
    func received(_ response: DataResponse, to request: TransportRequest) {
        if isOn { logReceipt(of: response, to: request) }
    }

    private func logReceipt(of response: DataResponse, to request: TransportRequest) {
        var metadata = metadata(request)
        metadata["status"] = "\(response.status.code)"
        metadata["redirects"] = "\(response.redirects.count)"
        metadata["attempt"] = "\(max(1, response.metrics.sendings))"
        logger.debug("response", metadata: metadata)
    }

    /// - Parameter request: nil when the request failed before there was one to be sent.
    func failed(_ failure: RequestFailure, _ request: TransportRequest?, _ asked: DataRequest?) {
        guard isOn else { return }
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
