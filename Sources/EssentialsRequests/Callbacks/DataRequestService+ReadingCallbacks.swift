public import Dispatch
public import EssentialsHTTP

/// GET, DELETE, HEAD and OPTIONS with completion handlers; see
/// ``send(_:completionQueue:progressInterval:progress:completion:)`` and
/// ``get(_:parameters:query:headerFields:expecting:options:as:)``.
extension DataRequestService {
    /// Gets a model and hands it to a completion handler.
    @discardableResult
    public func get<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .get, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Gets a response and hands it to a completion handler.
    @discardableResult
    public func get(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .get, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends DELETE and hands a model from the response to a completion handler.
    @discardableResult
    public func delete<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .delete, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends DELETE and hands the response to a completion handler.
    @discardableResult
    public func delete(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .delete, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Gets the header fields that a response to GET would have, and hands them to a completion handler.
    @discardableResult
    public func head(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .head, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Gets the methods that there are, and hands the response to a completion handler.
    @discardableResult
    public func options(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .options, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            completionQueue: completionQueue, completion: completion)
    }
}
