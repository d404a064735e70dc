import CEssentials
import EssentialsTransport

// Failures of connections that carry another protocol than HTTP.
extension Failures {
    static func cancelledLink(_ prepared: PreparedRequest, byShutdown: Bool = false) -> RequestFailure {
        RequestFailure(
            .cancelled,
            byShutdown ? "The transport was shut down before the link was open." : "The link was closed.",
            phase: .connect, host: prepared.origin.host.text)
    }

    static func tooManyLinks(_ prepared: PreparedRequest, maximum: Int) -> RequestFailure {
        RequestFailure(
            .queueFull, "The transport has \(maximum) links, which is its maximum.",
            remedy: "Close links, or open some of them with another transport.", phase: .queue,
            host: prepared.origin.host.text)
    }

    static func closedByPeer(_ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(
            .interrupted, "\(prepared.origin.authority) closed the link.", phase: .receiving,
            host: prepared.origin.host.text)
    }

    /// The failure of a link that was open.
    static func endedLink(_ prepared: PreparedRequest, _ transfer: OpaquePointer, _ code: Int32) -> RequestFailure {
        let text = String(cString: ce_transfer_error_text(transfer))
        let detail = text.isEmpty ? String(cString: ce_curl_text(code)) : text
        return RequestFailure(
            CurlCodes.reason(code, detail: detail), "The link to \(prepared.origin.authority) has failed: \(detail).",
            phase: .receiving, host: prepared.origin.host.text)
    }
}
