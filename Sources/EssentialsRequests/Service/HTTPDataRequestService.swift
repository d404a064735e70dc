public import Dispatch
public import EssentialsHTTP
import EssentialsTools
import Logging

/// The data-request service over a transport.
///
/// ```swift
/// let requests = HTTPDataRequestService(
///     environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport)
/// let user: User = try await requests.get("users/1")
/// ```
///
/// It joins the path to the environment's base URL, lets the interceptors prepare the request, adds the credentials and
/// the environment's header fields and trust policy, follows redirects, and checks the status. It can be used from any
/// task and thread.
///
/// **Lifetime.** A running request keeps its service alive, whether it is awaited or has a completion handler.
/// Releasing the last other reference therefore cancels nothing: the requests finish, and the service is deallocated
/// after the last one. If it cancelled them, they would end at a time that depends on the optimiser. A streamed body can
/// be read to its end after the service and the transport are gone. To end requests at a chosen time, use
/// ``shutdown(grace:)``, a token, or the cancellation of the calling task. Closing a locator shuts down its services.
/// This also shuts down the transport, which nothing else does.
public final class HTTPDataRequestService: DataRequestService, AuthorizationService, URLResolving {
    private let environment: any EnvironmentService
    private let transport: any Transport
    let settings: ServiceSettings
    let chain: Chain
    private let inFlight = RequestsInFlight()
    let authorization = AuthorizationStore()
    /// The environment of the last operation, with what stores need of it.
    private let identity: Mutex<EnvironmentIdentity?> = Mutex(nil)
    let privateState: PrivateStateStores
    /// Cancels running requests, or closes groups of equal ones, when the environment changes.
    private let watch = Mutex<Task<Void, Never>?>(nil)

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - environment: The environment. Each request reads it once.
    ///   - transport: Sends the requests. ``shutdown(grace:)`` shuts it down too, and so does closing a locator that
    ///     holds the service. Services that share a transport therefore end together. Releasing the service only
    ///     releases the transport.
    ///   - configuration: Codecs, interceptors, logging and further settings.
    public convenience init(
        environment: any EnvironmentService, transport: any Transport, configuration: Configuration = Configuration()
    ) {
        self.init(environment: environment, transport: transport, ServiceSettings(configuration))
    }

    init(environment: any EnvironmentService, transport: any Transport, _ settings: ServiceSettings) {
        let configuration = settings.configuration
        self.environment = environment
        self.transport = transport
        self.settings = settings
        privateState = PrivateStateStores(configuration.privateState, limit: Self.privateStateStoreLimit)
        chain = Chain(over: transport, settings, authorization, inFlight)
        let cancels = configuration.onEnvironmentChange == .cancelRequests
        guard cancels || settings.joins != nil else { return }
        let (changes, inFlight, joins) = (environment.changes, inFlight, settings.joins)
        let task = Task {
            for await current in changes {
                joins?.closeAll()
                if cancels { inFlight.cancelAll(exceptIn: current) }
            }
        }
        watch.withLock { $0 = task }
    }

    deinit { watch.withLock { $0.take() }?.cancel() }

    private var configuration: Configuration { settings.configuration }

    /// The queue for completion handlers of calls without a `completionQueue`.
    public var callbackQueue: DispatchQueue { configuration.callbackQueue }
    /// The codecs that encode and decode bodies by media type.
    public var codecs: CodecRegistry { configuration.codecs }
    /// The current environment.
    public var currentEnvironment: EnvironmentSnapshot { environment.snapshot }
    /// The current environment with what stores need of it, which is computed once for each snapshot.
    var environmentIdentity: EnvironmentIdentity {
        if let known = identity.withLock({ $0 }), known.versioned.isCurrent(in: environment) { return known }
        let current = EnvironmentIdentity(of: environment)
        let former = identity.withLock { identity in
            defer { identity = current }
            return identity
        }
        // Settings of the application can end with it, outside the lock.
        _ = consume former
        return current
    }
    /// The number of running requests. A streamed body counts until it was read or dropped.
    public var requestsInFlight: Int { inFlight.count }
    /// The load of the service's transport; `nil` if it does not know it, such as one for tests.
    public var transportLoad: TransportLoad? {
        get async { await (transport as? any LoadReporting)?.load }
    }
    /// The transport, if it knows its load.
    package var loadSource: (any LoadReporting)? { transport as? any LoadReporting }
    /// When the first pins of the current environment expire, or those of the transport if it has no policy.
    package var pinExpiry: (date: String, isOver: Bool)? {
        let policy = currentEnvironment.trust ?? (transport as? any TrustBearing)?.trustPolicy
        return policy?.pinExpiry(by: configuration.clock)
    }
    /// The response cache; `nil` without one.
    package var responseCache: ResponseCache? { configuration.cache }
    /// The use of the limits by each origin: those of the current environment if it has its own, otherwise those of the
    /// configuration; `nil` without limits.
    public var limits: RequestLimits? { settings.hops.counts(of: currentEnvironment.settings.limits) }

    // MARK: Requests

    /// Sends a request; see the protocol.
    @discardableResult
    @inline(__always)  // Called through the protocol, it needs one frame less.
    public func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        let begun = Epoch.now
        let current = environment.snapshot
        let place = try begin(request, in: current, mayBeEndless: request.options.delivery == .streamed)
        defer { inFlight.end(place) }
        let reporter = RequestReporter.begin(settings, place.id, request, in: current)
        var record: ExchangeRecord?
        do throws(RequestFailure) {
            let prepared = try await prepare(
                request, in: current, SubmittedRequest(begun: begun, place: place, reporter: reporter))
            record = prepared
            let response = try await chain.send(prepared, reporter)
            // Most requests end here.
            if response.body.isWhole {
                reporter.completed()
                return response
            }
            return inFlight.tracking(response, of: place, reporter)
        } catch {
            throw failed(error, of: request, record, place, reporter)
        }
    }

    /// Prepares a request, and makes the record that accompanies it.
    ///
    /// - Parameter current: The environment of the service when the request was submitted.
    @inline(__always)  // Most requests need no frame of a further function.
    private func prepare(
        _ request: DataRequest, in current: EnvironmentSnapshot, _ submitted: SubmittedRequest
    ) async throws(RequestFailure) -> ExchangeRecord {
        if try request.base.isOf(current) {
            guard settings.isForAnyServer else {
                return try await chain.prepare.prepare(request, in: current, isForeign: false, submitted)
            }
            // The service has no environment, also for requests that were pinned to it.
            var whole = request
            whole.base = .anyServer
            return try await prepare(whole, at: whole.environment(in: current), submitted)
        }
        return try await prepare(request, at: request.environment(in: current), submitted)
    }

    /// Prepares a request with a base of its own.
    private func prepare(
        _ request: DataRequest, at base: RequestEnvironment, _ submitted: SubmittedRequest
    ) async throws(RequestFailure) -> ExchangeRecord {
        try await chain.prepare.prepare(request, in: base.snapshot, isForeign: base.isForeign, submitted)
    }

    /// The failure of a request as its caller receives it.
    ///
    /// - Parameter record: The record of the request; `nil` if it was not prepared.
    private func failed(
        _ failure: RequestFailure, of request: DataRequest, _ record: ExchangeRecord?, _ place: RequestsInFlight.Place,
        _ reporter: RequestReporter
    ) -> RequestFailure {
        let shown = record?.request.url.redacted ?? RequestFailure.shown(request.path)
        let failure = place.failure(failure).naming(request.method, shown)
        reporter.failed(failure)
        return failure
    }

    /// Downloads a response into a file; see the protocol. The request is prepared once, even if it is resumed.
    @discardableResult
    public func download(
        _ request: DataRequest, to destination: String, options: DownloadOptions = DownloadOptions(),
        progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        let begun = Epoch.now
        let current = environment.snapshot
        let place = try begin(request, in: current, mayBeEndless: true)
        defer { inFlight.end(place) }
        var request = request
        request.responseKind = .bytes
        let reporter = RequestReporter.begin(settings, place.id, request, in: current)
        do throws(RequestFailure) {
            return try await download(
                request, to: destination, options: options, progress: progress, in: current, begun, place, reporter)
        } catch {
            // A download that is cancelled already has not begun. Otherwise its end was reported.
            reporter.hasNotBegun(error)
            throw error
        }
    }

    /// Downloads a response in a task.
    private func download(
        _ request: DataRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?,
        in current: EnvironmentSnapshot, _ begun: Epoch, _ place: RequestsInFlight.Place, _ reporter: RequestReporter
    ) async throws(RequestFailure) -> DownloadedFile {
        // One task for both, so that cancelling the request also stops writing the file.
        try await place.cancellation.runTask { [self] () throws(RequestFailure) in
            var record: ExchangeRecord?
            do throws(RequestFailure) {
                let prepared = try await prepare(
                    request, in: current, SubmittedRequest(begun: begun, place: place, reporter: reporter))
                record = prepared
                reporter.prepared(prepared.request)
                var rules = prepared.rules
                // The file of a download is the caller's, and can be resumed.
                rules.cachePolicy = .bypass
                let expectation = rules.expectedStatus.ofDownload
                if options.resumes { rules.expectedStatus = rules.expectedStatus.forResumption }
                let (environment, submission) = (prepared.environment, prepared.submission)
                let retries = DownloadRetries(
                    chain, prepared.request, rules, expecting: expectation, clock: configuration.clock
                ) { [rules] request in
                    ExchangeRecord(
                        request, rules, id: place.id, environment: environment, submission: submission,
                        cancellation: place.cancellation)
                }
                let file = try await retries.download(
                    prepared.request, to: destination, options: options, progress: progress, reporter)
                reporter.endedBody(.completed, read: file.bytes - file.resumedFrom, file.metrics)
                return file
            } catch {
                throw failed(error, of: request, record, place, reporter)
            }
        }
    }

    /// - Parameter mayBeEndless: Whether the response is streamed or a file, so that a shutdown does not wait for it.
    private func begin(
        _ request: DataRequest, in environment: EnvironmentSnapshot, mayBeEndless: Bool
    ) throws(RequestFailure) -> RequestsInFlight.Place {
        let isWatched = configuration.onEnvironmentChange == .cancelRequests && request.base.isEnvironment
        let place: RequestsInFlight.Place
        do throws(RequestFailure) {
            place = try inFlight.begin(
                in: isWatched ? RequestsInFlight.WatchedEnvironment(environment) : nil,
                finishesOnShutdown: request.finishesDuringShutdown(in: environment) ?? configuration.settings
                    .finishesOnShutdown ?? !mayBeEndless)
        } catch {
            let failure = error.naming(request.method, RequestFailure.shown(request.path))
            RequestReporter.refused(failure, request, in: environment, settings) { inFlight.refusedID() }
            throw failure
        }
        // The environment may have changed before the request was among those that the change cancels.
        if isWatched, currentEnvironment != environment { place.cancellation.cancel() }
        return place
    }

    /// The URL of a request without its query items and parameters.
    ///
    /// - Throws: `invalidRequest` if the path leads to another origin or out of the base URL's path.
    package func url(of request: DataRequest) throws(RequestFailure) -> RequestURL {
        let environment = try request.environment(in: currentEnvironment).snapshot
        return try request.url(in: environment, settings)
    }

    /// For whom a request would be sent that is submitted now, so that later requests of one operation are sent for the
    /// same; `nil` if its base is invalid.
    func scope(of request: DataRequest) -> CredentialScope? {
        guard !request.base.isAnyServer, let environment = try? request.environment(in: currentEnvironment) else {
            return nil
        }
        return authorization.scope(for: environment.snapshot.baseURL.origin, of: request)
    }

    // MARK: Authorization

    /// Sends these credentials to the origin of the current environment from now on; see the protocol.
    public func setAuthorization(_ credentials: Credentials) {
        setAuthorization(credentials, for: currentEnvironment)
    }

    /// Sends these credentials to the origin of an environment from now on; see the protocol.
    public func setAuthorization(_ credentials: Credentials, for environment: EnvironmentSnapshot) {
        let origin = environment.baseURL.origin
        // Cookies belong to whoever was logged in. They are gone before anything is sent for the next one.
        let hasReplaced = authorization.set(credentials, for: origin) { removeCookies(of: environment) }
        if hasReplaced { privateState.replaceCredentials(of: origin) }
        settings.joins?.closeAll()
        privateState.credentialsWereSet(at: origin)
    }

    /// Removes the credentials and the private state of the origin of the current environment; see the protocol.
    public func clearAuthorization() async { await clearAuthorization(for: currentEnvironment) }

    /// Removes the credentials and the private state of the origin of an environment; see the protocol.
    public func clearAuthorization(for environment: EnvironmentSnapshot) async {
        let origin = environment.baseURL.origin
        let accounts = authorization.clear(origin) { removeCookies(of: environment) }
        // Closed at once, because the stores may take a while, and again for groups that have used what they had.
        settings.joins?.closeAll()
        await configuration.cache?.removePrivate(of: origin, accounts)
        await privateState.clear(origin, configuration.clock)
        settings.joins?.closeAll()
    }

    /// Removes the cookies that the origin of an environment receives.
    private func removeCookies(of environment: EnvironmentSnapshot) {
        let host = environment.baseURL.origin.host
        for choice in settings.hops.cookies(of: environment.settings) {
            choice.storage?.removeCookies(visibleTo: host)
            configuration.cache?.endSession(of: host, choice)
        }
    }

    /// Lets later requests share no response with those that have begun. A store that is about to remove what it has calls
    /// it, so that no response from before is stored afterwards. The closure does not retain the service.
    package var separateRequests: @Sendable () -> Void { { [joins = settings.joins] in joins?.closeAll() } }

    // MARK: Shutdown

    /// Whether a shutdown has begun. New requests then fail as `closed`, and requests in flight may fail as
    /// `cancelled`.
    public var isClosed: Bool { inFlight.isClosed }

    /// Shuts down the service and its transport.
    ///
    /// New requests fail as `closed`. Running requests may finish within the grace period as ``finish(within:)`` says. All
    /// other running requests fail as `cancelled`.
    ///
    /// A streamed body throws `cancelled` at its next element. The file of a download is removed, or kept as `NAME.part`
    /// with the option `resumes`. The article “Ending a program” shows programs that end on a signal.
    ///
    /// If the service is the last one that uses ``OAuth2Tokens`` and a refresh token was sent, the function waits for the
    /// response and stores the new tokens, within the time limit of their configuration and at most 30 seconds.
    ///
    /// The function returns when all connections are closed. Callers receive the end of their requests at about the
    /// same time. It may be called more than once: a second call with a shorter grace period ends the first one too.
    ///
    /// - Parameter grace: The maximum time for running requests, including the time for reading streamed bodies. The
    ///   default is zero, which cancels all. It is over at once if the calling task is cancelled.
    public func shutdown(grace: Duration = .zero) async {
        await finish(within: grace)
        // Until now, a change of the environment could still cancel requests.
        watch.withLock { $0.take() }?.cancel()
        inFlight.cancelAll(includingThoseThatFinish: true)
        await authorization.close()
        await transport.shutdown()
        await saveCookies()
    }

    /// Refuses new requests, which fail as `closed`, and waits until those that may finish have ended, for at most a time.
    ///
    /// A request whose response is received as a whole may finish. A streamed one and a download may be endless, so they
    /// are cancelled at once. `finishesOnShutdown` of a request, of its environment or of the configuration says
    /// otherwise. What is left afterwards goes on; ``shutdown(grace:)``, which begins with this, cancels it.
    ///
    /// - Parameter grace: The maximum time. It is over at once if the calling task is cancelled. Zero and less cancel all.
    public func finish(within grace: Duration) async {
        inFlight.close()
        inFlight.cancelAll(includingThoseThatFinish: grace <= .zero)
        guard grace > .zero else { return }
        await inFlight.waitUntilEmpty { try? await Task.sleep(for: grace.sleepable) }
    }

    /// Saves all cookies at the same time, because each file may be locked for a while.
    private func saveCookies() async {
        await withTaskGroup { group in
            for choice in settings.hops.usedCookies {
                guard let storage = choice.storage else { continue }
                group.addTask { [logger = configuration.logger] in
                    do throws(RequestFailure) {
                        try await storage.flush()
                    } catch {
                        logger.debug("cookies not saved", metadata: ["error": "\(error)"])
                    }
                }
            }
        }
    }
}
