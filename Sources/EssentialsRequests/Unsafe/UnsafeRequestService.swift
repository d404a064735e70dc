public import Dispatch
public import EssentialsHTTP

/// Gets from full URLs, of any server: without credentials, preparation or an environment's fields.
///
/// For what an API's answers link to, such as pictures on other hosts. It has a transport of its own, so that neither a
/// client certificate nor anything else of the data-request service goes along; the parameters stand in the query.
///
/// ```swift
/// let pictures = try UnsafeRequestService()
/// let picture = try await pictures.get(user.pictureURL, as: Data.self)
/// ```
public final class UnsafeRequestService: Sendable {
    private let transport: any Transport
    private let settings: ServiceSettings
    private let inFlight = RequestsInFlight()

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - transport: How requests travel; nobody else's. Without a client certificate.
    ///   - configuration: Codecs, redirects, logging. Interceptors are not asked.
    public init(
        transport: any Transport,
        configuration: HTTPDataRequestService.Configuration = HTTPDataRequestService.Configuration()
    ) {
        self.transport = transport
        settings = ServiceSettings(configuration)
    }

    private var configuration: HTTPDataRequestService.Configuration { settings.configuration }

    /// Gets a model; see `DataRequestService.get`.
    ///
    /// - Parameters:
    ///   - url: The whole URL, `http` or `https`.
    ///   - parameters: Added to its query.
    ///   - type: The model.
    ///   - options: Deadlines, limits and protocol.
    /// - Throws: `invalidRequest` with what is wrong about the URL, and as `DataRequestService.get`.
    public func get<Model: Decodable & Sendable>(
        _ url: String, parameters: FormParameters = [:], as type: Model.Type = Model.self,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> Model {
        let accept = ModelReader.accepted(for: type) ?? "*/*"
        let response = try await send(url, parameters, accept: accept, options)
        return try await ModelReader.read(type, from: response, to: .get, configuration.codecs)
    }

    /// Gets a response; see ``get(_:parameters:as:options:)``.
    @discardableResult
    public func get(
        _ url: String, parameters: FormParameters = [:], options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(url, parameters, accept: "*/*", options)
    }

    /// Loads a file; see `Transport.download`.
    @discardableResult
    public func download(
        _ url: String, parameters: FormParameters = [:], to destination: String,
        options: DownloadOptions = DownloadOptions(), progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        let expected = StatusExpectation.success.union(options.resumes ? [416...416] : [])
        return try await run(url, parameters, accept: "*/*", TransportOptions()) {
            [self] request, log throws(RequestFailure) in
            try await FileDownload.run(request, to: destination, options: options, progress: progress) {
                [self] asked throws(RequestFailure) in
                try await exchange(asked, expected, log).transportResponse
            }
        }
    }

    // MARK: Completion handlers

    /// Gets a model and hands it to a completion handler; see `DataRequestService.send`.
    @discardableResult
    public func get<Model: Decodable & Sendable>(
        _ url: String, parameters: FormParameters = [:], deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        CallbackRun(on: completionQueue ?? configuration.callbackQueue).start(completion) {
            [self] () throws(RequestFailure) in try await get(url, parameters: parameters, as: type)
        }
    }

    /// Gets a response and hands it to a completion handler; see `DataRequestService.send`.
    @discardableResult
    public func get(
        _ url: String, parameters: FormParameters = [:], completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        CallbackRun(on: completionQueue ?? configuration.callbackQueue).start(completion) {
            [self] () throws(RequestFailure) in try await get(url, parameters: parameters)
        }
    }

    /// Loads a file and calls a completion handler; see `DataRequestService.download`.
    @discardableResult
    public func download(
        _ url: String, parameters: FormParameters = [:], to destination: String,
        options: DownloadOptions = DownloadOptions(), completionQueue: DispatchQueue? = nil,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedFile, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? configuration.callbackQueue)
        let report = run.report(every: progressInterval, progress)
        return run.start(completion) { [self] () throws(RequestFailure) in
            try await download(url, parameters: parameters, to: destination, options: options, progress: report)
        }
    }

    /// Ends the service and its transport: what runs as `cancelled`, what comes later as `closed`.
    public func shutdown() async {
        inFlight.close()
        inFlight.cancelAll(includingThoseThatFinish: true)
        await transport.shutdown()
    }

    // MARK: The way

    private func send(
        _ url: String, _ parameters: FormParameters, accept: String, _ options: TransportOptions
    ) async throws(RequestFailure) -> DataResponse {
        try await run(url, parameters, accept: accept, options) { [self] request, log throws(RequestFailure) in
            var response = try await exchange(request, .success, log)
            if case .stream(let source) = response.body.content {
                response.body = ResponseBody(
                    source: TrackedBody(
                        source, inFlight, environment: nil, finishes: false, host: request.url.origin.host.text))
            }
            return response
        }
    }

    /// Makes the request and does its work, and tells the logger when one of them fails.
    private func run<Value: Sendable>(
        _ url: String, _ parameters: FormParameters, accept: String, _ options: TransportOptions,
        _ work: @escaping @Sendable (TransportRequest, RequestLog) async throws(RequestFailure) -> Value
    ) async throws(RequestFailure) -> Value {
        try await inFlight.run(in: nil, finishes: false) { [self] number throws(RequestFailure) in
            let log = RequestLog(settings: settings, number: number)
            var sent: TransportRequest?
            do throws(RequestFailure) {
                let request = try request(url, parameters, accept: accept, options)
                sent = request
                return try await work(request, log)
            } catch {
                log.failed(error, sent, DataRequest(.get, ""))
                throw error
            }
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
        _ request: TransportRequest, _ expected: StatusExpectation, _ log: RequestLog
    ) async throws(RequestFailure) -> DataResponse {
        log.sends(request)
        let response = try await HTTPExchange(codecs: configuration.codecs).send(
            request, through: transport, redirects: configuration.redirects, expected: expected,
            errorModel: configuration.errorModel)
        log.received(response, to: request)
        return response
    }
}
