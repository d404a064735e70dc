public import EssentialsHTTP

/// Requests by method. GET, DELETE, HEAD and OPTIONS send parameters in the query. POST, PUT and PATCH send a body.
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
    ///   - type: The model type: any `Decodable`, an optional one if the body may be empty, `String` for text, or
    ///     `Data` for the undecoded bytes.
    /// - Throws: The failures of ``send(_:)-(DataRequest)``; `decoding` if the body cannot be decoded, and `emptyBody`
    ///   if it is empty.
    public func get<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await self.model(
            of: .get(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Gets a response; see ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    @discardableResult
    public func get(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .get(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends DELETE and reads a model from the response; see
    /// ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    public func delete<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await self.model(
            of: .delete(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends DELETE; see ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    @discardableResult
    public func delete(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .delete(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Gets the header fields that a response to GET would have (RFC 9110, 9.3.2); see
    /// ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    public func head(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .head(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Gets the methods that the server supports, in the field `Allow` (RFC 9110, 9.3.7); see
    /// ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    public func options(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .options(
                path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends POST with a body of any kind and reads a model from the response. The request is not repeated after a failure.
    ///
    /// ```swift
    /// let film: Film = try await requests.post("films", body: ["title": "M", "year": 1931])  // JSON
    /// let session: Session = try await requests.post("login", body: .parameters(["user": "ada"], as: .form))
    /// let copy: Film = try await requests.post("films/7/copies")
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path below the environment's base URL.
    ///   - body: The body: a JSON literal, or one that a function of ``DataRequest/Body`` creates. A model is passed as it is,
    ///     see the other form of this function. The default is no body.
    ///   - query: Items that are added to the query in this order.
    ///   - headerFields: The request's own header fields.
    ///   - expecting: The statuses that are a success. The default is 200 to 299.
    ///   - options: Deadlines, limits, protocol and trust.
    ///   - type: The model type of the response; see ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    /// - Throws: The failures of ``get(_:parameters:query:headerFields:expecting:options:as:)``; `encoding` if the body
    ///   cannot be encoded.
    public func post<Model: Decodable & Sendable>(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await self.model(
            of: .post(
                path, body: body, query: query, headerFields: headerFields, expecting: expecting, options: options))
    }

    /// Sends POST with a body of any kind; see
    /// ``post(_:body:query:headerFields:expecting:options:as:)-(_,DataRequest.Body,_,_,_,_,_)``.
    @discardableResult
    public func post(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .post(path, body: body, query: query, headerFields: headerFields, expecting: expecting, options: options))
    }

    /// Sends POST with a model and reads a model from the response; see
    /// ``post(_:body:query:headerFields:expecting:options:as:)-(_,DataRequest.Body,_,_,_,_,_)``.
    public func post<Model: Decodable & Sendable>(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await self.model(
            of: .post(
                path, body: .model(model), query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends POST with a model; see
    /// ``post(_:body:query:headerFields:expecting:options:as:)-(_,DataRequest.Body,_,_,_,_,_)``.
    @discardableResult
    public func post(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .post(
                path, body: .model(model), query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends PUT with a body of any kind and reads a model from the response; see
    /// ``post(_:body:query:headerFields:expecting:options:as:)-(_,DataRequest.Body,_,_,_,_,_)``.
    public func put<Model: Decodable & Sendable>(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await self.model(
            of: .put(
                path, body: body, query: query, headerFields: headerFields, expecting: expecting, options: options))
    }

    /// Sends PUT with a body of any kind; see
    /// ``post(_:body:query:headerFields:expecting:options:as:)-(_,DataRequest.Body,_,_,_,_,_)``.
    @discardableResult
    public func put(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .put(path, body: body, query: query, headerFields: headerFields, expecting: expecting, options: options))
    }

    /// Sends PUT with a model and reads a model from the response; see
    /// ``post(_:body:query:headerFields:expecting:options:as:)-(_,DataRequest.Body,_,_,_,_,_)``.
    public func put<Model: Decodable & Sendable>(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await self.model(
            of: .put(
                path, body: .model(model), query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends PUT with a model; see
    /// ``post(_:body:query:headerFields:expecting:options:as:)-(_,DataRequest.Body,_,_,_,_,_)``.
    @discardableResult
    public func put(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .put(
                path, body: .model(model), query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends PATCH with a body of any kind and reads a model from the response; see
    /// ``post(_:body:query:headerFields:expecting:options:as:)-(_,DataRequest.Body,_,_,_,_,_)``.
    public func patch<Model: Decodable & Sendable>(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await self.model(
            of: .patch(
                path, body: body, query: query, headerFields: headerFields, expecting: expecting, options: options))
    }

    /// Sends PATCH with a body of any kind; see
    /// ``post(_:body:query:headerFields:expecting:options:as:)-(_,DataRequest.Body,_,_,_,_,_)``.
    @discardableResult
    public func patch(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .patch(path, body: body, query: query, headerFields: headerFields, expecting: expecting, options: options))
    }

    /// Sends PATCH with a model and reads a model from the response; see
    /// ``post(_:body:query:headerFields:expecting:options:as:)-(_,DataRequest.Body,_,_,_,_,_)``.
    public func patch<Model: Decodable & Sendable>(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await self.model(
            of: .patch(
                path, body: .model(model), query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends PATCH with a model; see
    /// ``post(_:body:query:headerFields:expecting:options:as:)-(_,DataRequest.Body,_,_,_,_,_)``.
    @discardableResult
    public func patch(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .patch(
                path, body: .model(model), query: query, headerFields: headerFields, expecting: expecting,
                options: options))
    }
}
