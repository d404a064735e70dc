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

    /// The value with which this stage will send a header field, as far as it is known before; `nil` for fields that it does
    /// not change. The response cache asks for fields that a stored `Vary` names. The default is `nil`.
    func fieldToCome(
        _ name: HTTPField.Name, _ request: TransportRequest, _ record: ExchangeRecord
    ) -> String?

    /// Sends a request through this stage and all later stages.
    func send(_ request: TransportRequest, _ record: ExchangeRecord) async throws(RequestFailure) -> TransportResponse
}

extension Stage {
    func isUsed(by request: TransportRequest, _ record: ExchangeRecord) -> Bool { true }
    func fieldToCome(
        _ name: HTTPField.Name, _ request: TransportRequest, _ record: ExchangeRecord
    ) -> String? { nil }
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

    /// The value with which these stages will send a header field; `nil` if none of them changes it.
    func fieldToCome(
        _ name: HTTPField.Name, _ request: TransportRequest, _ record: ExchangeRecord
    ) -> String? {
        var stages: RemainingStages? = self
        while let current = stages {
            if let value = current.first.fieldToCome(name, request, record) { return value }
            stages = current.others
        }
        return nil
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
    /// The attempts of all requests, which a download asks for another one when its body has failed.
    let attempts: RepeatedAttempts
    private let status: StatusStage
    private let storesResponses: Bool

    /// Builds the chain in the order in which a request passes through it. No other code depends on that order.
    ///
    /// - Parameters:
    ///   - transport: Sends one hop.
    ///   - settings: The service's configuration. Stages that it does not need are not built.
    ///   - authorization: The credentials of the service.
    ///   - inFlight: The requests of the service, to which the stages may add their own.
    init(
        over transport: any Transport, _ settings: ServiceSettings, _ authorization: AuthorizationStore,
        _ inFlight: RequestsInFlight = RequestsInFlight()
    ) {
        let clock = settings.configuration.clock.clock
        let isIntercepted = !settings.configuration.interceptors.isEmpty
        let attempts = RepeatedAttempts(settings.configuration)
        var stages: [(RemainingStages) -> any Stage] = []
        func add(_ stage: @escaping (_ next: RemainingStages) -> any Stage) { stages.append(stage) }

        // Each request, once: it is prepared, and the status is checked outside all stages that may act on it.
        prepare = PrepareStage(settings: settings, authorization: authorization)
        let status = { StatusStage(next: $0) }
        // Equal requests share all that follows, if the service or the request allows it.
        if let joins = settings.joins {
            add { JoinStage(joins: joins, clock: settings.configuration.clock, isJudged: isIntercepted, next: $0) }
        }
        add { RedirectStage(clock: clock, next: $0) }

        // Each hop. Interceptors receive the outcome of each hop, including hits of the cache, and cannot cause a retry.
        if isIntercepted { add { ReceivingStage(interceptors: settings.configuration.interceptors, next: $0) } }
        // The response cache of the service or of the request. Without one, ``send(_:_:)`` refuses requests for stored
        // responses.
        let background = BackgroundValidations(inFlight, settings)
        add { next in
            CacheStage(settings.configuration, over: transport, background, next: next)
        }
        add { RetryStage(attempts, next: $0) }

        // Each attempt of one hop: all waiting is done in these two.
        // Tokens: at most one more attempt after a 401.
        add { TokenStage(clock: clock, next: $0) }
        // Breaker, rate and concurrency: what waits here has its token, and nothing that waits above holds a permit.
        add { GateStage(next: $0) }
        // What observers add, such as the context of a trace, is signed too.
        if settings.observers.contains(where: \.addsFields) { add { ObserversStage(next: $0) } }
        // Signatures are created last, so that their dates are recent and they cover every other field, cookies included.
        if isIntercepted {
            add { CookieStage(adds: true, stores: false, next: $0) }
            add { SigningStage(interceptors: settings.configuration.interceptors, next: $0) }
        }
        // Digest credentials are computed from the signed URL, and no other stage sees a 401 that Digest handles.
        add { DigestStage(drain: BodyDrain(clock: clock), next: $0) }
        // Every attempt has its own cookies: those of the request, the environment or the service. Those of every response are
        // stored, including a 401 that Digest handles, whose next attempt sends them.
        add { CookieStage(adds: !isIntercepted, stores: true, next: $0) }
        let last = RemainingStages(TransportStage(transport: transport, clock: settings.configuration.clock))

        self.attempts = attempts
        storesResponses = settings.configuration.cache != nil
        self.status = status(stages.reversed().reduce(last) { next, make in RemainingStages(make(next), before: next) })
    }

    /// Sends the prepared request of a record.
    ///
    /// - Throws: `notCached` if it accepts only a stored response, and the failures of the stages.
    @inline(__always)  // Most requests need no frame of a further function.
    func send(_ record: ExchangeRecord, _ reporter: RequestReporter) async throws(RequestFailure) -> DataResponse {
        if !storesResponses, record.rules.boundContent == nil {
            try record.request.refuseIfOnlyStored("this service stores none")
        }
        reporter.begins(record.request)
        record.reporter = reporter
        do throws(RequestFailure) {
            let response = record.response(try await status.send(record))
            reporter.received(response, record)
            return response
        } catch {
            // The report of a failure needs the counts too.
            reporter.keep(record)
            throw record.retries.completed(error)
        }
    }
}

extension ExchangeRecord {
    /// The response as the caller receives it.
    fileprivate func response(_ response: TransportResponse) -> DataResponse {
        var whole = DataResponse(response, url: lastURL, redirects: hops, attempts: retries.attempt)
        whole.sentFields = sentFields
        whole.cacheFacts = cacheFacts
        if cacheFacts == nil, isFromCache { whole.storedUse = StoredResponseUse(of: response.headerFields) }
        return whole
    }
}

extension TransportRequest {
    /// Refuses a request that accepts only a stored response, because there can be none. An origin server does not know the
    /// directive and would respond.
    func refuseIfOnlyStored(_ reason: String) throws(RequestFailure) {
        guard headerFields.contains(.cacheControl), CacheDirectives(of: headerFields).requiresStored else { return }
        throw RequestFailure(
            .notCached, "The request accepts only a stored response, and \(reason).",
            remedy: "Send it without only-if-cached (a resource: without .onlyIfStored), so that the server is asked.",
            host: url.origin.host.text, transmission: .unsent)
    }
}
