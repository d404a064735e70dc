import CEssentials
import EssentialsTransport

/// Makes failures out of what libcurl, the gates and the engine report.
enum Failures {
    /// The failure of a finished transfer; nil when it succeeded.
    static func failure(
        _ prepared: PreparedRequest, _ transfer: OpaquePointer, _ code: Int32
    ) -> RequestFailure? {
        if code == 0 { return hiddenFailure(prepared, transfer) }
        let phase = phase(of: prepared, transfer, code)
        let host = prepared.origin.host.text
        let refusal = ce_transfer_refusal(transfer)
        if refusal != CE_REFUSED_NOT, refusal != CE_REFUSED_TRUST {
            return refused(refusal, prepared, phase: phase)
        }
        if let pointer = ce_transfer_report(transfer) {
            let proxy = ce_transfer_report_is_of_proxy(transfer) ? prepared.proxy?.host.text : nil
            if let failure = GateReport(pointer).failure(host: proxy ?? host, phase: phase) { return failure }
        }
        let text = String(cString: ce_transfer_error_text(transfer))
        let detail = text.isEmpty ? String(cString: ce_curl_text(code)) : text
        if code == CurlCodes.timedOut {
            // libcurl's words for the one of its deadlines that is not for connecting.
            guard detail.hasPrefix("Operation too slow") else { return overdue(.connect, prepared, transfer) }
            return tooSlow(prepared, phase: phase)
        }
        if code == CurlCodes.noMemory, !ce_transfer_has_head(transfer) { return tooLongLine(prepared) }
        if code == CurlCodes.noMemory, ce_transfer_streams(transfer) { return expandsTooFast(prepared) }
        // Before anything was sent it would be an option that libcurl cannot read.
        let isMalformed = code == CurlCodes.badArgument && ce_transfer_send_count(transfer) > 0
        let reason =
            isMalformed
            ? .protocolViolation : CurlCodes.reason(code, detail: detail, isProxied: prepared.proxy != nil)
        let shown = isMalformed ? "a field or chunk is malformed" : detail
        return RequestFailure(
            reason, "\(lead(reason, prepared)): \(shown).", remedy: remedy(reason, prepared), phase: phase, host: host,
            attempt: max(1, Int(ce_transfer_send_count(transfer))))
    }

    /// What libcurl takes for a success and is none. Asks for nothing that a success does not need.
    private static func hiddenFailure(_ prepared: PreparedRequest, _ transfer: OpaquePointer) -> RequestFailure? {
        // libcurl is content with a connection that closes between two header lines.
        guard ce_transfer_has_head(transfer) else {
            return RequestFailure(
                .interrupted, "\(prepared.origin) closed the connection within the response's head.",
                phase: phase(of: prepared, transfer), host: prepared.origin.host.text)
        }
        if ce_transfer_was_cut(transfer) {
            return RequestFailure(
                .interrupted,
                "\(prepared.origin) closed the connection without the end that TLS has for it; the body may be cut.",
                phase: .receiving, host: prepared.origin.host.text)
        }
        return nil
    }

    /// The request gate was walked around, by a fault of ours or of a libcurl to come.
    static func unjudged(_ origin: Origin) -> RequestFailure {
        RequestFailure(
            .trustEvidence, "The exchange with \(origin) was never judged.", phase: .receiving, host: origin.host.text)
    }

    private static func remedy(_ reason: RequestFailure.Reason, _ prepared: PreparedRequest) -> String? {
        guard reason == .connection, prepared.unixSocket != nil else { return nil }
        return "Check that the server runs, the socket's path, and the permissions of both."
    }

    private static func lead(_ reason: RequestFailure.Reason, _ prepared: PreparedRequest) -> String {
        switch reason {
        case .nameResolution: "\(prepared.origin.host) could not be resolved"
        case .connection:
            prepared.unixSocket.map { "The Unix-domain socket \($0) could not be reached" }
                ?? "\(prepared.origin) could not be reached"
        case .proxy: "\(prepared.origin) could not be reached through \(prepared.proxy?.description ?? "the proxy")"
        case .tls, .tlsTooOld: "The TLS connection to \(prepared.origin.authority) failed"
        case .interrupted: "\(prepared.origin) ended the exchange early"
        case .protocolViolation: "\(prepared.origin) broke the rules of HTTP"
        default: "The exchange with \(prepared.origin) failed"
        }
    }

    /// libcurl takes no longer one, whatever the limit of the whole head.
    private static func tooLongLine(_ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(
            .tooLarge, "\(prepared.origin) sent a header line of more than 100 kB.", phase: .receiving,
            host: prepared.origin.host.text)
    }

    private static func expandsTooFast(_ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(
            .tooLarge, "The compressed body of \(prepared.origin) grows too fast when it is unpacked.",
            remedy: "Ask for an uncompressed one.", phase: .receiving, host: prepared.origin.host.text)
    }

    /// A deadline passed, noticed by libcurl or by the engine.
    static func overdue(
        _ kind: Deadlines.Kind, _ prepared: PreparedRequest, _ transfer: OpaquePointer
    ) -> RequestFailure {
        let (options, origin) = (prepared.request.options, prepared.origin)
        let message =
            switch kind {
            case .total:
                "The exchange with \(origin) was not over within \(options.totalTimeout ?? .zero)."
            case .connect: "\(origin) could not be connected to within \(options.connectTimeout)."
            case .queue: "No connection to \(origin) became free within \(options.queueTimeout ?? .zero)."
            case .firstByte: "\(origin) did not begin to answer within \(options.firstByteTimeout ?? .zero)."
            case .idle: "Nothing moved between here and \(origin) for \(options.idleTimeout ?? .zero)."
            }
        return RequestFailure(
            .timeout, message, phase: phase(of: prepared, transfer), host: origin.host.text)
    }

    private static func tooSlow(_ prepared: PreparedRequest, phase: RequestFailure.Phase) -> RequestFailure {
        let minimum = prepared.request.options.minimumRate
        return RequestFailure(
            .timeout,
            "The exchange with \(prepared.origin) was slower than \(minimum?.bytesPerSecond ?? 0) bytes a second for "
                + "\(minimum?.period ?? .zero).",
            phase: phase, host: prepared.origin.host.text)
    }

    /// How far a transfer came, read from the moments that libcurl noted.
    private static func phase(
        of prepared: PreparedRequest, _ transfer: OpaquePointer, _ code: Int32 = 0
    ) -> RequestFailure.Phase {
        let timings = ce_transfer_timings(transfer)
        // libcurl's moment of the first byte is set also while a body is sent, and when the peer closed without one.
        let hasBytes =
            ce_transfer_may_have_bytes(transfer) && prepared.request.body.isEmpty && code != CurlCodes.gotNothing
        if hasBytes || ce_transfer_has_first_byte(transfer) { return .receiving }
        if ce_transfer_send_count(transfer) > 0 {
            return prepared.request.body.isStream ? .sending : .waiting
        }
        // libcurl notes the connection's moment only when TLS stands too; the gate was installed when TLS began.
        if ce_transfer_report(transfer) != nil { return .handshake }
        if timings.connected_us > 0 { return .sending }
        return timings.resolved_us > 0 ? .connect : .nameResolution
    }

    // MARK: The engine's own

    static func cancelled(_ exchange: Exchange) -> RequestFailure {
        let phase: RequestFailure.Phase = exchange.transfer.map { Self.phase(of: exchange.prepared, $0) } ?? .queue
        return RequestFailure(
            .cancelled, "The request was cancelled.", phase: phase, host: exchange.prepared.origin.host.text)
    }

    static func closed(_ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(.closed, "The transport was shut down.", phase: .queue, host: prepared.origin.host.text)
    }

    static func otherPolicy(_ origin: Origin) -> RequestFailure {
        RequestFailure(
            .otherTrust, "The request to \(origin.host) asks for another trust policy than the transport has.",
            phase: .queue, host: origin.host.text)
    }

    static func forked(_ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(
            .closed, "The transport belongs to the process that this one was forked from.",
            remedy: ProcessGeneration.hasLostTasks ? forkRemedy : "Make a transport in this process.",
            host: prepared.origin.host.text)
    }

    /// The failure in a forked process in which no task can run, so that no transport can work.
    static var lostTasks: RequestFailure {
        RequestFailure(
            .closed, "Swift tasks ran in the process that this one was forked from, so that none runs here.",
            remedy: forkRemedy)
    }

    private static let forkRemedy = "Call exec(2) in the child, or fork before the first request."

    static func queueFull(_ prepared: PreparedRequest, waiting: Int) -> RequestFailure {
        RequestFailure(
            .queueFull, "\(waiting) requests wait for a connection already.",
            remedy: "Send fewer at once, or raise connectionsPerOrigin, requestsInFlight or queueLimit.", phase: .queue,
            host: prepared.origin.host.text)
    }

    /// No connection became free in time.
    static func waitedTooLong(_ prepared: PreparedRequest, since waited: Int64, queue: Int) -> RequestFailure {
        RequestFailure(
            .timeout,
            "No connection to \(prepared.origin) became free within \(Duration.milliseconds(waited)); "
                + "\(queue) requests wait.",
            remedy: "Send fewer at once, raise connectionsPerOrigin, or look for responses that nobody reads.",
            phase: .queue, host: prepared.origin.host.text)
    }

    /// What a body's source threw. A failure of its own, such as that of a file, says already what it is about.
    static func source(_ error: any Error, _ prepared: PreparedRequest) -> RequestFailure {
        if let failure = error as? RequestFailure { return failure }
        return RequestFailure(
            .encoding, "The source of the request's body failed.", remedy: "See the underlying error.",
            phase: .sending, host: prepared.origin.host.text, underlying: error)
    }

    static func noMemory(_ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(
            .tooLarge, "Memory ran out.", remedy: "Send fewer requests at once, or stream large bodies.",
            phase: .receiving, host: prepared.origin.host.text)
    }

    static func option(_ name: String, _ code: Int32, _ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "libcurl refused \(name) (\(String(cString: ce_curl_text(code)))).",
            remedy: "Check the URL, the fields and the limits of the request.", host: prepared.origin.host.text)
    }

    static func loop(_ code: Int32, _ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(
            .connection, "Waiting for the network failed (errno \(code)).", remedy: "Make a new transport.",
            phase: .waiting, host: prepared.origin.host.text)
    }
}
