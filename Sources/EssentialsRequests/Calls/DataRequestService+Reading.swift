public import EssentialsHTTP

/// GET, DELETE, HEAD and OPTIONS: the parameters are part of the query.
extension DataRequestService {
    /// Gets a model.
    ///
    /// - Parameters:
    ///   - path: The path below the environment's base URL.
    ///   - parameters: Named values that are added to the query, sorted by name.
    ///   - query: Items that are added to the query in this order.
    ///   - headerFields: The request's own header fields.
    ///   - expecting: The statuses that are a success. The default is 200 to 299.
    ///   - options: Deadlines, limits, protocol and trust.
    ///   - type: The model: any `Decodable`, an optional one where the body may be empty, `String` for text, `Data` for
    ///     the bytes as they are.
    /// - Throws: as ``send(_:)-(DataRequest)``; `decoding` if the body does not fit, `emptyBody` if there is none.
    public func get<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of: DataRequest(
                .get, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Gets a response; see
    /// ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    @discardableResult
    public func get(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            DataRequest(
                .get, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends DELETE and reads a model from the response; see
    /// ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    public func delete<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of: DataRequest(
                .delete, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends DELETE; see
    /// ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    @discardableResult
    public func delete(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            DataRequest(
                .delete, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Gets the header fields that a response to GET would have (RFC 9110, 9.3.2); see
    /// ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    public func head(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            DataRequest(
                .head, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Gets the methods that there are (RFC 9110, 9.3.7), in the field `Allow`; see
    /// ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    public func options(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            DataRequest(
                .options, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }
}
