public import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

extension AsyncCache {
    /// The models of a cached list that match a filter, in their order. Without a list the result is empty.
    ///
    /// They are filtered outside all actors. The date of the list is not part of the result; load the list for it.
    ///
    /// - Throws: The errors of the cache.
    public func models<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, key: ModelKey<[Model]>
    ) async throws -> [Model] {
        try await matchingModels(filter, key) ?? []
    }

    /// The matching models, now and after each change of their list.
    ///
    /// ```swift
    /// for await coins in cache.liveModels(matching: ModelFilter("bit", in: \Coin.name), key: ModelKey("coins")) {
    ///     show(coins)
    /// }
    /// ```
    ///
    /// An element is empty if the list was deleted or never saved. A reader that is slower than the changes finds only
    /// the newest list, so nothing piles up. An iteration follows the list of the environment and the account in which
    /// it began. It finds nothing while that account is suspended by other credentials. When the account is entered
    /// again, the models of a ``ModelCache`` are found again. If the cache fails, there is no element until the next
    /// change. There can be any number of readers, each with its own position. The sequence ends when the calling task
    /// is cancelled. It fetches nothing.
    ///
    /// The changes of an ``ObservableCache`` are followed; wrap any other cache in an ``ObservedCache``. Without it the
    /// sequence ends after its first element.
    public func liveModels<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, key: ModelKey<[Model]>
    ) -> ValueSequence<[Model]> {
        followedModels(filter) { LivePlace(key: key, isReadable: { true }) }
    }

    /// Makes a ``ModelCache`` log that it has no list for a path.
    fileprivate func noteMissingList() {
        if let models = self as? ModelCache {
            models.logMissingList()
        } else if let observed = self as? ObservedCache {
            observed.wrapped.noteMissingList()
        }
    }

    @concurrent
    fileprivate func matchingModels<Model: Codable & Sendable>(
        _ filter: ModelFilter<Model>, _ key: ModelKey<[Model]>
    ) async throws -> [Model]? {
        try await load(key).map { filter.matching($0.value) }
    }
}

extension ModelCaching {
    /// The models that match a filter, in their order, from the list that
    /// ``FetchingService/get(_:parameters:query:headerFields:below:from:options:retry:key:as:)`` has stored for a path.
    /// Nothing is fetched. Without a list the result is empty, and a ``ModelCache`` logs that once.
    ///
    /// ```swift
    /// let matching = try await service.models(matching: ModelFilter("bit", in: \Coin.name, \Coin.symbol), at: "coins")
    /// ```
    ///
    /// A list that was fetched by a definition is stored with the header fields of its API. Pass the definition to
    /// `models(matching:of:)` for it.
    ///
    /// - Parameters:
    ///   - filter: Selects the models.
    ///   - path: The path of the fetch.
    ///   - parameters: The named values of the fetch.
    ///   - query: The query items of the fetch.
    ///   - headerFields: The header fields of the fetch.
    ///   - keyPath: The names that lead to the list inside the document.
    /// - Throws: The errors of the cache.
    public func models<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, at path: String, parameters: FormParameters = FormParameters(),
        query: QueryItems = QueryItems(), headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil
    ) async throws -> [Model] {
        let request = DataRequest.get(path, parameters: parameters, query: query, headerFields: headerFields)
        return try await models(matching: filter, in: listSource(of: request, below: keyPath)) { $0.noteMissingList() }
    }

    /// The matching models of the list that was stored for a request or a definition; see
    /// ``models(matching:at:parameters:query:headerFields:below:)``. The result is empty for a request that is cached
    /// only under a given key.
    ///
    /// ```swift
    /// let matching = try await service.models(matching: ModelFilter("bit", in: \Coin.name), of: Coins.getAll)
    /// ```
    public func models<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, of request: some BuildableRequest, below keyPath: String? = nil
    ) async throws -> [Model] {
        try await models(matching: filter, in: listSource(of: request, below: keyPath))
    }

    /// The matching models of the list that a definition describes; see
    /// ``models(matching:at:parameters:query:headerFields:below:)``. The definition determines the type of the models.
    ///
    /// ```swift
    /// let matching = try await service.models(matching: ModelFilter("bit", in: \.name), of: Coins.getAll)
    /// ```
    public func models<Model: Codable & Sendable, Request: TypedRequest>(
        matching filter: ModelFilter<Model>, of request: Request, below keyPath: String? = nil
    ) async throws -> [Model] where Request.Response == [Model] {
        try await models(matching: filter, in: listSource(of: request, below: keyPath))
    }

    /// The place of a request's list; `nil` if the list is stored only under a given key.
    private func listSource(of request: some BuildableRequest, below keyPath: String?) -> FetchKeySource? {
        guard let request = try? request.build() else { return nil }
        return FetchKeyRules.parts(of: request, below: NestedPath(keyPath)).map { .request($0) }
    }

    private func models<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, in source: FetchKeySource?,
        whenMissing: (any AsyncCache) -> Void = { _ in }
    ) async throws -> [Model] {
        guard let source else { return [] }
        let operation = beginFetch()
        let key = source.key(in: operation)
        guard operation.permits(key.partition) else { return [] }
        if let models = try await cache.matchingModels(filter, ModelKey(key)) { return models }
        whenMissing(cache)
        return []
    }

    /// The matching models of a path, now and each time that a fetch or other code saves or deletes their list; see
    /// ``AsyncCache/liveModels(matching:key:)`` and ``models(matching:at:parameters:query:headerFields:below:)``.
    /// Nothing is fetched.
    ///
    /// ```swift
    /// for await coins in service.liveModels(matching: ModelFilter(text, in: \Coin.name), at: "coins") { show(coins) }
    /// ```
    public func liveModels<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, at path: String, parameters: FormParameters = FormParameters(),
        query: QueryItems = QueryItems(), headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil
    ) -> ValueSequence<[Model]> {
        liveModels(
            matching: filter, of: .get(path, parameters: parameters, query: query, headerFields: headerFields),
            below: keyPath)
    }

    /// The matching models of a request or a definition, now and after each change of their list. For a request that is
    /// cached only under a given key, the sequence has one empty element.
    public func liveModels<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, of request: some BuildableRequest, below keyPath: String? = nil
    ) -> ValueSequence<[Model]> {
        liveModels(matching: filter, in: listSource(of: request, below: keyPath))
    }

    /// The matching models of the list that a definition describes, now and after each change of the list. The
    /// definition determines the type of the models.
    public func liveModels<Model: Codable & Sendable, Request: TypedRequest>(
        matching filter: ModelFilter<Model>, of request: Request, below keyPath: String? = nil
    ) -> ValueSequence<[Model]> where Request.Response == [Model] {
        liveModels(matching: filter, in: listSource(of: request, below: keyPath))
    }

    private func liveModels<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, in source: FetchKeySource?
    ) -> ValueSequence<[Model]> {
        cache.followedModels(filter) {
            guard let source else { return nil }
            let key = source.key(in: beginFetch())
            let requests = requests
            // The account may be suspended and entered again while the models are observed.
            return LivePlace(key: ModelKey(key)) {
                requests.beginOperation()?.admits(key.partition) ?? true
            }
        }
    }

    /// The models of the list under a key that match a filter, in their order. Nothing is fetched. Without a list the
    /// result is empty.
    ///
    /// A fetch without its own key stores its list under ``FetchingService/modelKey(for:below:as:)``. For such a list
    /// use ``models(matching:at:parameters:query:headerFields:below:)``.
    ///
    /// ```swift
    /// let key = service.modelKey(named: "favourites", as: [Coin].self)
    /// _ = try await service.get("coins", parameters: ["favourite": true], key: key).last()
    /// let matching = try await service.models(matching: ModelFilter("bit", in: \Coin.name), key: key)
    /// ```
    ///
    /// - Throws: The errors of the cache.
    public func models<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, key: ModelKey<[Model]>
    ) async throws -> [Model] {
        try await models(matching: filter, in: .given(key.parts))
    }

    /// The matching models, now and each time that a fetch or other code saves or deletes their list; see
    /// ``AsyncCache/liveModels(matching:key:)``. Nothing is fetched.
    public func liveModels<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, key: ModelKey<[Model]>
    ) -> ValueSequence<[Model]> {
        liveModels(matching: filter, in: .given(key.parts))
    }
}

/// The place where one iteration over live models finds their list.
private struct LivePlace<Model: Codable & Sendable>: Sendable {
    let key: ModelKey<[Model]>
    /// Whether the list may be read now.
    let isReadable: @Sendable () -> Bool
}

extension AsyncCache {
    /// - Parameter place: Begins an iteration. It returns `nil` if there is no list.
    fileprivate func followedModels<Model: Codable & Sendable>(
        _ filter: ModelFilter<Model>, at place: @escaping @Sendable () -> LivePlace<Model>?
    ) -> ValueSequence<[Model]> {
        ValueSequence {
            // If there are no changes to follow, there is one element.
            let (place, signal) = (place(), ChangeSignal())
            let changes = place.flatMap { place in
                (self as? any ObservableCache)?.changes.place(for: signal, of: ModelSlot(place.key))
            }
            if changes == nil { signal.finish() }
            return .init(holding: changes, after: signal) {
                guard let place, place.isReadable() else { return Task.isCancelled ? nil : [] }
                guard let models = try? await models(matching: filter, key: place.key), !Task.isCancelled else {
                    return nil
                }
                return place.isReadable() ? models : []
            }
        }
    }
}
