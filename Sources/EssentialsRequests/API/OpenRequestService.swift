public import Dispatch
public import EssentialsHTTP

/// Sends requests to full URLs on any server, without credentials, cookies, interceptors, a client identity or an
/// environment's header fields.
///
/// Application code resolves this protocol from the locator for resources that an API's responses link to, such as
/// pictures on other hosts. The bootstrap code registers an ``UnsafeRequestService``:
///
/// ```swift
/// try locator.registerLazy((any OpenRequestService).self) { _ in try UnsafeRequestService() }
///
/// let open = try locator.resolve((any OpenRequestService).self)
/// let picture = try await open.get(user.pictureURL, as: Data.self)
/// try await open.download(user.filmURL, to: "/srv/films/7.mp4")
/// ```
///
/// A test double implements ``send(_:)`` and ``codecs``, usually as `.standard`. A test that also checks what is sent
/// uses an ``UnsafeRequestService`` over a scripted transport instead.
public protocol OpenRequestService: Sendable {
    /// Sends a request and checks the status of its response.
    ///
    /// The body is delivered as `options.delivery` of the request says: as a whole or as a stream.
    ///
    /// - Throws: `invalidRequest` or `invalidPolicy` if the URL is invalid or the request has credentials, `status` if
    ///   the request does not expect the status, `cancelled` if the calling task was cancelled, and every other failure
    ///   that ended the exchange.
    @discardableResult
    func send(_ request: OpenRequest) async throws(RequestFailure) -> DataResponse

    /// Downloads a response into a file; see ``DataRequestService/download(_:to:options:progress:)-(DataRequest,_,_,_)``.
    ///
    /// - Parameters:
    ///   - request: A request with any method except HEAD. Its delivery is set to streamed.
    ///   - destination: The path of the file.
    ///   - options: How to treat an existing file, whether a failed download is resumed, and the maximum size.
    ///   - progress: Receives the number of bytes while they are written. `nil` means no reports.
    /// - Throws: The failures of ``send(_:)``; `file` with the path and the cause.
    @discardableResult
    func download(
        _ request: OpenRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?
    ) async throws(RequestFailure) -> DownloadedFile

    /// The codecs that decode bodies by media type. There is no default, because a service that wraps another one has to
    /// use the same codecs.
    var codecs: CodecRegistry { get }

    /// The queue for completion handlers of calls without a `completionQueue`. The default is never the main queue.
    var callbackQueue: DispatchQueue { get }
}

extension OpenRequestService {
    /// A queue that is shared by all services without their own.
    public var callbackQueue: DispatchQueue { sharedCallbackQueue }

    /// Writes the response of ``send(_:)`` into a file. This default is for test doubles and services that wrap another
    /// one.
    @discardableResult
    public func download(
        _ request: OpenRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?
    ) async throws(RequestFailure) -> DownloadedFile {
        var request = request
        request.responseKind = .bytes
        let expectation = request.expectedStatus.ofDownload
        if options.resumes { request.expectedStatus = request.expectedStatus.forResumption }
        let url = try request.url
        let subject = FileDownload.Subject(
            request.method, resource: url.origin.description + url.path, headerFields: request.headerFields,
            options: request.options, expecting: expectation)
        return try await FileDownload.run(subject, to: destination, options: options, progress: progress) {
            [self, request] fields, options throws(RequestFailure) in
            var sent = request
            sent.headerFields = fields
            sent.options = options
            return try await send(sent).transportResponse
        }
    }

    /// Sends a request and reads a model from the response.
    ///
    /// A body over 64 KiB is decoded off the caller's actor, a smaller one on it. At most 64 MiB of a streamed body are
    /// read; a longer one fails as `tooLarge`.
    ///
    /// - Throws: The failures of ``send(_:)``; `decoding` if the body cannot be decoded, and `emptyBody` if it is empty.
    public func response<Model: Decodable & Sendable>(
        to request: OpenRequest, as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> ModelResponse<Model> {
        var request = request
        let reader = ModelReader(type, codecs: codecs)
        request.responseKind = reader.kind
        let response = try await send(request)
        let model = try await reader.model(from: response, to: request.method)
        return ModelResponse(model: model, response: response)
    }

    /// Gets a model; see `DataRequestService.get`.
    ///
    /// - Parameters:
    ///   - url: The full URL, with the scheme `http` or `https`.
    ///   - parameters: Named values that are added to the query.
    ///   - headerFields: The request's own header fields; see ``OpenRequest/headerFields``.
    ///   - expecting: The statuses that are a success. The default is 200 to 299.
    ///   - type: The model type.
    ///   - options: Deadlines, limits and protocol.
    /// - Throws: The failures of ``response(to:as:)``.
    public func get<Model: Decodable & Sendable>(
        _ url: String, parameters: FormParameters = FormParameters(), headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, as type: Model.Type = Model.self,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> Model {
        try await response(
            to: OpenRequest(
                url, parameters: parameters, headerFields: headerFields, expecting: expecting, options: options)
        ).model
    }

    /// Gets a response; see ``get(_:parameters:headerFields:expecting:as:options:)``.
    @discardableResult
    public func get(
        _ url: String, parameters: FormParameters = FormParameters(), headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            OpenRequest(
                url, parameters: parameters, headerFields: headerFields, expecting: expecting, options: options))
    }

    /// Downloads a response into a file, without reports of its progress; see ``download(_:to:options:progress:)``.
    @discardableResult
    public func download(
        _ request: OpenRequest, to destination: String, options: DownloadOptions = DownloadOptions()
    ) async throws(RequestFailure) -> DownloadedFile {
        try await download(request, to: destination, options: options, progress: nil)
    }

    /// Downloads a file; see ``download(_:to:options:progress:)``.
    @discardableResult
    public func download(
        _ url: String, parameters: FormParameters = FormParameters(), headerFields: HTTPFields = HTTPFields(),
        to destination: String, options: DownloadOptions = DownloadOptions(), progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        try await download(
            OpenRequest(url, parameters: parameters, headerFields: headerFields), to: destination, options: options,
            progress: progress)
    }
}
