public import Dispatch
public import EssentialsHTTP

/// Whole requests with completion handlers.
extension DataRequestService {
    /// Sends a request and hands the response to a completion handler.
    ///
    /// The handler is called exactly once, on a serial queue of the request's own that leads to the one that is named;
    /// after ``CancellableToken/cancel(silently:)``, and when the service shuts down, with the failure `cancelled`.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - completionQueue: Where handlers run; the service's own queue when nil.
    ///   - progress: Told of the upload on the same queue, the last time before the completion. For bodies from a file,
    ///     a stream or in parts the token knows the progress in any case.
    ///   - completion: Receives the response or the failure.
    /// - Returns: A token that cancels. Dropping it does not cancel.
    @discardableResult
    public func send(
        _ request: DataRequest, completionQueue: DispatchQueue? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? callbackQueue)
        let request = request.reporting(to: run, progress)
        return run.start(completion) { () throws(RequestFailure) in try await send(request) }
    }

    /// Sends a request and hands a model to a completion handler; see
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func send<Model: Decodable & Sendable>(
        _ request: DataRequest, deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? callbackQueue)
        let request = request.reporting(to: run, progress)
        return run.start(completion) { () throws(RequestFailure) in try await model(of: request, as: type) }
    }

    /// Loads a response into a file and calls a completion handler; see ``download(_:to:options:progress:)`` and
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func download(
        _ request: DataRequest, to destination: String, options: DownloadOptions = DownloadOptions(),
        completionQueue: DispatchQueue? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedFile, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? callbackQueue)
        let report = run.report(progress)
        return run.start(completion) { () throws(RequestFailure) in
            try await download(request, to: destination, options: options, progress: report)
        }
    }
}

extension DataRequest {
    /// With the progress of its body told to the run, where that is asked for or costs nothing: bytes in memory would
    /// have to be sent in pieces for it.
    fileprivate func reporting(
        to run: CallbackRun, _ callback: (@Sendable (TransferProgress) -> Void)?
    ) -> DataRequest {
        guard uploadProgress == nil, callback != nil || body.isReadWhileSent else { return self }
        var request = self
        request.uploadProgress = run.report(callback)
        return request
    }
}
