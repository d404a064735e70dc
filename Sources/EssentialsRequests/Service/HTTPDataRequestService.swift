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
/// thread.
///
/// **Lifetime.** A running request holds its service, whether it is awaited or has a completion handler. A service that
/// nobody else holds therefore lets its requests finish, and is freed after the last one: dropping a reference cancels no
/// request, because it would otherwise end at a time that depends on the optimiser. A streamed body can be read to its end
/// after service and transport are gone. ``shutdown(grace:)``, a token and cancelling the caller's task end requests at a
/// chosen time, and a locator that is closed shuts its services down. Only ``shutdown(grace:)`` ends the transport.
public final class HTTPDataRequestService: DataRequestService, AuthorizationService {
    private let environment: any EnvironmentService
    private let transport: any Transport
    private let settings: ServiceSettings
    private let prepare: PrepareStage
    private let chain: Chain
    private let inFlight = RequestsInFlight()
    private let authorization = AuthorizationStore()
    /// Cancels running requests when the environment changes.
    private let watch = Mutex<Task<Void, Never>?>(nil)

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - environment: Where requests go. Each request reads it once.
    ///   - transport: Sends the requests. Only ``shutdown(grace:)`` shuts it down.
    ///   - configuration: Codecs, interceptors, logging and the like.
    public init(
        environment: any EnvironmentService, transport: any Transport, configuration: Configuration = Configuration()
    ) {
        self.environment = environment
        self.transport = transport
        settings = ServiceSettings(configuration)
        prepare = PrepareStage(settings: settings, authorization: authorization)
        chain = Chain(over: transport, settings)
        guard configuration.onEnvironmentChange == .cancelRequests else { return }
        let (changes, inFlight) = (environment.changes, inFlight)
        let task = Task { for await current in changes { inFlight.cancelAll(exceptIn: current) } }
        watch.withLock { $0 = task }
    }

    deinit { watch.withLock { $0.take() }?.cancel() }

    private var configuration: Configuration { settings.configuration }

    /// The queue on which completion handlers run that name no queue.
    public var callbackQueue: DispatchQueue { configuration.callbackQueue }
    /// Reads and writes the bodies.
    public var codecs: CodecRegistry { configuration.codecs }
    /// The environment in force.
    public var currentEnvironment: EnvironmentSnapshot { environment.snapshot }
    /// How many requests have begun and not ended; a streamed body counts until it was read.
    public var requestsInFlight: Int { inFlight.count }

    // MARK: Requests

    /// Sends a request; see the protocol.
    @discardableResult
    public func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        let environment = environment.snapshot
        let place = try begin(request, in: environment)
        defer { inFlight.end(place) }
        let log = RequestLog(settings: settings, number: place.number)
        var sent: TransportRequest?
        do throws(RequestFailure) {
            let prepared = try await prepare.prepare(request, in: environment, log, place.cancellation)
            sent = prepared.request
            let record = ExchangeRecord(
                prepared.request, prepared.rules, number: place.number, environment: environment,
                cancellation: place.cancellation)
            let response = try await chain.send(prepared.request, record, log)
            return inFlight.tracking(response, of: place)
        } catch {
            log.failed(error, sent, method: request.method)
            throw error
        }
    }

    /// Loads a response into a file; see the protocol. The request is prepared once, also if it is resumed.
    @discardableResult
    public func download(
        _ request: DataRequest, to destination: String, options: DownloadOptions = DownloadOptions(),
        progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        let environment = environment.snapshot
        let place = try begin(request, in: environment)
        defer { inFlight.end(place) }
        var request = request
        request.responseKind = .bytes
        if options.resumes { request.expectedStatus = request.expectedStatus.union([206...206, 416...416]) }
        // In one task, so that writing the file ends with the request too.
        return try await place.cancellation.runTask { [self, request] () throws(RequestFailure) in
            let log = RequestLog(settings: settings, number: place.number)
            var sent: TransportRequest?
            do throws(RequestFailure) {
                let prepared = try await prepare.prepare(request, in: environment, log, place.cancellation)
                sent = prepared.request
                return try await FileDownload.run(
                    prepared.request, to: destination, options: options, progress: progress
                ) { [self] request throws(RequestFailure) in
                    let record = ExchangeRecord(
                        request, prepared.rules, number: place.number, environment: environment,
                        cancellation: place.cancellation)
                    return try await chain.send(request, record, log).transportResponse
                }
            } catch {
                log.failed(error, sent, method: request.method)
                throw error
            }
        }
    }

    private func begin(
        _ request: DataRequest, in environment: EnvironmentSnapshot
    ) throws(RequestFailure) -> RequestsInFlight.Place {
        try inFlight.begin(
            in: configuration.onEnvironmentChange == .cancelRequests ? environment : nil,
            finishesOnShutdown: request.finishesOnShutdown ?? configuration.finishesOnShutdown)
    }

    // MARK: Authorization

    /// Sends these credentials to the origin of the environment in force from now on; see the protocol.
    public func setAuthorization(_ credentials: Credentials) {
        authorization.set(credentials, for: currentEnvironment.baseURL.origin)
    }

    /// Forgets the credentials and the private state of the origin of the environment in force; see the protocol.
    public func clearAuthorization() async {
        let origin = currentEnvironment.baseURL.origin
        authorization.clear(origin)
        for store in configuration.privateState { await store.clearPrivateState(of: origin) }
    }

    // MARK: Shutdown

    /// Ends the service and its transport. New requests fail as `closed`. Requests that run have the grace period to
    /// finish if they or the configuration say `finishesOnShutdown`; the others end as `cancelled`.
    ///
    /// Returns when all connections are closed; callers receive the end of their requests at about the same time. Further
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
                // About seventy years: the system's clock does not take every duration.
                group.addTask { try? await Task.sleep(for: min(grace, .seconds(1 << 31))) }
                await group.next()
                group.cancelAll()
            }
            inFlight.cancelAll(includingThoseThatFinish: true)
        }
        await transport.shutdown()
    }
}
