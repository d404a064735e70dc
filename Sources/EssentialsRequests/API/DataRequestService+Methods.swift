public import EssentialsHTTP

/// Requests by method. GET, DELETE, HEAD and OPTIONS send parameters in the query. POST, PUT and PATCH send parameters
/// or a model as the body.
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
        try await model(
            of:
                .get(
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
        try await model(
            of:
                .delete(
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

    /// Sends POST with a model and reads a model from the response. The request is not repeated after a failure.
    ///
    /// - Parameters:
    ///   - path: The path below the environment's base URL.
    ///   - body: The model to send.
    ///   - query: Items that are added to the query in this order.
    ///   - encoding: The media type of the body. The default is `nil`, which means the type in the header fields, or JSON.
    ///   - headerFields: The request's own header fields.
    ///   - expecting: The statuses that are a success. The default is 200 to 299.
    ///   - options: Deadlines, limits, protocol and trust.
    ///   - type: The model type of the response; see ``get(_:parameters:query:headerFields:expecting:options:as:)``.
    /// - Throws: The failures of ``get(_:parameters:query:headerFields:expecting:options:as:)``; `encoding` if the body
    ///   cannot be encoded.
    public func post<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of:
                .post(
                    path, body: body, query: query, encoding: encoding, headerFields: headerFields,
                    expecting: expecting,
                    options: options))
    }

    /// Sends POST with a model; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
    @discardableResult
    public func post(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .post(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends POST with named values and reads a model from the response; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
    public func post<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of:
                .post(
                    path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                    expecting: expecting, options: options))
    }

    /// Sends POST with named values; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
    @discardableResult
    public func post(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .post(
                path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                expecting: expecting, options: options))
    }

    /// Sends PUT with a model and reads a model from the response; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
    public func put<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of:
                .put(
                    path, body: body, query: query, encoding: encoding, headerFields: headerFields,
                    expecting: expecting,
                    options: options))
    }

    /// Sends PUT with a model; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
    @discardableResult
    public func put(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .put(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends PUT with named values and reads a model from the response; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
    public func put<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of:
                .put(
                    path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                    expecting: expecting, options: options))
    }

    /// Sends PUT with named values; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
    @discardableResult
    public func put(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .put(
                path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                expecting: expecting, options: options))
    }

    /// Sends PATCH with a model and reads a model from the response; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
    public func patch<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of:
                .patch(
                    path, body: body, query: query, encoding: encoding, headerFields: headerFields,
                    expecting: expecting,
                    options: options))
    }

    /// Sends PATCH with a model; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
    @discardableResult
    public func patch(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .patch(
                path, body: body, query: query, encoding: encoding, headerFields: headerFields, expecting: expecting,
                options: options))
    }

    /// Sends PATCH with named values and reads a model from the response; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
    public func patch<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions(), as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(
            of:
                .patch(
                    path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                    expecting: expecting, options: options))
    }

    /// Sends PATCH with named values; see
    /// ``post(_:body:query:encoding:headerFields:expecting:options:as:)-(_,EncodableSendable,_,_,_,_,_,_)``.
    @discardableResult
    public func patch(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) async throws(RequestFailure) -> DataResponse {
        try await send(
            .patch(
                path, parameters: parameters, query: query, encoding: encoding, headerFields: headerFields,
                expecting: expecting, options: options))
    }
}
