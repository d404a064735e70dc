public import Dispatch
public import EssentialsHTTP

/// Sends requests below an environment's base URL. Application code resolves this protocol from the locator.
///
/// A test double implements ``send(_:)`` and ``codecs``, usually as `.standard`; everything else has a default. A
/// service that wraps another one conforms to ``DataRequestDecorator``.
///
/// ```swift
/// let requests = try locator.resolve((any DataRequestService).self)
/// let users: [User] = try await requests.get("users", parameters: ["role": "admin"])
/// let created: User = try await requests.post("users", body: NewUser(name: "Ada"))
/// try await requests.delete("users/7")
///
/// let token = requests.get("users/1", deserializeTo: User.self, completionQueue: .main) { result in show(result) }
/// token.cancel()
/// ```
public protocol DataRequestService: Sendable {
    /// Sends a request and checks the status of its response.
    ///
    /// - Throws: `status` if the request does not expect the status, `cancelled` if the calling task was cancelled, and
    ///   every other failure that ended the exchange.
    @discardableResult
    func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse

    /// Downloads a response into a file.
    ///
    /// The status is checked before anything is written, and the file appears under its name only when it is complete;
    /// see `Transport.download`. Other statuses than 200 to 299 are saved if the request expects them. A 206 is saved
    /// if the request has a field `Range` of its own and another expectation than the default, which contains 206.
    ///
    /// - Parameters:
    ///   - request: A request with any method except HEAD. Its delivery is set to streamed.
    ///   - destination: The path of the file.
    ///   - options: How to treat an existing file, whether a failed download is resumed, and the maximum size.
    ///   - progress: Receives the number of bytes while they are written. `nil` means no reports.
    /// - Throws: The failures of ``send(_:)``; `file` with the path and the cause.
    @discardableResult
    func download(
        _ request: DataRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?
    ) async throws(RequestFailure) -> DownloadedFile

    /// The codecs that encode and decode bodies by media type. There is no default, because a service that wraps
    /// another one has to use the same codecs.
    var codecs: CodecRegistry { get }

    /// The queue for completion handlers of calls without a `completionQueue`. The default is never the main queue.
    var callbackQueue: DispatchQueue { get }
}

extension DataRequestService {
    /// A queue that is shared by all services without their own.
    public var callbackQueue: DispatchQueue { sharedCallbackQueue }

    /// Writes the response of ``send(_:)`` into a file. This default is for test doubles and decorators.
    @discardableResult
    public func download(
        _ request: DataRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?
    ) async throws(RequestFailure) -> DownloadedFile {
        try await downloadBySending(request, to: destination, options: options, progress: progress)
    }

    /// Downloads a file with GET; see ``download(_:to:options:progress:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func download(
        _ path: String, parameters: FormParameters = FormParameters(), headerFields: HTTPFields = HTTPFields(),
        to destination: String, options: DownloadOptions = DownloadOptions(), progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        try await download(
            DataRequest(.get, path, parameters: parameters, headerFields: headerFields), to: destination,
            options: options, progress: progress)
    }

    /// Builds a request and downloads its response into a file; see
    /// ``download(_:to:options:progress:)-(DataRequest,_,_,_)``.
    ///
    /// - Throws: The failures of that function and of ``BuildableRequest/build()``.
    @discardableResult
    public func download(
        _ request: some BuildableRequest, to destination: String, options: DownloadOptions = DownloadOptions(),
        progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        let request: DataRequest = try request.build()
        return try await download(request, to: destination, options: options, progress: progress)
    }

    /// Builds a request and sends it; see ``send(_:)-(DataRequest)``.
    ///
    /// - Throws: The failures of that function and of ``BuildableRequest/build()``.
    @discardableResult
    public func send(_ request: some BuildableRequest) async throws(RequestFailure) -> DataResponse {
        let request: DataRequest = try request.build()
        return try await send(request)
    }

    /// Sends a request and reads a model from the response.
    ///
    /// A body over 64 KiB is decoded off the caller's actor, a smaller one on it. At most 64 MiB of a streamed body are
    /// read; a longer one fails as `tooLarge`.
    ///
    /// - Parameters:
    ///   - request: A ``DataRequest`` or a ``RequestBuilder``.
    ///   - type: The model type.
    /// - Throws: The failures of ``send(_:)-(DataRequest)`` and ``BuildableRequest/build()``; `decoding` if the body
    ///   cannot be decoded, and `emptyBody` if it is empty.
    public func model<Model: Decodable & Sendable>(
        of request: some BuildableRequest, as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await response(to: request, as: type).model
    }

    /// Sends a request, reads a model from the response and returns both; see ``model(of:as:)``.
    public func response<Model: Decodable & Sendable>(
        to request: some BuildableRequest, as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> ModelResponse<Model> {
        let request: DataRequest = try request.build()
        let reader = ModelReader(type, codecs: request.codecs ?? codecs)
        let response = try await send(reader.requesting(request))
        let model = try await reader.model(from: response, to: request.method)
        return ModelResponse(model: model, response: response)
    }
}

let sharedCallbackQueue = DispatchQueue(label: "essentials.callbacks")
