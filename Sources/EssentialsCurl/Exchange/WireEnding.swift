import CEssentials
import EssentialsTransport

/// How the wire ended a transfer: the meaning for the request, and the action.
///
/// | on the wire | processed | action | failure, if that does not help |
/// |---|---|---|---|
/// | the response has its whole length, and then its stream or connection ends | yes | the response is delivered | |
/// | a stream with REFUSED_STREAM, or above the last one of a GOAWAY | no | sent again, at once and then after pauses | `interrupted`, or `notReplayable` |
/// | the same with GOAWAY and ENHANCE_YOUR_CALM | no | sent again after pauses | `interrupted`, or `notReplayable` |
/// | the same with HTTP_1_1_REQUIRED, or a stream with it | no | sent again over HTTP/1.1 | `protocolViolation`, or `notReplayable` |
/// | 417 to `Expect: 100-continue`, before the body | no | sent again without the expectation | the response with 417 |
/// | a kept connection ends before the response | unknown | sent again, once, if idempotent | `interrupted` |
/// | a response, or its end, and the reset of its stream in one piece, which libcurl before 8.1 discards | yes | sent again over HTTP/1.1, once, if idempotent | `interrupted` |
/// | an HTTP/1.1 connection opened after such a loss fails in its handshake | no | sent over HTTP/2 | as there |
/// | a client certificate was demanded, none was sent, and the connection ends before its first response | no | nothing | `tls` |
/// | a stream with another code, or a new connection that ends | unknown | nothing | `interrupted` |
///
/// RFC 9113, 6.8, 8.1 and 8.7, and RFC 9110, 9.2.2 and 10.1.1. If processing is unknown, a request is sent again only
/// if it is idempotent. The retries of a service are additional, and each attempt begins a new exchange.
enum WireEnding {
    /// The rule that applies to a transfer that failed.
    static func fault(
        of transfer: OpaquePointer, _ prepared: PreparedRequest, _ failure: RequestFailure
    ) -> ExchangeMachine.Fault {
        let request = prepared.request
        let body: ExchangeMachine.Fault.Body =
            if !request.body.isStream || !ce_transfer_body_has_begun(transfer) {
                .unread
            } else {
                request.body.isReplayable ? .replayable : .spent
            }
        return ExchangeMachine.Fault(
            kind: kind(of: transfer, failure), sendCount: Int(ce_transfer_send_count(transfer)),
            refusedCount: Int(ce_transfer_refused_count(transfer)), hasFirstByte: ce_transfer_has_first_byte(transfer),
            isIdempotent: prepared.isIdempotent, body: body,
            sharesConnection: ce_transfer_speaks_http2(transfer), isCalmed: ce_transfer_is_calmed(transfer),
            allowsHTTP1: request.options.protocolVersion != .http2)
    }

    private static func kind(of transfer: OpaquePointer, _ failure: RequestFailure) -> ExchangeMachine.Fault.Kind {
        switch ce_transfer_ended(transfer) {
        case CE_ENDED_REFUSED: return .refusedStream
        case CE_ENDED_HTTP_1_1: return .demandsHTTP1
        case CE_ENDED_EXPECTATION: return .refusesExpectation
        case CE_ENDED_DEAD: return .closedConnection
        case CE_ENDED_LOST_RESPONSE: return .lostResponse
        default: break
        }
        // A newer libcurl may store a session without the evidence that was attached to it.
        if failure.reason == .trustEvidence { return .missingEvidence }
        // libcurl gives a kept HTTP/1.1 connection to a request that insists on HTTP/2.
        let refusal = ce_transfer_refusal(transfer)
        let isOfOtherVersion = refusal == CE_REFUSED_NOT_HTTP2 && ce_transfer_on_kept_connection(transfer)
        return refusal == CE_REFUSED_STALE || isOfOtherVersion ? .unusableConnection : .other
    }

    /// The pauses before a refused request is sent again. They are random and grow with each refusal, so that requests
    /// that were refused together do not return together.
    private static let backoff = Backoff.exponential(base: .milliseconds(40), cap: .seconds(2))
    /// The minimum pause. The server needs time for the settings that limit its streams to arrive.
    private static let shortestPause = Duration.milliseconds(5)

    /// The pause before the next attempt.
    ///
    /// - Parameter refusals: The number of times that the server has refused the request.
    static func pause(refusals: Int, fraction: Double) -> Duration {
        max(shortestPause, backoff.wait(retry: refusals, previous: .zero, fraction: fraction))
    }
}
