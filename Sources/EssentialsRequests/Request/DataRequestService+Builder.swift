public import Dispatch
public import EssentialsHTTP

/// Requests that are built and sent in one step.
extension DataRequestService {
    /// Builds a request and sends it; see ``send(_:)-(DataRequest)``.
    ///
    /// - Throws: what ``RequestBuilder/build()`` throws, too.
    @discardableResult
    public func send(_ builder: RequestBuilder) async throws(RequestFailure) -> DataResponse {
        try await send(builder.build())
    }

    /// Builds a request, sends it, and reads a model from the answer; see ``model(of:as:)-(DataRequest,_)``.
    ///
    /// - Throws: what ``RequestBuilder/build()`` throws, too.
    public func model<Model: Decodable & Sendable>(
        of builder: RequestBuilder, as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(of: builder.build(), as: type)
    }

    /// Builds a request and loads its answer into a file; see
    /// ``download(_:to:options:progress:)-(DataRequest,_,_,_)``.
    ///
    /// - Throws: what ``RequestBuilder/build()`` throws, too.
    @discardableResult
    public func download(
        _ builder: RequestBuilder, to destination: String, options: DownloadOptions = DownloadOptions(),
        progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        try await download(builder.build(), to: destination, options: options, progress: progress)
    }

    // MARK: Completion handlers

    /// Builds a request, sends it and hands the response to a completion handler; see
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    ///
    /// What does not go together comes to the handler, once, as every other failure.
    @discardableResult
    public func send(
        _ builder: RequestBuilder, completionQueue: DispatchQueue? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        do throws(RequestFailure) {
            return send(
                try builder.build(), completionQueue: completionQueue, progress: progress, completion: completion)
        } catch {
            return fail(error, completionQueue, completion)
        }
    }

    /// Builds a request, sends it and hands a model to a completion handler; see
    /// ``send(_:deserializeTo:completionQueue:progress:completion:)-(DataRequest,_,_,_,_)``.
    @discardableResult
    public func send<Model: Decodable & Sendable>(
        _ builder: RequestBuilder, deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        do throws(RequestFailure) {
            return send(
                try builder.build(), deserializeTo: type, completionQueue: completionQueue, progress: progress,
                completion: completion)
        } catch {
            return fail(error, completionQueue, completion)
        }
    }

    private func fail<Value: Sendable>(
        _ failure: RequestFailure, _ queue: DispatchQueue?,
        _ completion: @escaping @Sendable (Result<Value, RequestFailure>) -> Void
    ) -> CancellableToken {
        CallbackRun(on: queue ?? callbackQueue).start(completion) { () throws(RequestFailure) in throw failure }
    }
}
