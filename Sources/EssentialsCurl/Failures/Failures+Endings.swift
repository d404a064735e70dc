import CEssentials
import EssentialsTransport

// Ends of transfers that say whether the server has processed the request: see WireEnding.swift.
extension Failures {
    /// Returns the failure for how the wire ended a transfer, or `nil` if the code says more.
    static func ended(
        _ prepared: PreparedRequest, _ transfer: OpaquePointer, detail: String
    ) -> RequestFailure? {
        let (origin, host) = (prepared.origin, prepared.origin.host.text)
        let isSpent =
            prepared.request.body.isStream && !prepared.request.body.isReplayable
            && ce_transfer_body_has_begun(transfer)
        switch ce_transfer_ended(transfer) {
        case CE_ENDED_REFUSED:
            if isSpent { return spent(prepared) }
            let isCalmed = ce_transfer_is_calmed(transfer)
            return RequestFailure(
                .interrupted,
                isCalmed
                    ? "\(origin) asked for fewer requests and did not process this one (ENHANCE_YOUR_CALM)."
                    : "\(origin) refused the HTTP/2 stream of the request and did not process it.",
                remedy: "Send the request again after some time, or send fewer requests at once.", phase: .waiting,
                host: host)
        case CE_ENDED_HTTP_1_1:
            if isSpent { return spent(prepared) }
            return RequestFailure(
                .protocolViolation, "\(origin) requires HTTP/1.1 for the request and did not process it.",
                remedy: "Allow HTTP/1.1 for the request.", phase: .waiting, host: host)
        case CE_ENDED_EXPECTATION:
            if isSpent { return spent(prepared) }
            return received(
                .protocolViolation, "\(origin) refused an expectation of 100 Continue that the request does not have.",
                prepared)
        case CE_ENDED_DEAD:
            return RequestFailure(
                .interrupted,
                "\(origin) closed a reused connection before it responded. It may have processed the request.",
                phase: .waiting, host: host)
        case CE_ENDED_LOST_RESPONSE:
            return RequestFailure(
                .interrupted,
                "\(origin) responded before it had read the request, and this version of libcurl discarded the response or "
                    + "its end.",
                remedy: "Use libcurl 8.1 or newer, or send the request over HTTP/1.1.", phase: .waiting, host: host)
        case CE_ENDED_NO_IDENTITY: return noIdentity(prepared, transfer, detail: detail)
        default: return nil
        }
    }

    private static func spent(_ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(
            .notReplayable,
            "\(prepared.origin) did not process the request, whose body has begun and cannot be read again.",
            phase: .sending, host: prepared.origin.host.text)
    }

    static func noIdentity(
        _ prepared: PreparedRequest, _ transfer: OpaquePointer, detail: String
    ) -> RequestFailure {
        let isOfProxy = ce_transfer_report_is_of_proxy(transfer)
        let proxy = isOfProxy ? prepared.proxy : nil
        let peer = proxy.map { "The proxy \($0)" } ?? "\(prepared.origin)"
        let alert = HandshakeFault(peer: peer, detail: detail).alert.map { " with the alert “\($0)”" } ?? ""
        return RequestFailure(
            .tls, "\(peer) asked for a client certificate, received none, and ended the connection\(alert).",
            remedy: HandshakeFault.identityRemedy, phase: .handshake, host: prepared.origin.host.text)
    }
}
