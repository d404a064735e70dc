import EssentialsHTTP

/// One step between a prepared request and the transport.
///
/// If a stage waits for anything except its next stage, it registers that with the record's cancellation.
///
/// A stage is an object, because copying a value with several parts for every request costs more than most stages do.
protocol Stage: AnyObject, Sendable {
    /// Whether the stage may have something to do for a request. If it is `false`, the stage would only pass the request
    /// on, so the chain does not enter it. It is asked for each attempt, so it compares no more than a flag or a
    /// reference. The default is `true`.
    func isUsed(by request: TransportRequest, _ record: ExchangeRecord) -> Bool

    /// Sends a request through this stage and all later stages.
    func send(_ request: TransportRequest, _ record: ExchangeRecord) async throws(RequestFailure) -> TransportResponse
}

extension Stage {
    func isUsed(by request: TransportRequest, _ record: ExchangeRecord) -> Bool { true }
}

/// A stage of the chain and all stages after it.
final class RemainingStages: Sendable {
    private let first: any Stage
    /// `nil` after the last stage, which is used by every request.
    private let others: RemainingStages?

    init(_ first: any Stage, before others: RemainingStages? = nil) {
        self.first = first
        self.others = others
    }

    /// Sends a request through those stages that it uses.
    @inline(__always)
    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        try await used(by: request, record).first.send(request, record)
    }

    /// The stages from the first one that the request uses.
    private func used(by request: TransportRequest, _ record: ExchangeRecord) -> RemainingStages {
        var stages = self
        while let others = stages.others, !stages.first.isUsed(by: request, record) { stages = others }
        return stages
    }
}

/// The stages that every request of a service passes through, built once for the service.
struct Chain: Sendable {
    /// The first stage, which makes the request that the others send.
    let prepare: PrepareStage
    /// The stage for retries, which a download asks again when its body fails.
    let retry: RetryStage
    private let first: StatusStage

    /// Builds the chain from the inside out. No other code depends on the order of the stages.
    ///
    /// - Parameters:
    ///   - transport: Sends one hop.
    ///   - settings: The service's configuration. Stages that it does not need are not built.
    ///   - authorization: The credentials of the service.
    init(over transport: any Transport, _ settings: ServiceSettings, _ authorization: AuthorizationStore) {
        let clock = settings.configuration.clock.clock
        // Each attempt: all waiting is done in the stages above.
        var stages = RemainingStages(TransportStage(transport: transport))
        func add(_ stage: any Stage) { stages = RemainingStages(stage, before: stages) }
        // Every attempt has its own cookies: those of the service, or of an environment. Those of every response are
        // stored, including a 401 that Digest handles, whose next attempt sends them.
        let isIntercepted = !settings.configuration.interceptors.isEmpty
        let cookies = settings.configuration.cookies
        add(CookieStage(storage: cookies, adds: !isIntercepted, stores: true, next: stages))
        // Digest credentials are computed from the signed URL, and no other stage sees a 401 that Digest handles.
        add(DigestStage(clock: clock, next: stages))
        // Signatures are created last, so that their dates are recent and they cover every other field, cookies included.
        if isIntercepted {
            add(SigningStage(interceptors: settings.configuration.interceptors, next: stages))
            add(CookieStage(storage: cookies, adds: true, stores: false, next: stages))
        }
        // Breaker, rate and concurrency: what waits here has its token, and nothing that waits above holds a permit.
        add(GateStage(limits: settings.limits, next: stages))
        // Tokens: at most one more attempt after a 401.
        add(TokenStage(clock: clock, next: stages))

        // Each attempt of one hop.
        retry = RetryStage(settings.configuration, next: stages)
        add(retry)
        // Each hop: the response cache. Without one, ``send(_:_:_:)`` refuses requests for stored responses.
        // Interceptors receive the outcome of each hop, including hits of the cache, and cannot cause a retry.
        if isIntercepted {
            add(ReceivingStage(interceptors: settings.configuration.interceptors, next: stages))
        }
        add(RedirectStage(clock: clock, next: stages))
        // Equal requests share all that follows, if the service or the request allows it.
        if let joins = settings.joins {
            add(JoinStage(joins: joins, clock: settings.configuration.clock, isJudged: isIntercepted, next: stages))
        }

        // Each request, once: it is prepared, and the status is checked outside all stages that may act on it.
        first = StatusStage(next: stages)
        prepare = PrepareStage(settings: settings, authorization: authorization)
    }

    /// Sends a prepared request.
    ///
    /// - Throws: `notCached` if it accepts only a stored response, and the failures of the stages.
    func send(
        _ request: TransportRequest, _ record: ExchangeRecord, _ log: RequestLog
    ) async throws(RequestFailure) -> DataResponse {
        try request.refuseIfOnlyStored()
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

extension TransportRequest {
    /// Refuses a request that accepts only a stored response, because none is stored. An origin server does not know the
    /// directive and would respond.
    fileprivate func refuseIfOnlyStored() throws(RequestFailure) {
        guard headerFields.contains(.cacheControl), CacheDirectives(of: headerFields).requiresStored else { return }
        throw RequestFailure(
            .notCached, "The request accepts only a stored response, and this service stores none.",
            remedy: "Send it without only-if-cached (a resource: without .onlyIfStored), so that the server is asked.",
            host: url.origin.host.text, transmission: .unsent)
    }
}
