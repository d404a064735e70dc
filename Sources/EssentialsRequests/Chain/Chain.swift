import EssentialsHTTP

/// One step between a prepared request and the transport.
///
/// A stage that has nothing to do for a request passes it on in its first line. A stage that waits for something besides
/// its next stage registers that with the record's cancellation.
protocol Stage: Sendable {
    /// Sends a request through this stage and all that follow.
    func send(_ request: TransportRequest, _ record: ExchangeRecord) async throws(RequestFailure) -> TransportResponse
}

/// What every request of a service passes through, built once for the service.
struct Chain: Sendable {
    private let first: any Stage

    /// Builds the chain from the inside out. This is the only place that knows the order of the stages.
    ///
    /// - Parameters:
    ///   - transport: Sends one hop.
    ///   - settings: The service's configuration. A stage that it does not need is not built.
    ///   - clock: Measures deadlines and how long unwanted bodies are read.
    init(over transport: any Transport, _ settings: ServiceSettings, clock: any Clock<Duration> = ContinuousClock()) {
        // Each sending: everything above has waited for what it needs.
        var stage: any Stage = TransportStage(transport: transport)
        // Digest answers are computed from the signed URL, and no other stage sees a 401 that Digest answers.
        stage = DigestStage(clock: clock, next: stage)
        // Signatures are made last, so that their dates are young, and see every other field.
        if !settings.configuration.interceptors.isEmpty {
            stage = SigningStage(interceptors: settings.configuration.interceptors, next: stage)
        }
        // Cookies: every sending has its own.
        // The gate: breaker, rate and concurrency.
        // Tokens: at most one more sending for a 401.

        // Each attempt of one hop: retry.
        // Each hop: the response cache.
        stage = RedirectStage(clock: clock, next: stage)
        // Joining of equal requests.

        // Once: the status is judged outside of everything that may act on it.
        first = StatusStage(codecs: settings.configuration.codecs, next: stage)
        // Before all of them, `PrepareStage` makes the request.
    }

    /// Sends a prepared request.
    func send(
        _ request: TransportRequest, _ record: ExchangeRecord, _ log: RequestLog
    ) async throws(RequestFailure) -> DataResponse {
        log.sends(request)
        let response = DataResponse(
            try await first.send(request, record), url: record.lastRequest.url, redirects: record.hops)
        log.received(response, to: request)
        return response
    }
}
