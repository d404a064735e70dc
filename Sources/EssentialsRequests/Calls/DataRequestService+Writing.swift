public import EssentialsHTTP

/// POST, PUT and PATCH: parameters or a model are the body.
extension DataRequestService {
    /// Posts a model and reads another from the answer. Nothing is sent twice.
    ///
    /// - Parameters:
    ///   - path: Below the environment's base URL.
    ///   - body: The model to be sent.
    ///   - query: Added to the query, in this order.
    ///   - encoding: Which codec writes the body. JSON.
    ///   - type: The model to be read; see ``get(_:parameters:query:as:)``.
    /// - Throws: as ``get(_:parameters:query:as:)``; `encoding` when the body cannot be written.
    public func post<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(of: DataRequest(.post, path, query: query, body: .model(body, as: encoding)))
    }

    /// Posts a model; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func post(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil
    ) async throws(RequestFailure) -> DataResponse {
        try await send(DataRequest(.post, path, query: query, body: .model(body, as: encoding)))
    }

    /// Posts named values and reads a model from the answer; see ``post(_:body:query:encoding:as:)``.
    public func post<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        var request = DataRequest(.post, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return try await model(of: request)
    }

    /// Posts named values; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func post(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil
    ) async throws(RequestFailure) -> DataResponse {
        var request = DataRequest(.post, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return try await send(request)
    }

    /// Puts a model and reads another from the answer; see ``post(_:body:query:encoding:as:)``.
    public func put<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(of: DataRequest(.put, path, query: query, body: .model(body, as: encoding)))
    }

    /// Puts a model; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func put(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil
    ) async throws(RequestFailure) -> DataResponse {
        try await send(DataRequest(.put, path, query: query, body: .model(body, as: encoding)))
    }

    /// Puts named values and reads a model from the answer; see ``post(_:body:query:encoding:as:)``.
    public func put<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        var request = DataRequest(.put, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return try await model(of: request)
    }

    /// Puts named values; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func put(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil
    ) async throws(RequestFailure) -> DataResponse {
        var request = DataRequest(.put, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return try await send(request)
    }

    /// Patches with a model and reads another from the answer; see ``post(_:body:query:encoding:as:)``.
    public func patch<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(of: DataRequest(.patch, path, query: query, body: .model(body, as: encoding)))
    }

    /// Patches with a model; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func patch(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil
    ) async throws(RequestFailure) -> DataResponse {
        try await send(DataRequest(.patch, path, query: query, body: .model(body, as: encoding)))
    }

    /// Patches with named values and reads a model from the answer; see ``post(_:body:query:encoding:as:)``.
    public func patch<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        var request = DataRequest(.patch, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return try await model(of: request)
    }

    /// Patches with named values; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func patch(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil
    ) async throws(RequestFailure) -> DataResponse {
        var request = DataRequest(.patch, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return try await send(request)
    }
}
