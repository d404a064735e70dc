public import Dispatch
public import EssentialsHTTP

/// Requests to full URLs with completion handlers.
extension OpenRequestService {
    /// Sends a request and passes the response to a completion handler; see `DataRequestService.send`.
    @discardableResult
    public func send(
        _ request: OpenRequest, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        CallbackRun(on: completionQueue ?? callbackQueue).start(completion) { [self] _ throws(RequestFailure) in
            try await send(request)
        }
    }

    /// Gets a model and passes it to a completion handler; see `DataRequestService.send`.
    @discardableResult
    public func get<Model: Decodable & Sendable>(
        _ url: String, parameters: FormParameters = FormParameters(), deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        CallbackRun(on: completionQueue ?? callbackQueue).start(completion) { [self] _ throws(RequestFailure) in
            try await get(url, parameters: parameters, as: type)
        }
    }

    /// Gets a response and passes it to a completion handler; see `DataRequestService.send`.
    @discardableResult
    public func get(
        _ url: String, parameters: FormParameters = FormParameters(), completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(OpenRequest(url, parameters: parameters), completionQueue: completionQueue, completion: completion)
    }

    /// Downloads a file and calls a completion handler; see `DataRequestService.download`.
    @discardableResult
    public func download(
        _ url: String, parameters: FormParameters = FormParameters(), to destination: String,
        options: DownloadOptions = DownloadOptions(), completionQueue: DispatchQueue? = nil,
        progressInterval: Duration = ProgressReport.standardInterval,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedFile, RequestFailure>) -> Void
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? callbackQueue)
        return run.start(completion) { [self] run throws(RequestFailure) in
            let report = run.report(every: progressInterval, progress)
            return try await download(url, parameters: parameters, to: destination, options: options, progress: report)
        }
    }
}
