import EssentialsHTTP

/// Creates failures from their reasons.
enum ScriptedFailure {
    private static let phases: [RequestFailure.Reason: RequestFailure.Phase] = {
        let reasons: [(RequestFailure.Phase, [RequestFailure.Reason])] = [
            (.preparation, [.invalidRequest, .invalidPolicy, .hostRefused, .plaintextRefused, .notCached]),
            (.queue, [.queueFull, .closed, .otherTrust, .circuitOpen]),
            (.nameResolution, [.nameResolution]),
            (.connect, [.connection, .proxy, .resources]),
            (
                .handshake,
                [.tls, .trustChain, .trustHost, .pinMismatch, .unexpectedPeer, .tlsTooOld, .trustEvidence, .revoked]
            ),
            (.sending, [.notReplayable, .encoding]),
            (
                .receiving,
                [
                    .interrupted, .protocolViolation, .tooLarge, .redirectLimit, .redirectRefused, .status,
                    .authorization,
                ]
            ),
            (.decoding, [.decoding, .emptyBody]),
        ]
        return Dictionary(
            reasons.flatMap { phase, reasons in reasons.map { ($0, phase) } }, uniquingKeysWith: { first, _ in first })
    }()

    /// Creates a failure of a request to a host. The default phase is the usual one for the reason,
    /// and the phase decides whether anything was sent.
    static func make(
        _ reason: RequestFailure.Reason, message: String? = nil, phase: RequestFailure.Phase? = nil, _ host: String
    ) -> RequestFailure {
        let phase = phase ?? phases[reason] ?? .waiting
        return RequestFailure(
            reason, message ?? "The script fails this request.", phase: phase, host: host,
            transmission: unsent.contains(phase) ? .unsent : .sent)
    }

    /// The phases before the first byte of a request.
    private static let unsent: Set<RequestFailure.Phase> = [
        .preparation, .queue, .nameResolution, .connect, .handshake,
    ]
}
