public import Dispatch
public import EssentialsHTTP

/// Sends GET requests to full URLs on any server, without credentials, interceptors or an environment's header fields.
///
/// Use it for resources that an API's responses link to, such as pictures on other hosts. It should have its own
/// transport, so that it uses no client certificate and no connection of the data-request service. Parameters are added
/// to the query.
///
/// ```swift
/// let pictures = try UnsafeRequestService()
/// let picture = try await pictures.get(user.pictureURL, as: Data.self)
/// ```
public final class UnsafeRequestService: Sendable {
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

    /// Gets a model; see `DataRequestService.get`.
    ///
    /// - Parameters:
    ///   - url: The full URL, with the scheme `http` or `https`.
    ///   - parameters: Named values that are added to the query.
    ///   - type: The model type.
    ///   - options: Deadlines, limits and protocol.
    /// - Throws: `invalidRequest` if the URL is invalid, and the failures of `DataRequestService.get`.
    public func get<Model: Decodable & Sendable>(
        _ url: String, parameters: FormParameters = [:], as type: Model.Type = Model.self,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> Model {
        let isModel = ResponseKind(reading: type) == .model
        let response = try await send(url, parameters, accept: isModel ? "application/json" : "*/*", options)
        return try await ModelReader.read(type, from: response, to: .get, configuration.codecs)
    }

    /// Gets a response; see ``get(_:parameters:as:options:)``.
    @discardableResult
    public func get(
        _ url: String, parameters: FormParameters = [:], options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(url, parameters, accept: "*/*", options)
    }

    /// Downloads a file; see `Transport.download`.
    @discardableResult
    public func download(
        _ url: String, parameters: FormParameters = [:], to destination: String,
        options: DownloadOptions = DownloadOptions(), progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        let place = try inFlight.begin(in: nil, finishesOnShutdown: false)
        defer { inFlight.end(place) }
        // One task for both, so that cancelling the request also stops writing the file.
        return try await place.cancellation.runTask { [self] () throws(RequestFailure) in
            try await logged(place) { log throws(RequestFailure) in
                let request = try request(url, parameters, accept: "*/*", TransportOptions())
                log.prepared(request)
                let expected = options.resumes ? StatusExpectation.success.forResumption : .success
                let rules = rules(expecting: expected)
                let retries = DownloadRetries(chain, request, rules, clock: configuration.clock) { request in
                    ExchangeRecord(request, rules, id: place.id, environment: nil, cancellation: place.cancellation)
                }
                let file = try await retries.download(
                    request, to: destination, options: options, progress: progress, log)
                log.finishedBody(file.metrics, read: file.bytes - file.resumedFrom)
                return file
            }
        }
    }

    // MARK: Completion handlers

    /// Gets a model and passes it to a completion handler; see `DataRequestService.send`.
    @discardableResult
    public func get<Model: Decodable & Sendable>(
        _ url: String, parameters: FormParameters = [:], deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        CallbackRun(on: completionQueue ?? configuration.callbackQueue).start(completion) {
            [self] _ throws(RequestFailure) in try await get(url, parameters: parameters, as: type)
        }
    }

    /// Gets a response and passes it to a completion handler; see `DataRequestService.send`.
    @discardableResult
    public func get(
        _ url: String, parameters: FormParameters = [:], completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        CallbackRun(on: completionQueue ?? configuration.callbackQueue).start(completion) {
            [self] _ throws(RequestFailure) in try await get(url, parameters: parameters)
        }
    }

    /// Downloads a file and calls a completion handler; see `DataRequestService.download`.
    @discardableResult
    public func download(
        _ url: String, parameters: FormParameters = [:], to destination: String,
        options: DownloadOptions = DownloadOptions(), completionQueue: DispatchQueue? = nil,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedFile, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? configuration.callbackQueue)
        return run.start(completion) { [self] run throws(RequestFailure) in
            let report = run.report(every: progressInterval, progress)
            return try await download(url, parameters: parameters, to: destination, options: options, progress: report)
        }
    }

    /// Shuts down the service and its transport. Running requests fail as `cancelled`, later ones as `closed`.
    public func shutdown() async {
        inFlight.close()
        inFlight.cancelAll(includingThoseThatFinish: true)
        await transport.shutdown()
    }

    // MARK: Sending

    private func send(
        _ url: String, _ parameters: FormParameters, accept: String, _ options: TransportOptions
    ) async throws(RequestFailure) -> DataResponse {
        let place = try inFlight.begin(in: nil, finishesOnShutdown: false)
        defer { inFlight.end(place) }
        return try await logged(place) { log throws(RequestFailure) in
            let request = try request(url, parameters, accept: accept, options)
            let response = try await exchange(request, expecting: .success, place, log)
            return inFlight.tracking(response, of: place, log)
        }
    }

    /// Runs the work and logs its failure.
    private func logged<Value>(
        _ place: RequestsInFlight.Place,
        _ work: (RequestLog) async throws(RequestFailure) -> Value
    ) async throws(RequestFailure) -> Value {
        let log = RequestLog(settings, place.id, .get)
        do throws(RequestFailure) {
            return try await work(log)
        } catch {
            let failure = place.failure(error)
            log.failed(failure)
            throw failure
        }
    }

    private func request(
        _ url: String, _ parameters: FormParameters, accept: String, _ options: TransportOptions
    ) throws(RequestFailure) -> TransportRequest {
        var target = try RequestURL(url)
        let query = try configuration.formEncoding.query(parameters)
        if !query.isEmpty { target = target.appending(encodedQuery: query) }
        let fields: HTTPFields = [.accept: accept, .userAgent: configuration.userAgent]
        return TransportRequest(.get, target, headerFields: fields, options: options)
    }

    private func exchange(
        _ request: TransportRequest, expecting expected: StatusExpectation, _ place: RequestsInFlight.Place,
        _ log: RequestLog
    ) async throws(RequestFailure) -> DataResponse {
        let record = ExchangeRecord(
            request, rules(expecting: expected), id: place.id, environment: nil, cancellation: place.cancellation)
        return try await chain.send(request, record, log)
    }

    private func rules(expecting expected: StatusExpectation) -> ExchangeRules {
        ExchangeRules(
            expectedStatus: expected, errorModel: configuration.errorModel, codecs: configuration.codecs,
            redirects: configuration.redirects, retry: settings.retry(nil), joins: settings.joins(nil))
    }
}
