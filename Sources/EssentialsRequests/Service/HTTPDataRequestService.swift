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
    /// The environment in force, asked for by a closure because an existential is copied to be asked.
    let snapshot: @Sendable () -> EnvironmentSnapshot
    let transport: any Transport
    /// The same, if it can be told to end a request: asked for once, because the cast takes as long as a small request.
    let cancellable: (any CancellableTransport)?
    let configuration: Configuration
    let settings: ServiceSettings
    let inFlight = RequestsInFlight()
    let authorization = AuthorizationStore()
    /// Cancels what runs when the environment changes.
    let watch = Mutex<Task<Void, Never>?>(nil)

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
        let flight = try inFlight.begin(in: watched(environment), finishes: finishes(request))
        defer { inFlight.end(flight) }
        let log = RequestLog(settings: settings, number: flight.number)
        var sent: TransportRequest?
        do throws(RequestFailure) {
            guard let plain = try plain(request, in: environment) else {
                return try await sendThroughStages(request, in: environment, log, flight, &sent)
            }
            // The same, without the stages that have nothing to do. The steps of this way are inlined: between two
            // requests others use the caches, so that what counts is in how few pages its code lies.
            sent = plain
            log.sends(plain)
            let deadline = RedirectStage.standard.deadline(of: plain)
            let first: TransportResponse
            if let cancellable {
                try flight.checkGoesOn(host: plain.hostText)
                defer { flight.detach() }
                first = try await cancellable.send(plain) { flight.attach($0) }
            } else {
                first = try await sendInStep(plain, flight)
            }
            let response: DataResponse
            if first.body.isWhole, !RedirectRules.isFollowed(first.statusCode), request.expects(first.statusCode) {
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

    /// The request as it is sent, if nobody has anything to add to it.
    @inline(__always)
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

    /// Whether a graceful shutdown waits for a request.
    @inline(__always)
    func finishes(_ request: DataRequest) -> Bool { request.finishesOnShutdown ?? configuration.finishesOnShutdown }

    /// The environment to watch, or `nil` if environment changes do not cancel requests.
    @inline(__always)
    func watched(_ environment: EnvironmentSnapshot) -> EnvironmentSnapshot? {
        configuration.onEnvironmentChange == .cancelRequests ? environment : nil
    }
}
