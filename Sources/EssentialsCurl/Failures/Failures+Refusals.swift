import CEssentials
import EssentialsTransport

// Responses that the callbacks of a transfer refuse.
extension Failures {
    /// Returns the failure for a refusal.
    ///
    /// - Parameter phase: The phase that the exchange has reached.
    static func refused(
        _ refusal: ce_refusal, _ prepared: PreparedRequest, phase: RequestFailure.Phase
    ) -> RequestFailure {
        if let failure = refusedHead(refusal, prepared) ?? refusedBody(refusal, prepared) { return failure }
        let host = prepared.origin.host.text
        switch refusal {
        case CE_REFUSED_NOT_HTTP2:
            return RequestFailure(
                .protocolViolation, "\(prepared.origin) does not offer HTTP/2.",
                remedy: "Allow HTTP/1.1 for the request.", phase: .handshake, host: host)
        case CE_REFUSED_UPLOAD:
            return RequestFailure(.encoding, "The source of the request's body failed.", phase: .sending, host: host)
        case CE_REFUSED_UPLOAD_LENGTH:
            return RequestFailure(
                .encoding, "The source of the request's body has more or fewer bytes than its declared length.",
                remedy: "Declare the exact length, or nil.", phase: .sending, host: host)
        case CE_REFUSED_STALE:
            return RequestFailure(
                .protocolViolation,
                "\(prepared.origin) sent more bytes on a reused connection than its responses have.",
                phase: .queue, host: host)
        case CE_REFUSED_UNJUDGED: return unjudged(prepared.origin)
        default: return noMemory(prepared, phase: phase)
        }
    }

    /// The request gate did not run, because of an error in this package or in a newer libcurl.
    private static func unjudged(_ origin: Origin) -> RequestFailure {
        RequestFailure(
            .trustEvidence, "The connection of the exchange with \(origin) was not checked against the policy.",
            phase: .receiving, host: origin.host.text)
    }

    private static func refusedHead(_ refusal: ce_refusal, _ prepared: PreparedRequest) -> RequestFailure? {
        let (origin, options) = (prepared.origin, prepared.request.options)
        switch refusal {
        case CE_REFUSED_HEAD_LIMIT:
            return received(
                .tooLarge, "The head of the response exceeds \(options.maximumHeadSize) bytes.",
                remedy: "Raise maximumHeadSize if this size is expected.", prepared)
        case CE_REFUSED_HEAD_LINES:
            return received(
                .tooLarge, "The head has more than \(options.maximumHeadLines) lines.",
                remedy: "Raise maximumHeadLines if this number is expected.", prepared)
        case CE_REFUSED_LINE:
            return received(
                .protocolViolation, "The head of the response of \(origin) has a line that is not a header field.",
                prepared)
        case CE_REFUSED_PROTOCOL:
            return received(
                .protocolViolation, "\(origin) responded with a status that HTTP does not define for this request.",
                prepared)
        case CE_REFUSED_FRAMING:
            return received(
                .protocolViolation,
                "The lengths or transfer codings in the response of \(origin) contradict each other.",
                prepared)
        default: return nil
        }
    }

    private static func refusedBody(_ refusal: ce_refusal, _ prepared: PreparedRequest) -> RequestFailure? {
        let (origin, options) = (prepared.origin, prepared.request.options)
        switch refusal {
        case CE_REFUSED_BODY_LIMIT:
            var limit = 0
            if case .collected(let size) = options.delivery { limit = size }
            return received(
                .tooLarge, "The body of the response exceeds \(limit) bytes.",
                remedy: "Collect up to a higher limit if this size is expected, or stream the body.", prepared)
        case CE_REFUSED_CODINGS:
            return received(
                .protocolViolation, "\(origin) compressed its body more than once.",
                remedy: "Request an uncompressed body, or set decompresses to false and decode it.", prepared)
        case CE_REFUSED_CODING:
            return received(
                .protocolViolation, "\(origin) compressed a streamed body by zstd, which was not accepted.",
                remedy: "Collect the body, or set decompresses to false and decode it.", prepared)
        case CE_REFUSED_DECODER:
            return received(
                .protocolViolation,
                "The compressed body of \(origin) has \(CE_DECODER_INPUT_MAXIMUM) bytes that decode to nothing.",
                remedy: "Request an uncompressed body.", prepared)
        case CE_REFUSED_EXPANSION:
            return received(
                .tooLarge,
                "The compressed body of \(origin) expands to more than \(options.maximumExpansion ?? 0) times its size.",
                remedy: "Request an uncompressed body, or raise maximumExpansion.", prepared)
        default: return nil
        }
    }

    /// A response that does not begin with a status line. Its first bytes may show another protocol.
    static func withoutStatusLine(_ spoken: ce_spoken, _ prepared: PreparedRequest) -> RequestFailure {
        let proxy = prepared.forwardingProxy
        let peer = proxy.map { "The proxy \($0)" } ?? "\(prepared.origin)"
        let port = proxy == nil ? "port" : "proxy's port"
        return switch spoken {
        case CE_SPEAKS_TLS:
            received(
                .protocolViolation, "\(peer) speaks TLS on this port instead of plain HTTP.",
                remedy: proxy == nil
                    ? "Use https, or the port for plain HTTP."
                    : "Use https for the proxy's URL, or its port for plain HTTP.", prepared)
        case CE_SPEAKS_SSH:
            received(.protocolViolation, "\(peer) is an SSH server.", remedy: "Correct the \(port).", prepared)
        case CE_SPEAKS_MAIL:
            received(
                .protocolViolation, "\(peer) is a mail or FTP server.", remedy: "Correct the \(port).", prepared)
        default:
            received(
                .protocolViolation, "\(peer) sent a response that does not begin with an HTTP/1 status line.",
                remedy: "Check the \(port), and whether the server speaks HTTP/1.1.", prepared)
        }
    }

    /// Returns a failure that the response causes.
    static func received(
        _ reason: RequestFailure.Reason, _ message: String, remedy: String? = nil, _ prepared: PreparedRequest
    ) -> RequestFailure {
        RequestFailure(reason, message, remedy: remedy, phase: .receiving, host: prepared.origin.host.text)
    }
}
