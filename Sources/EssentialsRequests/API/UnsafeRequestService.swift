public import Dispatch
public import EssentialsHTTP

/// Sends requests to full URLs on any server, without credentials, cookies, interceptors or an environment's header
/// fields.
///
/// Use it for resources that an API's responses link to, such as pictures on other hosts. It should have its own
/// transport, so that it uses no client certificate and no connection of the data-request service. Application code
/// resolves it as an ``OpenRequestService``, which also declares the functions for single calls.
///
/// ```swift
/// let pictures = try UnsafeRequestService()
/// let picture = try await pictures.get(user.pictureURL, as: Data.self)
/// ```
public final class UnsafeRequestService: OpenRequestService {
    private let transport: any Transport
    private let settings: ServiceSettings
    private let chain: Chain
    private let inFlight = RequestsInFlight()

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - transport: Sends the requests. It should have no client certificate, and no other service should use it.
    ///   - configuration: Codecs, redirects and logging. Its interceptors and cookies are ignored.
    public init(
        transport: any Transport,
        configuration: HTTPDataRequestService.Configuration = HTTPDataRequestService.Configuration()
    ) {
        var configuration = configuration
        configuration.interceptors = []
        configuration.cookies = nil
        self.transport = transport
        settings = ServiceSettings(configuration)
        chain = Chain(over: transport, settings, AuthorizationStore())
    }

    private var configuration: HTTPDataRequestService.Configuration { settings.configuration }

    /// The codecs that decode bodies by media type.
    public var codecs: CodecRegistry { configuration.codecs }
    /// The queue for completion handlers of calls without a `completionQueue`.
    public var callbackQueue: DispatchQueue { configuration.callbackQueue }

    /// Sends a request; see the protocol.
    @discardableResult
    public func send(_ request: OpenRequest) async throws(RequestFailure) -> DataResponse {
        let place = try inFlight.begin(in: nil, finishesOnShutdown: false)
        defer { inFlight.end(place) }
        return try await logged(request.method, place) { log throws(RequestFailure) in
            let prepared = try request.encoded(settings)
            let record = ExchangeRecord(
                prepared, request.rules(settings), id: place.id, environment: nil, cancellation: place.cancellation)
            return inFlight.tracking(try await chain.send(record, log), of: place, log)
        }
    }

    /// Downloads a response into a file; see the protocol.
    @discardableResult
    public func download(
        _ request: OpenRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?
    ) async throws(RequestFailure) -> DownloadedFile {
        let place = try inFlight.begin(in: nil, finishesOnShutdown: false)
        defer { inFlight.end(place) }
        var request = request
        request.responseKind = .bytes
        let expectation = request.expectedStatus.ofDownload
        if options.resumes { request.expectedStatus = request.expectedStatus.forResumption }
        // One task for both, so that cancelling the request also stops writing the file.
        return try await place.cancellation.runTask { [self, request] () throws(RequestFailure) in
            try await logged(request.method, place) { log throws(RequestFailure) in
                let prepared = try request.encoded(settings)
                log.prepared(prepared)
                let rules = request.rules(settings)
                let retries = DownloadRetries(
                    chain, prepared, rules, expecting: expectation, clock: configuration.clock
                ) { request in
                    ExchangeRecord(request, rules, id: place.id, environment: nil, cancellation: place.cancellation)
                }
                let file = try await retries.download(
                    prepared, to: destination, options: options, progress: progress, log)
                log.finishedBody(file.metrics, read: file.bytes - file.resumedFrom)
                return file
            }
        }
    }

    /// Shuts down the service and its transport. Running requests fail as `cancelled`, later ones as `closed`.
    public func shutdown() async {
        inFlight.close()
        inFlight.cancelAll(includingThoseThatFinish: true)
        await transport.shutdown()
    }

    /// Runs the work and logs its failure.
    private func logged<Value>(
        _ method: HTTPRequest.Method, _ place: RequestsInFlight.Place,
        _ work: (RequestLog) async throws(RequestFailure) -> Value
    ) async throws(RequestFailure) -> Value {
        let log = RequestLog(settings, place.id, method)
        do throws(RequestFailure) {
            return try await work(log)
        } catch {
            let failure = place.failure(error)
            log.failed(failure)
            throw failure
        }
    }
}
