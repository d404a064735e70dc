public import EssentialsHTTP

/// GET, DELETE, HEAD and OPTIONS: parameters stand in the query.
extension DataRequestService {
    /// Gets a model.
    ///
    /// - Parameters:
    ///   - path: Below the environment's base URL.
    ///   - parameters: Added to the query, sorted by name.
    ///   - query: Added to the query, in this order.
    ///   - type: The model: any `Decodable`, an optional one where there may be no body, `String` for text, `Data` for
    ///     the bytes as they are.
    /// - Throws: as ``send(_:)``; `decoding` when the body does not fit, `emptyBody` when there is none.
    public func get<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(of: DataRequest(.get, path, parameters: parameters, query: query))
    }

    /// Gets a response; see ``get(_:parameters:query:as:)``.
    @discardableResult
    public func get(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(DataRequest(.get, path, parameters: parameters, query: query))
    }

    /// Deletes, and reads a model from the answer; see ``get(_:parameters:query:as:)``.
    public func delete<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(of: DataRequest(.delete, path, parameters: parameters, query: query))
    }

    /// Deletes; see ``get(_:parameters:query:as:)``.
    @discardableResult
    public func delete(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(DataRequest(.delete, path, parameters: parameters, query: query))
    }

    /// Asks for the head of what GET would give (RFC 9110, 9.3.2); see ``get(_:parameters:query:as:)``.
    public func head(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(DataRequest(.head, path, parameters: parameters, query: query))
    }

    /// Asks which methods there are (RFC 9110, 9.3.7), for the `Allow` field; see ``get(_:parameters:query:as:)``.
    public func options(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(DataRequest(.options, path, parameters: parameters, query: query))
    }
}
