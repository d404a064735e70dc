public import Dispatch
public import EssentialsHTTP

/// POST, PUT and PATCH with completion handlers; see
/// ``send(_:completionQueue:progressInterval:progress:completion:)`` and
/// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
extension DataRequestService {
    /// Sends POST with a model and hands a model from the response to a completion handler.
    @discardableResult
    public func post<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .post, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends POST with a model and hands the response to a completion handler.
    @discardableResult
    public func post(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .post, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends POST with named values and hands a model from the response to a completion handler.
    @discardableResult
    public func post<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .post, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends POST with named values and hands the response to a completion handler.
    @discardableResult
    public func post(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .post, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends PUT with a model and hands a model from the response to a completion handler.
    @discardableResult
    public func put<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .put, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends PUT with a model and hands the response to a completion handler.
    @discardableResult
    public func put(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .put, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends PUT with named values and hands a model from the response to a completion handler.
    @discardableResult
    public func put<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .put, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends PUT with named values and hands the response to a completion handler.
    @discardableResult
    public func put(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .put, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends PATCH with a model and hands a model from the response to a completion handler.
    @discardableResult
    public func patch<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .patch, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends PATCH with a model and hands the response to a completion handler.
    @discardableResult
    public func patch(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .patch, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends PATCH with named values and hands a model from the response to a completion handler.
    @discardableResult
    public func patch<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .patch, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends PATCH with named values and hands the response to a completion handler.
    @discardableResult
    public func patch(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(
                .patch, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options),
            completionQueue: completionQueue, completion: completion)
    }
}
