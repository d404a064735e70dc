public import Dispatch
public import EssentialsHTTP

/// Sends requests below an environment's base URL: what application code asks the locator for.
///
/// A test double implements ``send(_:)`` alone; everything else builds on it.
///
/// ```swift
/// let requests = try locator.resolve((any DataRequestService).self)
/// let users: [User] = try await requests.get("users", parameters: ["role": "admin"])
/// let created: User = try await requests.post("users", body: NewUser(name: "Ada"))
/// try await requests.delete("users/7")
///
/// let token = requests.get("users/1", deserializeTo: User.self, completionQueue: .main) { result in … }
/// token.cancel()
/// ```
public protocol DataRequestService: Sendable {
    /// Sends a request and checks the status of its response.
    ///
    /// - Throws: `status` for one that the request does not expect, and whatever kept the exchange from being whole;
    ///   `cancelled` when the calling task was cancelled.
    @discardableResult
    func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse

    /// Loads a response into a file. The status is judged before anything is written, and the file has its name only when
    /// it is whole; see `Transport.download`.
    ///
    /// - Parameters:
    ///   - request: Of any method but HEAD. Its delivery is set to streamed.
    ///   - destination: The file's path.
    ///   - options: What becomes of a file that is there, whether a failed download is gone on with, and the most bytes.
    ///   - progress: Told of the bytes as they are written.
    /// - Throws: as ``send(_:)``; `file` with path and cause.
    @discardableResult
    func download(
        _ request: DataRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?
    ) async throws(RequestFailure) -> DownloadedFile

    /// Reads and writes bodies by their media type.
    var codecs: CodecRegistry { get }

    /// Where completion handlers run that name no queue. Never the main queue by itself.
    var callbackQueue: DispatchQueue { get }
}

extension DataRequestService {
    /// A queue that all services without their own share.
    public var callbackQueue: DispatchQueue { sharedCallbackQueue }
    /// JSON, forms, text and bytes.
    public var codecs: CodecRegistry { .standard }

    /// Loads what ``send(_:)`` gives into a file: for doubles.
    @discardableResult
    public func download(
        _ request: DataRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?
    ) async throws(RequestFailure) -> DownloadedFile {
        let subject = FileDownload.Subject(
            request.method, resource: request.path, headerFields: request.headerFields, options: request.options)
        return try await FileDownload.run(subject, to: destination, options: options, progress: progress) {
            [self] fields, options throws(RequestFailure) in
            var sent = request
            sent.headerFields = fields
            sent.options = options
            return try await send(sent).transportResponse
        }
    }

    /// Loads a response into a file with GET; see ``download(_:to:options:progress:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func download(
        _ path: String, parameters: FormParameters = FormParameters(), headerFields: HTTPFields = HTTPFields(),
        to destination: String, options: DownloadOptions = DownloadOptions(), progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        try await download(
            DataRequest(.get, path, parameters: parameters, headerFields: headerFields), to: destination,
            options: options, progress: progress)
    }

    /// Builds a request and loads its response into a file; see
    /// ``download(_:to:options:progress:)-(DataRequest,_,_,_)``.
    ///
    /// - Throws: in addition what ``BuildableRequest/build()`` throws.
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
    /// - Throws: in addition what ``BuildableRequest/build()`` throws.
    @discardableResult
    public func send(_ request: some BuildableRequest) async throws(RequestFailure) -> DataResponse {
        let request: DataRequest = try request.build()
        return try await send(request)
    }

    /// Sends a request and reads a model from the response; of a streamed body at most 64 MiB.
    ///
    /// A body over 64 KiB is decoded off the caller's actor, a smaller one where the caller runs.
    ///
    /// - Parameters:
    ///   - request: A ``DataRequest`` or a ``RequestBuilder``.
    ///   - type: The model.
    /// - Throws: as ``send(_:)-(DataRequest)``; `decoding` when the body does not fit, `emptyBody` when there is none,
    ///   and what ``BuildableRequest/build()`` throws.
    public func model<Model: Decodable & Sendable>(
        of request: some BuildableRequest, as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await response(to: request, as: type).model
    }

    /// Sends a request and reads a model from the response, which is returned too; see ``model(of:as:)``.
    public func response<Model: Decodable & Sendable>(
        to request: some BuildableRequest, as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> ModelResponse<Model> {
        var request: DataRequest = try request.build()
        request.responseKind = ResponseKind(reading: type)
        let response = try await send(request)
        let model = try await ModelReader.read(type, from: response, to: request.method, codecs)
        return ModelResponse(model: model, response: response)
    }
}

private let sharedCallbackQueue = DispatchQueue(label: "essentials.callbacks")
