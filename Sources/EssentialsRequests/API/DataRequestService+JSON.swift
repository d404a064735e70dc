public import Dispatch
public import EssentialsHTTP

/// Requests whose body is a JSON value, which can be a literal.
///
/// ```swift
/// let user: User = try await requests.post("users", body: ["name": "Ada", "tags": ["a", 1, nil]])
/// ```
///
/// Literals whose elements have one type, such as `["name": "Ada"]`, are dictionaries and arrays, which are encoded to
/// the same bytes. The members of an object are sorted by name. A `nil` is the JSON value `null`. The other parameters
/// are those of the functions that take a model.
extension DataRequestService {
    /// Sends POST with a JSON value and reads a model from the response.
    public func post<Model: Decodable & Sendable>(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of: .post(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends POST with a JSON value.
    @discardableResult
    public func post(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .post(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends POST with a JSON value and passes a model from the response to a completion handler.
    @discardableResult
    public func post<Model: Decodable & Sendable>(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
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

    /// Sends POST with a JSON value and passes the response to a completion handler.
    @discardableResult
    public func post(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
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

    /// Sends PUT with a JSON value and reads a model from the response.
    public func put<Model: Decodable & Sendable>(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of: .put(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends PUT with a JSON value.
    @discardableResult
    public func put(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .put(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends PUT with a JSON value and passes a model from the response to a completion handler.
    @discardableResult
    public func put<Model: Decodable & Sendable>(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
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

    /// Sends PUT with a JSON value and passes the response to a completion handler.
    @discardableResult
    public func put(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
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

    /// Sends PATCH with a JSON value and reads a model from the response.
    public func patch<Model: Decodable & Sendable>(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of: .patch(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends PATCH with a JSON value.
    @discardableResult
    public func patch(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .patch(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends PATCH with a JSON value and passes a model from the response to a completion handler.
    @discardableResult
    public func patch<Model: Decodable & Sendable>(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
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

    /// Sends PATCH with a JSON value and passes the response to a completion handler.
    @discardableResult
    public func patch(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
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
}
