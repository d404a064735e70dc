public import EssentialsHTTP
public import EssentialsRequests

/// Fetching models.
extension FetchingService {
    /// The model at a path.
    ///
    /// Nothing is read or sent before the first value is requested.
    ///
    /// ```swift
    /// for try await coins in service.get("coins", from: .backendElseCache, as: [Coin].self) { show(coins.value) }
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path below the environment's base URL.
    ///   - parameters: Named values for the query.
    ///   - query: Items that are added to the query in this order.
    ///   - headerFields: The request's own header fields. They distinguish cached models, except for those that select
    ///     no representation, such as `Cache-Control`. If they contain credentials or a range, the model is cached only
    ///     under a given key.
    ///   - keyPath: The names that lead to the model inside the document, with points in between, such as `data.items`.
    ///     They are names as the codec decodes them. The default is `nil`, which means the whole document.
    ///   - source: Where values come from. The default is that of ``fetchDefaults``.
    ///   - options: The options for emitting and storing values. The default is that of ``fetchDefaults``.
    ///   - retry: How a failed request is sent again. The default is that of ``fetchDefaults``.
    ///   - key: The key of the cached model. The default is ``modelKey(for:below:as:)``.
    ///   - type: The model type. If it is optional, an empty response, 404 and 410 give the value `nil`.
    public func get<Value: Codable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil, from source: FetchSource? = nil,
        options: FetchOptions? = nil, retry: RetryPolicy? = nil, key: ModelKey<Value>? = nil,
        as type: Value.Type = Value.self
    ) -> Emissions<Value> {
        emissions(
            of: .get(path, parameters: parameters, query: query, headerFields: headerFields), below: keyPath,
            from: source, options, retry, key?.parts)
    }

    /// The model of a request; see ``get(_:parameters:query:headerFields:below:from:options:retry:key:as:)``.
    ///
    /// A request with a method other than GET and HEAD is sent as it is described, and its model is cached only under a
    /// given key. Each iteration sends it again.
    ///
    /// - Parameters:
    ///   - request: A `DataRequest` or a `RequestBuilder`, whose failures are those of the sequence.
    ///   - keyPath: The names that lead to the model inside the document.
    ///   - source: Where values come from.
    ///   - options: The options for emitting and storing values.
    ///   - retry: How a failed request is sent again. The default is that of the request, or otherwise that of
    ///     ``fetchDefaults``.
    ///   - key: The key of the cached model.
    ///   - type: The model type.
    @_disfavoredOverload  // A definition has a more specific form.
    public func fetch<Value: Codable & Sendable>(
        _ request: some BuildableRequest, below keyPath: String? = nil, from source: FetchSource? = nil,
        options: FetchOptions? = nil, retry: RetryPolicy? = nil, key: ModelKey<Value>? = nil,
        as type: Value.Type = Value.self
    ) -> Emissions<Value> {
        emissions(of: request, below: keyPath, from: source, options, retry, key?.parts)
    }

    /// The model of a definition; see ``get(_:parameters:query:headerFields:below:from:options:retry:key:as:)``.
    ///
    /// ```swift
    /// let user = service.fetch(Users.get(id: 7), from: .cacheThenBackend)          // Emissions<User>
    /// ```
    public func fetch<Request: TypedRequest>(
        _ request: Request, below keyPath: String? = nil, from source: FetchSource? = nil,
        options: FetchOptions? = nil, retry: RetryPolicy? = nil, key: ModelKey<Request.Response>? = nil
    ) -> Emissions<Request.Response> where Request.Response: Codable {
        emissions(of: request, below: keyPath, from: source, options, retry, key?.parts)
    }

    // MARK: Keys

    /// The key under which this service stores the model of a request now; `nil` if it stores it only under a given
    /// key.
    ///
    /// It consists of the request, its header fields, and the type, partition, environment and schema version. The name
    /// for a GET request is its path with its query. Other functions of this service use the key for the same request
    /// with the partition and the environment that are current then. A cache uses the key as it is.
    public func modelKey<Value: Codable & Sendable>(
        for request: some BuildableRequest, below keyPath: String? = nil, as type: Value.Type = Value.self
    ) -> ModelKey<Value>? {
        guard let request = try? request.build() else { return nil }
        return FetchKeyRules.parts(of: request, below: NestedPath(keyPath)).map { ModelKey(beginFetch().key($0)) }
    }

    /// The key under which this service stores the model of a definition now; see ``modelKey(for:below:as:)``.
    ///
    /// ```swift
    /// let key = service.modelKey(for: Users.get(id: 7))                                 // ModelKey<User>?
    /// ```
    public func modelKey<Request: TypedRequest>(
        for request: Request, below keyPath: String? = nil
    ) -> ModelKey<Request.Response>? where Request.Response: Codable {
        modelKey(for: request, below: keyPath, as: Request.Response.self)
    }

    /// A key with a name of the caller, and with the current partition, environment and schema version of this service.
    ///
    /// A fetch of this service with the key uses those that are current when an iteration begins.
    ///
    /// ```swift
    /// let coins = service.get(
    ///     "coins", parameters: ["page": page], key: service.modelKey(named: "first page"), as: [Coin].self)
    /// ```
    public func modelKey<Value: Codable & Sendable>(
        named name: String, variant: String = "", as type: Value.Type = Value.self
    ) -> ModelKey<Value> {
        ModelKey(beginFetch().key(name, variant: variant))
    }

    // MARK: Building

    private func emissions<Value: Codable & Sendable>(
        of request: some BuildableRequest, below keyPath: String?, from source: FetchSource?,
        _ options: FetchOptions?, _ retry: RetryPolicy?, _ given: FetchKey?
    ) -> Emissions<Value> {
        let (defaults, nested) = (fetchDefaults, NestedPath(keyPath))
        var key = given.map { FetchKeySource.given($0) }
        var (built, refusal) = (DataRequest.get(""), nil as RequestFailure?)
        do throws(RequestFailure) {
            built = try request.build()
            if key == nil, modelCache != nil {
                key = FetchKeyRules.parts(of: built, below: nested).map { FetchKeySource.request($0) }
            }
        } catch {
            refusal = error
        }
        built.prepare(retry: retry, defaults)
        let fetch = Fetch<Value>(
            built, refusal, below: nested, key: key, source ?? defaults.source, options ?? defaults.options, self,
            defaults)
        return Emissions(fetch)
    }
}

extension DataRequest {
    /// Completes the settings of the request.
    ///
    /// - Parameters:
    ///   - retry: The policy that takes precedence over the request's own.
    ///   - defaults: The defaults for settings that the request leaves open.
    mutating func prepare(retry: RetryPolicy?, _ defaults: FetchDefaults) {
        settings = settings.merging(over: defaults.settings.forRequests(with: method))
        if let retry { settings.retry = retry }
    }
}
