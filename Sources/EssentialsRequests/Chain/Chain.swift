import EssentialsHTTP

/// One step between a prepared request and the transport.
///
/// A stage that has nothing to do for a request passes it on in its first line. If a stage waits for anything except
/// its next stage, it registers that with the record's cancellation.
protocol Stage: Sendable {
    /// Sends a request through this stage and all later stages.
    func send(_ request: TransportRequest, _ record: ExchangeRecord) async throws(RequestFailure) -> TransportResponse
}

/// The stages that every request of a service passes through, built once for the service.
struct Chain: Sendable {
    /// The first stage, which makes the request that the others send.
    let prepare: PrepareStage
    /// The stage for retries, which a download asks again when its body fails.
    let retry: RetryStage
    private let first: any Stage

    /// Builds the chain from the inside out. No other code depends on the order of the stages.
    ///
    /// - Parameters:
    ///   - transport: Sends one hop.
    ///   - settings: The service's configuration. Stages that it does not need are not built.
    ///   - authorization: The credentials of the service.
    init(over transport: any Transport, _ settings: ServiceSettings, _ authorization: AuthorizationStore) {
        let clock = settings.configuration.clock.clock
        // Each attempt: all waiting is done in the stages above.
        var stage: any Stage = TransportStage(transport: transport)
        // Every attempt has its own cookies: those of the service, or of an environment. Those of every response are
        // stored, including a 401 that Digest handles, whose next attempt sends them.
        let isSigned = !settings.configuration.interceptors.isEmpty
        let cookies = settings.configuration.cookies
        stage = CookieStage(storage: cookies, adds: !isSigned, stores: true, next: stage)
        // Digest credentials are computed from the signed URL, and no other stage sees a 401 that Digest handles.
        stage = DigestStage(clock: clock, next: stage)
        // Signatures are created last, so that their dates are recent and they cover every other field, cookies included.
        if isSigned {
            stage = SigningStage(interceptors: settings.configuration.interceptors, next: stage)
            stage = CookieStage(storage: cookies, adds: true, stores: false, next: stage)
        }
        // Breaker, rate and concurrency: what waits here has its token, and nothing that waits above holds a permit.
        stage = GateStage(limits: settings.limits, next: stage)
        // Tokens: at most one more attempt after a 401.
        stage = TokenStage(clock: clock, next: stage)

        // Each attempt of one hop.
        retry = RetryStage(settings.configuration, next: stage)
        stage = retry
        // Each hop: the response cache.
        // Interceptors receive the outcome of each hop, including hits of the cache, and cannot cause a retry.
        if !settings.configuration.interceptors.isEmpty {
            stage = ReceivingStage(interceptors: settings.configuration.interceptors, next: stage)
        }
        stage = RedirectStage(clock: clock, next: stage)
        // Equal requests share all that follows, if the service or the request allows it.
        if let joins = settings.joins {
            let isJudged = !settings.configuration.interceptors.isEmpty
            stage = JoinStage(joins: joins, clock: settings.configuration.clock, isJudged: isJudged, next: stage)
        }

        // Each request, once: it is prepared, and the status is checked outside all stages that may act on it.
        first = StatusStage(next: stage)
        prepare = PrepareStage(settings: settings, authorization: authorization)
    }

    /// Sends a prepared request.
    func send(
        _ request: TransportRequest, _ record: ExchangeRecord, _ log: RequestLog
    ) async throws(RequestFailure) -> DataResponse {
        log.sends(request)
        record.log = log
        // The log of a failure needs the counts too.
        defer { log.keep(record) }
        var response: DataResponse
        do throws(RequestFailure) {
            response = DataResponse(
                try await first.send(request, record), url: record.lastRequest.url, redirects: record.hops,
                attempts: record.retries.attempt)
            response.sentFields = record.sentFields
            if record.isFromCache { response.storedUse = StoredResponseUse(of: response.headerFields) }
        } catch {
            throw record.retries.completed(error)
        }
        log.received(response, record)
        return response
    }
}
