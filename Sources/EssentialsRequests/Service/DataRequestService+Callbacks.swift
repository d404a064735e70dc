public import Dispatch
public import EssentialsHTTP

extension DataRequestService {
    /// Gets a model and hands it to a completion handler, called exactly once.
    ///
    /// - Parameters:
    ///   - path: Below the environment's base URL.
    ///   - parameters: Added to the query.
    ///   - type: The model.
    ///   - completionQueue: Where the handler runs; the service's own queue when nil.
    ///   - completion: Receives the model or the failure; `cancelled` after ``CancellableToken/cancel()``.
    /// - Returns: A token that cancels. Dropping it does not cancel.
    @discardableResult
    public func get<Model: Decodable & Sendable>(
        _ path: String, parameters: Parameters = [:], deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        perform(on: completionQueue, completion) { service throws(RequestFailure) in
            try await service.get(path, parameters: parameters, as: type)
        }
    }

    /// Posts a model as JSON and hands another to a completion handler; see
    /// ``get(_:parameters:deserializeTo:completionQueue:completion:)``.
    @discardableResult
    public func post<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        perform(on: completionQueue, completion) { service throws(RequestFailure) in
            try await service.post(path, body: body, as: type)
        }
    }

    /// Sends a request and hands the response to a completion handler; see
    /// ``get(_:parameters:deserializeTo:completionQueue:completion:)``.
    @discardableResult
    public func send(
        _ request: DataRequest, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<TransportResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        perform(on: completionQueue, completion) { service throws(RequestFailure) in try await service.send(request) }
    }

    private func perform<Value: Sendable>(
        on queue: DispatchQueue?, _ completion: @escaping @Sendable (Result<Value, RequestFailure>) -> Void,
        _ work: @escaping @Sendable (Self) async throws(RequestFailure) -> Value
    ) -> CancellableToken {
        // Serial, so that a request's callbacks never overlap, whatever queue it leads to.
        let serial = DispatchQueue(label: "essentials.request", target: queue ?? callbackQueue)
        let token = CancellableToken()
        let task = Task {
            let result: Result<Value, RequestFailure>
            do throws(RequestFailure) {
                result = .success(try await work(self))
            } catch {
                result = .failure(error)
            }
            serial.async { completion(token.finish(with: result)) }
        }
        token.attach { task.cancel() }
        return token
    }
}
