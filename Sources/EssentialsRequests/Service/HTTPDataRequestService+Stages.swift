import EssentialsHTTP

/// The way of a request that has more to go through than most: apart from the way of most, whose code lies closer together
/// for it.
extension HTTPDataRequestService {
    /// Sends a request that somebody has something to add to.
    ///
    /// - Parameter sent: What it came to, for whoever logs its failure.
    nonisolated(nonsending) func sendThroughStages(
        _ request: DataRequest, in environment: EnvironmentSnapshot, _ log: RequestLog, _ flight: Flight,
        _ sent: inout TransportRequest?
    ) async throws(RequestFailure) -> DataResponse {
        let prepared = try await prepare(request, in: environment, log, flight)
        sent = prepared.request
        log.sends(prepared.request)
        let response = try await exchange(prepared, of: request, in: environment, flight)
        log.received(response, to: prepared.request)
        return response
    }

    /// Sends a plain request through a transport that cannot be told to end one.
    nonisolated(nonsending) func sendInStep(
        _ plain: TransportRequest, _ flight: Flight
    ) async throws(RequestFailure) -> TransportResponse {
        try await flight.step(host: plain.url.origin.host) {
            [transport] () throws(RequestFailure) in try await transport.send(plain)
        }
    }

    /// What follows upon the first response to a plain request, if that is not all.
    nonisolated(nonsending) func finish(
        _ first: TransportResponse, to sent: TransportRequest, _ deadline: SharedDeadline, of request: DataRequest,
        _ flight: Flight
    ) async throws(RequestFailure) -> DataResponse {
        let transport = FlightTransport(
            transport: transport, cancellable: cancellable, flight: flight, inFlight: inFlight)
        return try await HTTPExchange(codecs: configuration.codecs).finish(
            transport.tracked(first, to: sent), to: sent, deadline, through: transport,
            redirects: request.redirects ?? configuration.redirects, expected: request.expectedStatus,
            errorModel: request.errorModel ?? configuration.errorModel)
    }

    /// One request's way to the transport and back.
    private nonisolated(nonsending) func exchange(
        _ prepared: RequestAssembly.Result, of request: DataRequest, in environment: EnvironmentSnapshot,
        _ flight: Flight
    ) async throws(RequestFailure) -> DataResponse {
        let hops = hops(prepared, in: environment)
        let transport = FlightTransport(
            transport: hops.transport, cancellable: hops.cancellable, flight: flight, inFlight: inFlight)
        return try await HTTPExchange(codecs: configuration.codecs, digest: hops.digest).send(
            prepared.request, through: transport, redirects: prepared.redirects, expected: request.expectedStatus,
            errorModel: request.errorModel ?? configuration.errorModel)
    }

    /// What one exchange's hops go through.
    func hops(_ prepared: RequestAssembly.Result, in environment: EnvironmentSnapshot) -> Hops {
        var hops = Hops(transport: transport, cancellable: cancellable, digest: nil)
        if let session = prepared.digest {
            let digest = DigestTransport(
                transport, cancellable: cancellable, session: session, origin: environment.baseURL.origin,
                body: prepared.body)
            hops = Hops(transport: digest, cancellable: cancellable == nil ? nil : digest, digest: digest)
        }
        // Outside of the answers to challenges, which are made of the URL as it is sent.
        if !configuration.interceptors.isEmpty {
            hops.transport = SigningTransport(
                hops.transport, interceptors: configuration.interceptors, environment: environment,
                body: prepared.body)
            hops.cancellable = nil
        }
        return hops
    }

    struct Hops {
        var transport: any Transport
        /// The same, if it can be told to end a request.
        var cancellable: (any CancellableTransport)?
        let digest: DigestTransport?
    }

    /// - Parameter flight: nil where the whole of it is one step already.
    func prepare(
        _ request: DataRequest, in environment: EnvironmentSnapshot, _ log: RequestLog, _ flight: Flight?
    ) async throws(RequestFailure) -> RequestAssembly.Result {
        let assembly = RequestAssembly(request: request, environment: environment, settings: settings)
        var draft = try assembly.draft()
        if !configuration.interceptors.isEmpty {
            let (host, before, interceptors) = (environment.baseURL.origin.host.text, draft, configuration.interceptors)
            let intercept = { @Sendable () async throws(RequestFailure) -> RequestDraft in
                var draft = before
                for interceptor in interceptors {
                    try await interceptor.run(host: host) { try await $0.prepare(&draft) }
                }
                return draft
            }
            draft =
                if let flight { try await flight.step(host: environment.baseURL.origin.host, intercept) } else {
                    try await intercept()
                }
        }
        let authorization = authorization.value(for: environment.baseURL.origin)
        let result = try assembly.result(of: draft, authorization: authorization)
        log.passedOver(result.passedOver)
        return result
    }
}
