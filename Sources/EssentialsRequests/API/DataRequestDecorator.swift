public import Dispatch
public import EssentialsHTTP

/// A service that adds something to the requests of another service.
///
/// A decorator implements the functions that it changes. The others use the next service, its codecs and its queue.
/// Every request passes through ``DataRequestService/send(_:)-(DataRequest)`` of the decorator, including those for
/// models, completion handlers and downloads. A partial download can be resumed with or without the decorator.
///
/// ```swift
/// struct Counting: DataRequestDecorator {
///     let next: any DataRequestService
///     let counter: Counter
///
///     func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
///         counter.add(1)
///         return try await next.send(request)
///     }
/// }
/// ```
///
/// The bootstrap code registers the next service under its own type, so that the locator closes it. That service
/// remains the ``AuthorizationService``, because a decorator holds no credentials. To change, sign or observe requests
/// without replacing the service, a ``RequestInterceptor`` is simpler.
public protocol DataRequestDecorator: DataRequestService {
    /// The service that this one decorates.
    var next: any DataRequestService { get }
}

extension DataRequestDecorator {
    /// The codecs of the next service.
    public var codecs: CodecRegistry { next.codecs }
    /// The queue of the next service.
    public var callbackQueue: DispatchQueue { next.callbackQueue }

    /// Sends the request with the next service.
    @discardableResult
    public func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        try await next.send(request)
    }
}

/// A service that knows the URLs of its requests before they are sent.
protocol URLResolving: DataRequestService {
    /// The URL of a request in the current environment, without the parameters that interceptors may change.
    ///
    /// - Throws: `invalidRequest` if the path is invalid.
    func url(of request: DataRequest) throws(RequestFailure) -> RequestURL
}

extension DataRequestService {
    /// Downloads the response of ``send(_:)`` into a file.
    func downloadBySending(
        _ request: DataRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?
    ) async throws(RequestFailure) -> DownloadedFile {
        var request = request
        request.responseKind = .bytes
        let expectation = request.expectedStatus.ofDownload
        if options.resumes { request.expectedStatus = request.expectedStatus.forResumption }
        let subject = FileDownload.Subject(
            request.method, resource: try resource(of: request), headerFields: request.headerFields,
            options: request.options, expecting: expectation)
        return try await FileDownload.run(subject, to: destination, options: options, progress: progress) {
            [self, request] fields, options throws(RequestFailure) in
            var sent = request
            sent.headerFields = fields
            sent.options = options
            return try await send(sent).transportResponse
        }
    }

    /// Identifies the resource of a download, so that only a partial file of the same resource is resumed. A decorator
    /// uses the identifier of the service that sends its requests.
    private func resource(of request: DataRequest) throws(RequestFailure) -> String {
        var service: any DataRequestService = self
        while let decorator = service as? any DataRequestDecorator { service = decorator.next }
        guard let service = service as? any URLResolving else { return request.path }
        let url = try service.url(of: request)
        return url.origin.description + url.path
    }
}

extension StatusExpectation {
    /// Which statuses a download saves; `nil` for the usual ones.
    var ofDownload: FileDownload.Expectation? {
        if isStandard { return nil }
        return { contains($0) }
    }

    /// The expected statuses of a download that can be resumed, which interprets the additional ones itself.
    var forResumption: StatusExpectation {
        // A request that expects no status is refused, so an empty expectation stays empty.
        isEmpty ? self : union([206...206, 416...416])
    }
}
