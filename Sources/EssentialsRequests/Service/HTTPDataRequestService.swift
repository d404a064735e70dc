public import Dispatch
public import EssentialsHTTP
import Synchronization

/// The data-request service over a transport.
///
/// ```swift
/// let requests = HTTPDataRequestService(
///     environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport)
/// let user: User = try await requests.get("users/1")
/// ```
///
/// It joins the path under the environment's base URL, has the interceptors prepare the request, fills in credentials
/// and the environment's fields and trust policy, follows redirects, and judges the status. Callable from any task and
/// thread. A service that nobody holds any more lets its requests finish and leaves the transport as it is;
/// ``shutdown(grace:)`` ends both.
public final class HTTPDataRequestService: DataRequestService, AuthorizationService {
    /// The environment in force, asked for by a closure because an existential is copied to be asked.
    private let snapshot: @Sendable () -> EnvironmentSnapshot
    private let transport: any Transport
    /// The same, if it can be told to end a request: asked for once, because the cast takes as long as a small request.
    private let cancellable: (any CancellableTransport)?
    private let configuration: Configuration
    private let settings: ServiceSettings
    private let inFlight = RequestsInFlight()
    private let authorization = AuthorizationStore()
    /// Cancels what runs when the environment changes.
    private let watch = Mutex<Task<Void, Never>?>(nil)

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - environment: Where requests go; asked once for each.
    ///   - transport: How they travel. The service does not shut it down unless ``shutdown(grace:)`` is called.
    ///   - configuration: Codecs, interceptors, logging and the like.
    public init(
        environment: any EnvironmentService, transport: any Transport, configuration: Configuration = Configuration()
    ) {
        snapshot = Self.snapshots(of: environment)
        self.transport = transport
        cancellable = transport as? any CancellableTransport
        self.configuration = configuration
        settings = ServiceSettings(configuration)
        guard configuration.onEnvironmentChange == .cancelRequests else { return }
        let (changes, inFlight) = (environment.changes, inFlight)
        let task = Task { for await current in changes { inFlight.cancelAll(exceptIn: current) } }
        watch.withLock { $0 = task }
    }

    private static func snapshots(of environment: some EnvironmentService) -> @Sendable () -> EnvironmentSnapshot {
        { environment.snapshot }
    }

    deinit { watch.withLock { $0.take() }?.cancel() }

    /// Where completion handlers run that name no queue.
    public var callbackQueue: DispatchQueue { configuration.callbackQueue }
    /// Reads and writes the bodies.
    public var codecs: CodecRegistry { configuration.codecs }
    /// The environment in force.
    public var currentEnvironment: EnvironmentSnapshot { snapshot() }
    /// How many requests were taken and are not over; a streamed body counts until it was read.
    public var requestsInFlight: Int { inFlight.count }

    // MARK: Requests

    /// Sends a request; see the protocol.
    @discardableResult
    public func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        let environment = snapshot()
        let flight = try inFlight.begin(in: watched(environment), finishes: request.finishesOnShutdown)
        defer { inFlight.end(flight) }
        let log = RequestLog(settings: settings, number: flight.number)
        var sent: TransportRequest?
        do throws(RequestFailure) {
            guard let plain = try plain(request, in: environment) else {
                let prepared = try await prepare(request, in: environment, log, flight)
                sent = prepared.request
                log.sends(prepared.request)
                let response = try await exchange(prepared, of: request, in: environment, flight)
                log.received(response, to: prepared.request)
                return response
            }
            // The same, without the stages that have nothing to do.
            sent = plain
            log.sends(plain)
            let deadline = RedirectStage.standard.deadline(of: plain)
            let first: TransportResponse
            if let cancellable {
                try flight.checkGoesOn(host: plain.hostText)
                defer { flight.detach() }
                first = try await cancellable.send(plain) { flight.attach($0) }
            } else {
                first = try await flight.step(host: plain.url.origin.host) {
                    [transport] () throws(RequestFailure) in try await transport.send(plain)
                }
            }
            let response: DataResponse
            if first.body.data != nil, !RedirectRules.isFollowed(first.statusCode), request.expects(first.statusCode) {
                response = DataResponse(first, url: plain.url)
            } else {
                response = try await finish(first, to: plain, deadline, of: request, flight)
            }
            log.received(response, to: plain)
            return response
        } catch {
            log.failed(error, sent, request)
            throw error
        }
    }

    /// What follows upon the first response to a plain request, if that is not all.
    private nonisolated(nonsending) func finish(
        _ first: TransportResponse, to sent: TransportRequest, _ deadline: SharedDeadline, of request: DataRequest,
        _ flight: Flight
    ) async throws(RequestFailure) -> DataResponse {
        let transport = FlightTransport(
            transport: transport, cancellable: cancellable, flight: flight, inFlight: inFlight)
        return try await HTTPExchange(codecs: configuration.codecs).finish(
            transport.tracked(first, to: sent), to: sent, deadline, through: transport,
            redirects: request.redirects ?? configuration.redirects, expected: request.expectedStatus,
            errorModel: request.errorModel)
    }

    /// Loads a response into a file; see the protocol. The request is prepared once, also if it is resumed.
    @discardableResult
    public func download(
        _ request: DataRequest, to destination: String, options: DownloadOptions = DownloadOptions(),
        progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        let environment = snapshot()
        return try await inFlight.run(in: watched(environment), finishes: request.finishesOnShutdown) {
            [self] number throws(RequestFailure) in
            let log = RequestLog(settings: settings, number: number)
            var sent: TransportRequest?
            do throws(RequestFailure) {
                let prepared = try await prepare(request.wanting(.bytes), in: environment, log, nil)
                sent = prepared.request
                let expected = request.expectedStatus.union(options.resumes ? [206...206, 416...416] : [])
                return try await FileDownload.run(
                    prepared.request, to: destination, options: options, progress: progress
                ) { [self] asked throws(RequestFailure) in
                    log.sends(asked)
                    let hops = hops(prepared, in: environment)
                    let response = try await HTTPExchange(codecs: configuration.codecs, digest: hops.digest).send(
                        asked, through: hops.transport, redirects: prepared.redirects, expected: expected,
                        errorModel: request.errorModel)
                    log.received(response, to: asked)
                    return response.transportResponse
                }
            } catch {
                log.failed(error, sent, request)
                throw error
            }
        }
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
            errorModel: request.errorModel)
    }

    /// The request as it is sent, if nobody has anything to add to it.
    private func plain(
        _ request: DataRequest, in environment: EnvironmentSnapshot
    ) throws(RequestFailure) -> TransportRequest? {
        guard configuration.interceptors.isEmpty else { return nil }
        let assembly = RequestAssembly(request: request, environment: environment, settings: settings)
        // Most services have no credentials, and none is looked for then.
        switch authorization.isEmpty ? nil : authorization.value(for: environment.baseURL.origin) {
        case nil: return try assembly.plain(authorization: nil)
        case .field(let value): return try assembly.plain(authorization: value)
        case .digest: return nil
        }
    }

    /// The environment, if a change of it is to end its requests; there is no use in keeping it else.
    private func watched(_ environment: EnvironmentSnapshot) -> EnvironmentSnapshot? {
        configuration.onEnvironmentChange == .cancelRequests ? environment : nil
    }

    /// What one exchange's hops go through.
    private func hops(_ prepared: RequestAssembly.Result, in environment: EnvironmentSnapshot) -> Hops {
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

    private struct Hops {
        var transport: any Transport
        /// The same, if it can be told to end a request.
        var cancellable: (any CancellableTransport)?
        let digest: DigestTransport?
    }

    /// - Parameter flight: nil where the whole of it is one step already.
    private func prepare(
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

    // MARK: Authorization

    /// Sends these credentials to the origin of the environment in force from now on; see the protocol.
    public func setAuthorization(_ credentials: Credentials) {
        authorization.set(credentials, for: snapshot().baseURL.origin)
    }

    /// Forgets the credentials and the private state of the origin of the environment in force; see the protocol.
    public func clearAuthorization() async {
        let origin = snapshot().baseURL.origin
        authorization.clear(origin)
        for store in configuration.privateState { await store.clearPrivateState(of: origin) }
    }

    // MARK: The end

    /// Ends the service and its transport: new requests fail as `closed`, and those that run end as `cancelled`, but that
    /// those marked with `finishesOnShutdown` have time to finish first.
    ///
    /// Returns when all connections are closed; those who wait for a request get its end at about the same time. Further
    /// calls do the same and harm nothing.
    ///
    /// - Parameter grace: How long marked requests may take; a streamed body counts until it was read.
    public func shutdown(grace: Duration = .zero) async {
        watch.withLock { $0.take() }?.cancel()
        inFlight.close()
        inFlight.cancelAll(includingThoseThatFinish: grace <= .zero)
        if grace > .zero {
            await withTaskGroup { group in
                group.addTask { [inFlight] in await inFlight.waitUntilEmpty() }
                // Some seventy years: the system's clock does not take all that a duration can be.
                group.addTask { try? await Task.sleep(for: min(grace, .seconds(1 << 31))) }
                await group.next()
                group.cancelAll()
            }
            inFlight.cancelAll(includingThoseThatFinish: true)
        }
        await transport.shutdown()
    }
}
