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

    /// The failure of a link that was open. Without a code, the peer has closed it.
    static func endedLink(
        _ prepared: PreparedRequest, _ transfer: OpaquePointer, _ code: Int32 = 0
    ) -> RequestFailure {
        let text = String(cString: ce_transfer_error_text(transfer))
        let detail = text.isEmpty ? String(cString: ce_curl_text(code)) : text
        if ce_transfer_ended(transfer) == CE_ENDED_NO_IDENTITY {
            return noIdentity(prepared, transfer, detail: detail)
        }
        let peer = prepared.origin.authority
        return RequestFailure(
            code == 0 ? .interrupted : CurlCodes.reason(code, detail: detail),
            code == 0 ? "\(peer) closed the link." : "The link to \(peer) has failed: \(detail).", phase: .receiving,
            host: prepared.origin.host.text)
    }
}
