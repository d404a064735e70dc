import CEssentials
import EssentialsTransport

/// Creates every failure of a transport, from the reports of libcurl and the trust gates and from decisions of the
/// engine.
enum Failures {
    /// Returns the failure of a finished transfer, or `nil` if the transfer succeeded.
    static func failure(
        _ prepared: PreparedRequest, _ transfer: OpaquePointer, _ code: Int32
    ) -> RequestFailure? {
        if code == 0, ce_transfer_ended(transfer) == CE_ENDED_OTHERWISE { return hiddenFailure(prepared, transfer) }
        let text = String(cString: ce_transfer_error_text(transfer))
        let detail = text.isEmpty ? String(cString: ce_curl_text(code)) : text
        let phase = phase(of: prepared, transfer, code)
        let host = prepared.origin.host.text
        let report = ce_transfer_report(transfer).map { GateReport($0) }
        let proxy = ce_transfer_report_is_of_proxy(transfer) ? prepared.proxy : nil
        let verdict = report?.failure(host: proxy?.host.text ?? host, phase: phase)
        // If a gate of this side refuses a handshake, libcurl reports it as if the server had ended the handshake.
        if ce_transfer_ended(transfer) == CE_ENDED_NO_IDENTITY, let verdict { return verdict }
        if let failure = ended(prepared, transfer, detail: detail) { return failure }
        let refusal = ce_transfer_refusal(transfer)
        if refusal == CE_REFUSED_STATUS_LINE || refusal == CE_REFUSED_NOT && code == CurlCodes.unsupportedProtocol {
            return withoutStatusLine(ce_transfer_spoken(transfer), prepared)
        }
        if refusal != CE_REFUSED_NOT, refusal != CE_REFUSED_TRUST {
            return refused(refusal, prepared, phase: phase)
        }
        if let verdict { return verdict }
        if code == CurlCodes.timedOut {
            // libcurl keeps two deadlines. This is its text for the one that is not about connecting.
            guard detail.hasPrefix("Operation too slow") else { return overdue(.connect, prepared, transfer) }
            return tooSlow(prepared, phase: phase)
        }
        if code == CurlCodes.notConnected, ce_transfer_lacked_resources(transfer) { return noSocket(prepared) }
        if code == CurlCodes.noMemory { return noMemory(prepared, transfer, phase: phase) }
        // Before anything was sent, the code means an option that libcurl cannot read.
        let isMalformed = code == CurlCodes.badArgument && ce_transfer_send_count(transfer) > 0
        let reason =
            isMalformed
            ? .protocolViolation : CurlCodes.reason(code, detail: detail, isProxied: prepared.proxy != nil)
        if reason == .tls || reason == .tlsTooOld {
            let peer = proxy.map { "The proxy \($0)" } ?? "\(prepared.origin)"
            let account = HandshakeFault(peer: peer, detail: detail, report: report).account
            return RequestFailure(
                account.reason, account.message, remedy: account.remedy, phase: phase, host: host)
        }
        let shown = isMalformed ? "a field or chunk is malformed" : cause(code, detail, transfer)
        return RequestFailure(
            reason, "\(lead(reason, prepared))\(shown.map { ": \($0)" } ?? "").",
            remedy: remedy(reason, code, prepared, transfer), phase: phase, host: host,
            transmission: CurlCodes.meansRefusedStream(code, detail) ? .refused : nil)
    }

    /// Returns the failure of a transfer that libcurl wrongly reports as successful.
    private static func hiddenFailure(_ prepared: PreparedRequest, _ transfer: OpaquePointer) -> RequestFailure? {
        // libcurl accepts a connection that closes between two header lines.
        guard ce_transfer_has_head(transfer) else {
            return RequestFailure(
                .interrupted, "\(prepared.origin) closed the connection within the head of its response.",
                phase: phase(of: prepared, transfer), host: prepared.origin.host.text)
        }
        if ce_transfer_was_cut(transfer) {
            return RequestFailure(
                .interrupted,
                "\(prepared.origin) closed the connection without the closing alert of TLS, so the body may be incomplete.",
                phase: .receiving, host: prepared.origin.host.text)
        }
        return nil
    }

    /// Returns the cause that follows the lead of a message: that of the system or the proxy if there is one, otherwise
    /// libcurl's text, or `nil` if that only repeats the lead.
    private static func cause(_ code: Int32, _ detail: String, _ transfer: OpaquePointer) -> String? {
        let (systemError, status) = (ce_transfer_system_error(transfer), ce_transfer_connect_status(transfer))
        switch code {
        case CurlCodes.notConnected where systemError > 0: return "\(SystemError(code: systemError))"
        case 6, 97: return detail.hasPrefix("Could not resolve") || detail.hasPrefix("Failed to resolve") ? nil : detail
        case 56 where detail.contains("CONNECT") && status > 0:
            return "the proxy responded to CONNECT with the status \(status)"
        case CurlCodes.gotNothing: return "it closed the connection without a response"
        case CurlCodes.partialBody: return "it closed the connection before the body was complete"
        case 55, 56: return detail.contains("Connection reset by peer") ? "it reset the connection" : detail
        default: return detail
        }
    }

    private static func remedy(
        _ reason: RequestFailure.Reason, _ code: Int32, _ prepared: PreparedRequest, _ transfer: OpaquePointer
    ) -> String? {
        switch reason {
        case .proxy where ce_transfer_connect_status(transfer) == 407:
            prepared.proxy?.user == nil
                ? "Give the proxy's user and password." : "Check the proxy's user and password."
        case .connection where prepared.unixSocket != nil:
            "Check that the server is running, the path of its socket, and the permissions of that path."
        // A TLS server that uses OpenSSL closes a plain connection without sending a byte.
        case .interrupted
        where code == CurlCodes.gotNothing && prepared.origin.scheme == .http && prepared.forwardingProxy == nil:
            "Use https if this port expects TLS; otherwise try again if the request may be repeated."
        default: nil
        }
    }

    private static func lead(_ reason: RequestFailure.Reason, _ prepared: PreparedRequest) -> String {
        switch reason {
        case .nameResolution: "\(prepared.origin.host) could not be resolved"
        case .connection:
            prepared.unixSocket.map { "The Unix-domain socket \($0) could not be reached" }
                ?? "\(prepared.origin) could not be reached"
        case .proxy: "\(prepared.origin) could not be reached through \(prepared.proxy?.description ?? "the proxy")"
        case .interrupted: "\(prepared.origin) ended the exchange early"
        case .protocolViolation: "\(prepared.origin) violated the rules of HTTP"
        default: "The exchange with \(prepared.origin) failed"
        }
    }

    /// Returns the failure for libcurl's code for lack of memory, which libcurl also uses for two limits of its own.
    private static func noMemory(
        _ prepared: PreparedRequest, _ transfer: OpaquePointer, phase: RequestFailure.Phase
    ) -> RequestFailure {
        if !ce_transfer_has_head(transfer), ce_transfer_may_have_bytes(transfer) {
            return received(.tooLarge, "\(prepared.origin) sent a header line of more than 100 kB.", prepared)
        }
        if ce_transfer_has_head(transfer), ce_transfer_streams(transfer) {
            return received(
                .tooLarge, "The compressed body of \(prepared.origin) expands too much when it is decoded.",
                remedy: "Request an uncompressed body.", prepared)
        }
        return noMemory(prepared, phase: phase)
    }

    private static func tooSlow(_ prepared: PreparedRequest, phase: RequestFailure.Phase) -> RequestFailure {
        let minimum = prepared.request.options.minimumRate
        return RequestFailure(
            .timeout,
            "The exchange with \(prepared.origin) was slower than \(minimum?.bytesPerSecond ?? 0) bytes a second for "
                + "\(minimum?.period ?? .zero).",
            phase: phase, host: prepared.origin.host.text)
    }

    /// Returns the phase that a transfer has reached, according to the moments that libcurl has noted.
    static func phase(
        of prepared: PreparedRequest, _ transfer: OpaquePointer, _ code: Int32 = 0
    ) -> RequestFailure.Phase {
        let timings = ce_transfer_timings(transfer)
        // libcurl also sets the moment of the first byte while a body is sent, and when the peer closes without a byte.
        let hasBytes =
            ce_transfer_may_have_bytes(transfer) && prepared.request.body.isEmpty && code != CurlCodes.gotNothing
        if hasBytes || ce_transfer_has_first_byte(transfer) { return .receiving }
        if ce_transfer_send_count(transfer) > 0 {
            return prepared.request.body.isStream ? .sending : .waiting
        }
        // libcurl notes the moment of the connection after the TLS handshake. The gate is installed before it.
        if ce_transfer_report(transfer) != nil { return .handshake }
        if timings.connected_us > 0 { return .sending }
        return timings.resolved_us > 0 ? .connect : .nameResolution
    }
}
