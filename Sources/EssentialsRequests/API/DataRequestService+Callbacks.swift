public import Dispatch
public import EssentialsHTTP

/// Whole requests with completion handlers.
extension DataRequestService {
    /// Sends a request and hands the response to a completion handler.
    ///
    /// The handler is called exactly once, on a serial queue of the request's own that targets `completionQueue`.
    /// After ``CancellableToken/cancel(silently:)``, and when the service shuts down, it receives the failure
    /// `cancelled`. A failure of ``RequestBuilder/build()`` goes to the handler like every other one.
    ///
    /// - Parameters:
    ///   - request: A ``DataRequest`` or a ``RequestBuilder``.
    ///   - completionQueue: The queue on which handlers run. The default is the service's own queue.
    ///   - progressInterval: The least time between two values of the progress; the first and the last do not wait.
    ///   - progress: Receives the progress of the upload on the same queue, the last value before the completion.
    ///     Without it, the token has the progress only of bodies that come from a file or a stream or are in parts.
    ///   - completion: Receives the response or the failure.
    /// - Returns: A token that cancels. Dropping it does not cancel.
    @discardableResult
    public func send(
        _ request: some BuildableRequest, completionQueue: DispatchQueue? = nil,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? callbackQueue)
        return run.start(completion) { () throws(RequestFailure) in
            try await send(request.build().reporting(to: run, every: progressInterval, progress))
        }
    }

    /// Sends a request and hands a model to a completion handler; see
    /// ``send(_:completionQueue:progressInterval:progress:completion:)``.
    @discardableResult
    public func send<Model: Decodable & Sendable>(
        _ request: some BuildableRequest, deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        response(
            to: request, deserializeTo: type, completionQueue: completionQueue, progressInterval: progressInterval,
            progress: progress
        ) { completion($0.map(\.model)) }
    }

    /// Sends a request and hands a model and its response to a completion handler; see
    /// ``send(_:completionQueue:progressInterval:progress:completion:)``.
    @discardableResult
    public func response<Model: Decodable & Sendable>(
        to request: some BuildableRequest, deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<ModelResponse<Model>, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? callbackQueue)
        return run.start(completion) { () throws(RequestFailure) in
            try await response(to: request.build().reporting(to: run, every: progressInterval, progress), as: type)
        }
    }

    /// Loads a response into a file and calls a completion handler; see
    /// ``download(_:to:options:progress:)-(DataRequest,_,_,_)`` and
    /// ``send(_:completionQueue:progressInterval:progress:completion:)``.
    @discardableResult
    public func download(
        _ request: some BuildableRequest, to destination: String, options: DownloadOptions = DownloadOptions(),
        completionQueue: DispatchQueue? = nil, progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedFile, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? callbackQueue)
        let report = run.report(every: progressInterval, progress)
        return run.start(completion) { () throws(RequestFailure) in
            try await download(request.build(), to: destination, options: options, progress: report)
        }
    }

    /// Loads a response into a file with GET and calls a completion handler; see
    /// ``send(_:completionQueue:progressInterval:progress:completion:)``.
    @discardableResult
    public func download(
        _ path: String, parameters: FormParameters = FormParameters(), headerFields: HTTPFields = HTTPFields(),
        to destination: String, options: DownloadOptions = DownloadOptions(), completionQueue: DispatchQueue? = nil,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedFile, RequestFailure>) -> Void
    ) -> CancellableToken {
        download(
            DataRequest(.get, path, parameters: parameters, headerFields: headerFields), to: destination,
            options: options, completionQueue: completionQueue, progressInterval: progressInterval, progress: progress,
            completion: completion)
    }
}

extension DataRequest {
    /// The same request, which reports the progress of its body to the run if there is a callback or if that costs
    /// nothing. Bytes in memory have to be sent in pieces for it.
    fileprivate func reporting(
        to run: CallbackRun, every interval: Duration, _ callback: (@Sendable (TransferProgress) -> Void)?
    ) -> DataRequest {
        guard callback != nil || body.isReadWhileSent else { return self }
        var request = self
        request.handlerProgress = run.report(every: interval, callback)
        return request
    }
}
