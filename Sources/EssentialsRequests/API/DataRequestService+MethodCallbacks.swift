public import Dispatch
public import EssentialsHTTP

/// Requests by method with completion handlers.
///
/// The handler works as in ``send(_:completionQueue:progressInterval:progress:completion:)``. The other parameters are
/// those of ``get(_:parameters:query:headerFields:expecting:options:as:)`` and
/// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
extension DataRequestService {
    /// Gets a model and passes it to a completion handler.
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

    /// Gets a response and passes it to a completion handler.
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

    /// Sends DELETE and passes a model from the response to a completion handler.
    @discardableResult
    public func delete<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil, completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .delete(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends DELETE and passes the response to a completion handler.
    @discardableResult
    public func delete(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .delete(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Gets the header fields that a response to GET would have, and passes them to a completion handler.
    @discardableResult
    public func head(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .head(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Gets the methods that the server supports, and passes the response to a completion handler.
    @discardableResult
    public func options(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .options(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends POST with a model and passes a model from the response to a completion handler.
    @discardableResult
    public func post<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil, completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .post(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends POST with a model and passes the response to a completion handler.
    @discardableResult
    public func post(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .post(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends POST with named values and passes a model from the response to a completion handler.
    @discardableResult
    public func post<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil, completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .post(
                path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                expecting: expecting, options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends POST with named values and passes the response to a completion handler.
    @discardableResult
    public func post(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .post(
                path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                expecting: expecting, options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends PUT with a model and passes a model from the response to a completion handler.
    @discardableResult
    public func put<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil, completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .put(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends PUT with a model and passes the response to a completion handler.
    @discardableResult
    public func put(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .put(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends PUT with named values and passes a model from the response to a completion handler.
    @discardableResult
    public func put<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil, completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .put(
                path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                expecting: expecting, options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends PUT with named values and passes the response to a completion handler.
    @discardableResult
    public func put(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .put(
                path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                expecting: expecting, options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends PATCH with a model and passes a model from the response to a completion handler.
    @discardableResult
    public func patch<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil, completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .patch(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends PATCH with a model and passes the response to a completion handler.
    @discardableResult
    public func patch(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .patch(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options),
            completionQueue: completionQueue, completion: completion)
    }

    /// Sends PATCH with named values and passes a model from the response to a completion handler.
    @discardableResult
    public func patch<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), deserializeTo type: Model.Type,
        completionQueue: DispatchQueue? = nil, completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .patch(
                path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                expecting: expecting, options: options),
            deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Sends PATCH with named values and passes the response to a completion handler.
    @discardableResult
    public func patch(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            .patch(
                path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                expecting: expecting, options: options),
            completionQueue: completionQueue, completion: completion)
    }
}
