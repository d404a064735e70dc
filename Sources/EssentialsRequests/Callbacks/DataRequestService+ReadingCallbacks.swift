public import Dispatch
public import EssentialsHTTP

/// GET, DELETE, HEAD and OPTIONS with completion handlers.
extension DataRequestService {
    /// Gets a model and hands it to a completion handler; see
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)`` and ``get(_:parameters:query:as:)``.
    @discardableResult
    public func get<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:], deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.get, path, parameters: parameters, query: query), deserializeTo: type,
            completionQueue: completionQueue, completion: completion)
    }

    /// Deletes, and hands a model from the answer to a completion handler; see
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)`` and ``get(_:parameters:query:as:)``.
    @discardableResult
    public func delete<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:], deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.delete, path, parameters: parameters, query: query), deserializeTo: type,
            completionQueue: completionQueue, completion: completion)
    }

    /// Gets a response and hands it to a completion handler; see
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func get(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:],
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.get, path, parameters: parameters, query: query), completionQueue: completionQueue,
            completion: completion)
    }

    /// Deletes, and hands the response to a completion handler; see
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func delete(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:],
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.delete, path, parameters: parameters, query: query), completionQueue: completionQueue,
            completion: completion)
    }

    /// Asks for the head of what GET would give and hands it to a completion handler; see
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func head(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:],
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.head, path, parameters: parameters, query: query), completionQueue: completionQueue,
            completion: completion)
    }

    /// Asks which methods there are and hands the response to a completion handler; see
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func options(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:],
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.options, path, parameters: parameters, query: query), completionQueue: completionQueue,
            completion: completion)
    }
}
