public import Dispatch
public import EssentialsHTTP

/// Requests with completion handlers.
extension DataRequestService {
    /// Sends a request and passes the response to a completion handler.
    ///
    /// The handler is called exactly once, unless the request is cancelled silently. It runs on a serial queue that
    /// belongs to the request and targets `completionQueue`. It receives the failure `cancelled` after
    /// ``CancellableToken/cancel(silently:)`` and if the service shuts down. It also receives the failures of
    /// ``RequestBuilder/build()``.
    ///
    /// - Parameters:
    ///   - request: A ``DataRequest`` or a ``RequestBuilder``.
    ///   - completionQueue: The queue on which callbacks run. The default is `nil`, which means the service's queue.
    ///   - autoResume: Whether the request is sent now. With `false`, nothing is built or sent until
    ///     ``CancellableToken/resume()``. If the token is released before that, the handler is never called. The
    ///     default is `true`.
    ///   - progressInterval: The minimum time between two progress values. The first and the last value are not
    ///     delayed. The default is 100 ms.
    ///   - progress: Receives the progress of the upload on the same queue, all of it before the completion. Without
    ///     this callback, the token reports the progress only of files, streams and multipart bodies.
    ///   - completion: Receives the response or the failure.
    /// - Returns: A token that cancels the request. Releasing the token does not cancel it.
    @_disfavoredOverload  // A definition has more specific forms, whose closures have no type of their own.
    @discardableResult
    public func send(
        _ request: some BuildableRequest, completionQueue: DispatchQueue? = nil, autoResume: Bool = true,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? callbackQueue)
        return run.start(completion, autoResume: autoResume) { run throws(RequestFailure) in
            try await send(request.build().reporting(to: run, every: progressInterval, progress))
        }
    }

    /// Sends a request and passes a model to a completion handler; see
    /// ``send(_:completionQueue:autoResume:progressInterval:progress:completion:)-(BuildableRequest,_,_,_,_,_)``.
    @discardableResult
    public func send<Model: Decodable & Sendable>(
        _ request: some BuildableRequest, deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        autoResume: Bool = true,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        response(
            to: request, deserializeTo: type, completionQueue: completionQueue, autoResume: autoResume,
            progressInterval: progressInterval, progress: progress
        ) { completion($0.map(\.model)) }
    }

    /// Sends a request and passes a model and its response to a completion handler; see
    /// ``send(_:completionQueue:autoResume:progressInterval:progress:completion:)-(BuildableRequest,_,_,_,_,_)``.
    @discardableResult
    public func response<Model: Decodable & Sendable>(
        to request: some BuildableRequest, deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        autoResume: Bool = true,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<ModelResponse<Model>, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? callbackQueue)
        return run.start(completion, autoResume: autoResume) { run throws(RequestFailure) in
            try await response(to: request.build().reporting(to: run, every: progressInterval, progress), as: type)
        }
    }

    /// Downloads a response into a file and calls a completion handler; see
    /// ``download(_:to:options:progress:)-(DataRequest,_,_,_)`` and
    /// ``send(_:completionQueue:autoResume:progressInterval:progress:completion:)-(BuildableRequest,_,_,_,_,_)``.
    @discardableResult
    public func download(
        _ request: some BuildableRequest, to destination: String, options: DownloadOptions = DownloadOptions(),
        completionQueue: DispatchQueue? = nil, autoResume: Bool = true,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedFile, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? callbackQueue)
        return run.start(completion, autoResume: autoResume) { run throws(RequestFailure) in
            let report = run.report(every: progressInterval, progress)
            return try await download(request.build(), to: destination, options: options, progress: report)
        }
    }

    /// Downloads a file with GET and calls a completion handler; see
    /// ``send(_:completionQueue:autoResume:progressInterval:progress:completion:)-(BuildableRequest,_,_,_,_,_)``.
    @discardableResult
    public func download(
        _ path: String, parameters: FormParameters = FormParameters(), headerFields: HTTPFields = HTTPFields(),
        to destination: String, options: DownloadOptions = DownloadOptions(), completionQueue: DispatchQueue? = nil,
        autoResume: Bool = true,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedFile, RequestFailure>) -> Void
    ) -> CancellableToken {
        download(
            DataRequest(.get, path, parameters: parameters, headerFields: headerFields), to: destination,
            options: options, completionQueue: completionQueue, autoResume: autoResume,
            progressInterval: progressInterval, progress: progress, completion: completion)
    }
}

/// GET requests with completion handlers. Other methods are sent by
/// ``DataRequestService/send(_:deserializeTo:completionQueue:autoResume:progressInterval:progress:completion:)``:
///
/// ```swift
/// requests.send(.post("films", body: film), deserializeTo: Film.self) { result in show(result) }
/// ```
extension DataRequestService {
    /// Gets a model and passes it to a completion handler; see
    /// ``get(_:parameters:query:headerFields:expecting:options:as:)`` and
    /// ``send(_:completionQueue:autoResume:progressInterval:progress:completion:)-(BuildableRequest,_,_,_,_,_)``.
    @discardableResult
    public func get<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil, completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .get(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Gets a response and passes it to a completion handler; see
    /// ``get(_:parameters:query:headerFields:expecting:options:deserializeTo:completionQueue:completion:)``.
    @discardableResult
    public func get(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .get(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            completionQueue: completionQueue, completion: completion)
    }
}

extension DataRequest {
    /// The request, set to report the progress of its body to the run.
    ///
    /// Bytes in memory report their progress only if there is a callback, because they are then sent in pieces.
    fileprivate func reporting(
        to run: CallbackRun, every interval: Duration, _ callback: (@Sendable (TransferProgress) -> Void)?
    ) -> DataRequest {
        guard callback != nil || body.isReadWhileSent else { return self }
        var request = self
        request.handlerProgress = run.report(every: interval, callback)
        return request
    }
}
