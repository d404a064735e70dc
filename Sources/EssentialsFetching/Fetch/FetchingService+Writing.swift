public import EssentialsHTTP
public import EssentialsRequests

/// Functions that send a write, exactly as often as its retries allow. Its response is not cached.
///
/// ```swift
/// let coin: Coin = try await service.post("coins", body: NewCoin(name: "Ada"), outdating: [.get("coins", as: [Coin].self)])
/// try await service.delete("coins/7", outdating: [.get("coins/7", as: Coin.self), .get("coins", as: [Coin].self)])
/// ```
///
/// The cached models that a write makes outdated are deleted when the server has accepted it, before its response is
/// read. A response that cannot be read therefore leaves no outdated model either. The deleted models are those of the
/// environment and the account in which the write was sent, even if others are current by then. Without an account, a
/// write whose credentials were cleared or replaced meanwhile deletes nothing, because the models that are stored by
/// then belong to others. A failing cache does not make the write fail.
///
/// A POST whose outcome is unknown is not sent again, unless the request has an idempotency key; see `RetryPolicy`.
extension FetchingService {
    /// Sends POST with a model, and reads a model from the response.
    ///
    /// - Parameters:
    ///   - path: The path below the environment's base URL.
    ///   - model: The model to send.
    ///   - query: Items that are added to the query in this order.
    ///   - headerFields: The request's own header fields.
    ///   - keyPath: The names that lead to the model inside the document.
    ///   - retry: How a failed request is sent again. The default is that of ``fetchDefaults``.
    ///   - models: The cached models that a success makes outdated.
    ///   - type: The model type of the response. `EmptyResponse` ignores the body.
    /// - Throws: The failures of `DataRequestService.send`, `decoding` and `emptyBody`.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil, retry: RetryPolicy? = nil,
        outdating models: [OutdatedModel] = [], as type: Value.Type = Value.self
    ) async throws(RequestFailure) -> Value {
        try await send(
            .post(path, body: .model(model), query: query, headerFields: headerFields), below: keyPath, retry: retry,
            outdating: models)
    }

    /// Sends POST with a body of any kind; see
    /// ``post(_:body:query:headerFields:below:retry:outdating:as:)-(_,DataRequest.Body,_,_,_,_,_,_)``.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil, retry: RetryPolicy? = nil,
        outdating models: [OutdatedModel] = [], as type: Value.Type = Value.self
    ) async throws(RequestFailure) -> Value {
        try await send(
            .post(path, body: body, query: query, headerFields: headerFields), below: keyPath, retry: retry,
            outdating: models)
    }

    /// Sends PUT with a model; see
    /// ``post(_:body:query:headerFields:below:retry:outdating:as:)-(_,DataRequest.Body,_,_,_,_,_,_)``.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil, retry: RetryPolicy? = nil,
        outdating models: [OutdatedModel] = [], as type: Value.Type = Value.self
    ) async throws(RequestFailure) -> Value {
        try await send(
            .put(path, body: .model(model), query: query, headerFields: headerFields), below: keyPath, retry: retry,
            outdating: models)
    }

    /// Sends PUT with a body of any kind; see
    /// ``post(_:body:query:headerFields:below:retry:outdating:as:)-(_,DataRequest.Body,_,_,_,_,_,_)``.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil, retry: RetryPolicy? = nil,
        outdating models: [OutdatedModel] = [], as type: Value.Type = Value.self
    ) async throws(RequestFailure) -> Value {
        try await send(
            .put(path, body: body, query: query, headerFields: headerFields), below: keyPath, retry: retry,
            outdating: models)
    }

    /// Sends PATCH with a model; see
    /// ``post(_:body:query:headerFields:below:retry:outdating:as:)-(_,DataRequest.Body,_,_,_,_,_,_)``.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil, retry: RetryPolicy? = nil,
        outdating models: [OutdatedModel] = [], as type: Value.Type = Value.self
    ) async throws(RequestFailure) -> Value {
        try await send(
            .patch(path, body: .model(model), query: query, headerFields: headerFields), below: keyPath, retry: retry,
            outdating: models)
    }

    /// Sends PATCH with a body of any kind; see
    /// ``post(_:body:query:headerFields:below:retry:outdating:as:)-(_,DataRequest.Body,_,_,_,_,_,_)``.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil, retry: RetryPolicy? = nil,
        outdating models: [OutdatedModel] = [], as type: Value.Type = Value.self
    ) async throws(RequestFailure) -> Value {
        try await send(
            .patch(path, body: body, query: query, headerFields: headerFields), below: keyPath, retry: retry,
            outdating: models)
    }

    /// Sends DELETE, and reads a model from the response; see
    /// ``post(_:body:query:headerFields:below:retry:outdating:as:)-(_,DataRequest.Body,_,_,_,_,_,_)``.
    @discardableResult
    public func delete<Value: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil, retry: RetryPolicy? = nil,
        outdating models: [OutdatedModel] = [], as type: Value.Type
    ) async throws(RequestFailure) -> Value {
        try await send(
            .delete(path, parameters: parameters, query: query, headerFields: headerFields), below: keyPath,
            retry: retry, outdating: models)
    }

    /// Sends DELETE. A body of the response is ignored.
    public func delete(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), retry: RetryPolicy? = nil, outdating models: [OutdatedModel] = []
    ) async throws(RequestFailure) {
        try await fireAndForget(
            .delete(path, parameters: parameters, query: query, headerFields: headerFields), retry: retry,
            outdating: models)
    }

    // MARK: Whole requests

    /// Sends a write and reads a model from its response; see
    /// ``post(_:body:query:headerFields:below:retry:outdating:as:)-(_,DataRequest.Body,_,_,_,_,_,_)``.
    @_disfavoredOverload  // A definition has a more specific form.
    @discardableResult
    public func send<Value: Decodable & Sendable>(
        _ request: some BuildableRequest, below keyPath: String? = nil, retry: RetryPolicy? = nil,
        outdating models: [OutdatedModel] = [], as type: Value.Type = Value.self
    ) async throws(RequestFailure) -> Value {
        let operation = beginFetch(hasKeys: !models.isEmpty && modelCache != nil)
        let deletions = OutdatedModel.deletions(of: models, in: operation)
        var request = try request.build()
        request.prepare(retry: retry, fetchDefaults)
        let reader = NestedReader<Value>(NestedPath(keyPath), codecs: request.codecs ?? requests.codecs)
        let response = try await requests.send(reader.requesting(request).bound(to: operation.context))
        await OutdatedModel.perform(deletions, fetchDefaults.cacheProblems)
        return try await reader.model(from: response, to: request.method)
    }

    /// Sends the definition of a write and reads its model.
    ///
    /// ```swift
    /// let user = try await service.send(Users.rename(id: 7, to: "Ada"), outdating: [.request(Users.get(id: 7))])
    /// ```
    @discardableResult
    public func send<Request: TypedRequest>(
        _ request: Request, below keyPath: String? = nil, retry: RetryPolicy? = nil,
        outdating models: [OutdatedModel] = []
    ) async throws(RequestFailure) -> Request.Response where Request.Response: Decodable {
        try await send(
            try request.build(), below: keyPath, retry: retry, outdating: models, as: Request.Response.self)
    }

    /// Sends the definition of a write without a model. A body of the response is ignored.
    ///
    /// ```swift
    /// try await service.send(Users.delete(id: 7), outdating: [.request(Users.get(id: 7)), .request(Users.getAll)])
    /// ```
    public func send<Request: TypedRequest>(
        _ request: Request, retry: RetryPolicy? = nil, outdating models: [OutdatedModel] = []
    ) async throws(RequestFailure) where Request.Response == Void {
        try await fireAndForget(request, retry: retry, outdating: models)
    }

    /// Sends a request and ignores its response except for the status.
    ///
    /// It returns when the server has accepted the request. If the request must not be lost while the server cannot be
    /// reached, send it through an outbox.
    ///
    /// ```swift
    /// try await service.fireAndForget(.post("views", body: ["id": 7]))
    /// ```
    ///
    /// - Parameters:
    ///   - request: A `DataRequest`, a `RequestBuilder` or a definition.
    ///   - retry: How a failed request is sent again. The default is that of the request, or otherwise that of
    ///     ``fetchDefaults``.
    ///   - models: The cached models that a success makes outdated.
    /// - Throws: The failures of `DataRequestService.send`.
    public func fireAndForget(
        _ request: some BuildableRequest, retry: RetryPolicy? = nil, outdating models: [OutdatedModel] = []
    ) async throws(RequestFailure) {
        let operation = beginFetch(hasKeys: !models.isEmpty && modelCache != nil)
        let deletions = OutdatedModel.deletions(of: models, in: operation)
        var request = try request.build()
        request.prepare(retry: retry, fetchDefaults)
        try await requests.send(request.bound(to: operation.context))
        await OutdatedModel.perform(deletions, fetchDefaults.cacheProblems)
    }

    /// Sends a request to a path and ignores its response except for the status; see
    /// ``fireAndForget(_:retry:outdating:)``.
    public func fireAndForget(
        _ method: HTTPRequest.Method, _ path: String, parameters: FormParameters = FormParameters(),
        query: QueryItems = QueryItems(), headerFields: HTTPFields = HTTPFields(), retry: RetryPolicy? = nil,
        outdating models: [OutdatedModel] = []
    ) async throws(RequestFailure) {
        try await fireAndForget(
            DataRequest(method, path, parameters: parameters, query: query, headerFields: headerFields), retry: retry,
            outdating: models)
    }
}
