public import EssentialsHTTP

/// POST, PUT and PATCH: parameters or a model are the body.
extension DataRequestService {
    /// Posts a model and reads another from the response. The request is not repeated after a failure.
    ///
    /// - Parameters:
    ///   - path: The path below the environment's base URL.
    ///   - body: The model that is sent.
    ///   - query: Items that are added to the query in this order.
    ///   - encoding: The media type in which the body is written. The default is JSON.
    ///   - headerFields: The request's own header fields.
    ///   - expecting: The statuses that are a success. The default is 200 to 299.
    ///   - options: Deadlines, limits, protocol and trust.
    ///   - type: The model that is read; see ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    /// - Throws: as ``get(_:parameters:query:headerFields:expecting:options:as:)``; `encoding` if the body cannot be
    ///   written.
    public func post<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of: DataRequest(
                .post, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options))
    }

    /// Sends POST with a model; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
    @discardableResult
    public func post(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            DataRequest(
                .post, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options))
    }

    /// Sends POST with named values and reads a model from the response; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
    public func post<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of: DataRequest(
                .post, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options))
    }

    /// Sends POST with named values; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
    @discardableResult
    public func post(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            DataRequest(
                .post, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options))
    }

    /// Sends PUT with a model and reads a model from the response; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
    public func put<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of: DataRequest(
                .put, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options))
    }

    /// Sends PUT with a model; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
    @discardableResult
    public func put(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            DataRequest(
                .put, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options))
    }

    /// Sends PUT with named values and reads a model from the response; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
    public func put<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of: DataRequest(
                .put, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options))
    }

    /// Sends PUT with named values; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
    @discardableResult
    public func put(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            DataRequest(
                .put, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options))
    }

    /// Sends PATCH with a model and reads a model from the response; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
    public func patch<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of: DataRequest(
                .patch, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options))
    }

    /// Sends PATCH with a model; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
    @discardableResult
    public func patch(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            DataRequest(
                .patch, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
                expecting: expecting, options: options))
    }

    /// Sends PATCH with named values and reads a model from the response; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
    public func patch<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions(),
        as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of: DataRequest(
                .patch, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options))
    }

    /// Sends PATCH with named values; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)``.
    @discardableResult
    public func patch(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            DataRequest(
                .patch, path, parameters: parameters, query: query, headerFields: headerFields, encoding: encoding,
                expecting: expecting, options: options))
    }
}
