public import Dispatch
public import EssentialsHTTP
public import FoundationEssentials

/// Sending definitions. What is returned follows from the definition.
///
/// ```swift
/// let user = try await requests.send(Users.get(id: 7))                // User
/// try await requests.send(Users.delete(id: 7))                        // Void
/// let both = try await requests.response(to: Users.get(id: 7))        // model and response
/// let bytes = try await requests.data(of: Users.get(id: 7))           // undecoded
/// let stream = try await requests.stream(of: Exports.all)             // at the reader's pace
/// ```
extension DataRequestService {
    /// Sends a definition and reads its model.
    ///
    /// An optional model is `nil` for an empty body, such as that of 204. A large body is decoded off the caller's
    /// actor; see ``model(of:as:)``.
    ///
    /// - Throws: The failures of ``send(_:)-(DataRequest)`` and ``BuildableRequest/build()``; `decoding` if the body
    ///   cannot be decoded, and `emptyBody` if it is empty.
    public func send<Request: TypedRequest>(
        _ request: Request
    ) async throws(RequestFailure) -> Request.Response where Request.Response: Decodable {
        try await response(to: request, as: Request.Response.self).model
    }

    /// Sends a definition whose response has no content, such as 204. A body is ignored.
    public func send<Request: TypedRequest>(_ request: Request) async throws(RequestFailure)
    where Request.Response == Void {
        _ = try await send(try request.build())
    }

    /// Sends a definition and returns the response with its body.
    @discardableResult
    public func send<Request: TypedRequest>(_ request: Request) async throws(RequestFailure) -> DataResponse
    where Request.Response == DataResponse {
        try await send(try request.build())
    }

    /// Sends a definition and returns the body as a stream.
    public func send<Request: TypedRequest>(_ request: Request) async throws(RequestFailure) -> ResponseBody
    where Request.Response == ResponseBody {
        try await stream(of: request).body
    }

    /// Sends a definition and returns its model together with the response.
    public func response<Request: TypedRequest>(
        to request: Request
    ) async throws(RequestFailure) -> ModelResponse<Request.Response> where Request.Response: Decodable {
        try await response(to: request, as: Request.Response.self)
    }

    /// Sends a request and returns the undecoded bytes of the body.
    public func data(of request: some BuildableRequest) async throws(RequestFailure) -> Data {
        try await model(of: request, as: Data.self)
    }

    /// Sends a request and returns its response as soon as the head has arrived, with the body as a stream at the
    /// reader's pace.
    public func stream(of request: some BuildableRequest) async throws(RequestFailure) -> DataResponse {
        var request: DataRequest = try request.build()
        request.options.delivery = .streamed
        request.responseKind = .bytes
        return try await send(request)
    }

    /// Sends a definition and passes its model to a completion handler; see
    /// ``send(_:completionQueue:autoResume:progressInterval:progress:completion:)-(BuildableRequest,_,_,_,_,_)``.
    @discardableResult
    public func send<Request: TypedRequest>(
        _ request: Request, completionQueue: DispatchQueue? = nil, autoResume: Bool = true,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Request.Response, RequestFailure>) -> Void
    ) -> CancellableToken where Request.Response: Decodable {
        send(
            request, deserializeTo: Request.Response.self, completionQueue: completionQueue, autoResume: autoResume,
            progressInterval: progressInterval, progress: progress, completion: completion)
    }

    /// Sends a definition without content in its response and calls a completion handler; see
    /// ``send(_:completionQueue:autoResume:progressInterval:progress:completion:)-(BuildableRequest,_,_,_,_,_)``.
    @discardableResult
    public func send<Request: TypedRequest>(
        _ request: Request, completionQueue: DispatchQueue? = nil, autoResume: Bool = true,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Void, RequestFailure>) -> Void
    ) -> CancellableToken where Request.Response == Void {
        send(
            AnyRequest(request), completionQueue: completionQueue, autoResume: autoResume,
            progressInterval: progressInterval, progress: progress
        ) { (result: Result<DataResponse, RequestFailure>) in completion(result.map { _ in }) }
    }

    /// Sends a definition and passes its model and response to a completion handler; see
    /// ``send(_:completionQueue:autoResume:progressInterval:progress:completion:)-(BuildableRequest,_,_,_,_,_)``.
    @discardableResult
    public func response<Request: TypedRequest>(
        to request: Request, completionQueue: DispatchQueue? = nil, autoResume: Bool = true,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<ModelResponse<Request.Response>, RequestFailure>) -> Void
    ) -> CancellableToken where Request.Response: Decodable {
        response(
            to: request, deserializeTo: Request.Response.self, completionQueue: completionQueue,
            autoResume: autoResume, progressInterval: progressInterval, progress: progress, completion: completion)
    }

    /// The pages of the list that a definition describes; see ``pages(of:as:by:maximumPages:)``.
    public func pages<Request: TypedRequest>(
        of request: Request, by paging: Paging<Request.Response> = .link(),
        maximumPages: Int = PageSequence<Request.Response>.standardMaximum
    ) -> PageSequence<Request.Response> where Request.Response: Decodable {
        pages(of: request, as: Request.Response.self, by: paging, maximumPages: maximumPages)
    }
}

/// A request without the type of its response.
private struct AnyRequest: BuildableRequest {
    private let make: @Sendable () throws(RequestFailure) -> DataRequest

    init(_ request: some BuildableRequest) { make = { () throws(RequestFailure) in try request.build() } }

    func build() throws(RequestFailure) -> DataRequest { try make() }
}
