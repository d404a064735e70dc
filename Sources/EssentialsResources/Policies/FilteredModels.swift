public import EssentialsHTTP
public import EssentialsRequests

extension AsyncCache {
    /// The models of a cached list that match a filter, in their order. Without a list there are none.
    ///
    /// They are filtered on no actor. The date of the list is not part of the result; load the list for it.
    ///
    /// - Throws: What the cache throws.
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
    /// The changes of an ``ObservableCache`` are followed; wrap another cache with ``ObservedCache``. Without it the
    /// sequence ends after its first element.
    public func liveModels<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, key: ModelKey<[Model]>
    ) -> LiveModels<Model> {
        LiveModels(cache: self, filter: filter) { LiveModels<Model>.Place(key: key, isReadable: { true }) }
    }

    /// Lets a ``ModelCache`` log that it has no list for a path.
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
    /// The models that match a filter, in their order, of the list that
    /// ``FetchingService/get(_:parameters:query:headerFields:below:from:options:retry:key:as:)`` has stored for a path.
    /// Nothing is fetched. Without a list there are none, and a ``ModelCache`` logs that once.
    ///
    /// ```swift
    /// let matching = try await service.models(matching: ModelFilter("bit", in: \Coin.name, \Coin.symbol), at: "coins")
    /// ```
    ///
    /// A list that was fetched by a definition is stored with the header fields of its API; give the definition to
    /// `models(matching:of:)`.
    ///
    ///
    /// - Parameters:
    ///   - filter: Selects the models.
    ///   - path: The path of the fetch.
    ///   - parameters: The named values of the fetch.
    ///   - query: The query items of the fetch.
    ///   - headerFields: The header fields of the fetch.
    ///   - keyPath: The names that lead to the list inside the document.
    /// - Throws: What the cache throws.
    public func models<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, at path: String, parameters: FormParameters = FormParameters(),
        query: QueryItems = QueryItems(), headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil
    ) async throws -> [Model] {
        let request = DataRequest.get(path, parameters: parameters, query: query, headerFields: headerFields)
        guard let parts = FetchKeyRules.parts(of: request, below: NestedPath(keyPath)) else { return [] }
        return try await models(matching: filter, in: .request(parts)) { $0.noteMissingList() }
    }

    /// The matching models of the list that was stored for a request or a definition; see
    /// ``models(matching:at:parameters:query:headerFields:below:)``. A request that is cached only under a given key has
    /// none.
    ///
    /// ```swift
    /// let matching = try await service.models(matching: ModelFilter("bit", in: \Coin.name), of: Coins.getAll)
    /// ```
    public func models<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, of request: some BuildableRequest, below keyPath: String? = nil
    ) async throws -> [Model] {
        guard let request = try? request.build(),
            let parts = FetchKeyRules.parts(of: request, below: NestedPath(keyPath))
        else { return [] }
        return try await models(matching: filter, in: .request(parts))
    }

    /// The matching models of the list that a definition describes; see
    /// ``models(matching:at:parameters:query:headerFields:below:)``. The definition decides about the type of the models.
    ///
    /// ```swift
    /// let matching = try await service.models(matching: ModelFilter("bit", in: \.name), of: Coins.getAll)
    /// ```
    public func models<Model: Codable & Sendable, Request: TypedRequest>(
        matching filter: ModelFilter<Model>, of request: Request, below keyPath: String? = nil
    ) async throws -> [Model] where Request.Response == [Model] {
        guard let built = try? request.build(),
            let parts = FetchKeyRules.parts(of: built, below: NestedPath(keyPath))
        else { return [] }
        return try await models(matching: filter, in: .request(parts))
    }

    private func models<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, in source: FetchKeySource,
        whenMissing: (any AsyncCache) -> Void = { _ in }
    ) async throws -> [Model] {
        let operation = beginFetch()
        let key = source.key(in: operation)
        guard operation.permits(key.partition) else { return [] }
        if let models = try await cache.matchingModels(filter, key.typed()) { return models }
        whenMissing(cache)
        return []
    }

    /// The matching models of a path, now and each time that a fetch or other code saves or deletes their list; see
    /// ``AsyncCache/liveModels(matching:key:)`` and ``models(matching:at:parameters:query:headerFields:below:)``. Nothing is
    /// fetched.
    ///
    /// ```swift
    /// for await coins in service.liveModels(matching: ModelFilter(text, in: \Coin.name), at: "coins") { show(coins) }
    /// ```
    public func liveModels<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, at path: String, parameters: FormParameters = FormParameters(),
        query: QueryItems = QueryItems(), headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil
    ) -> LiveModels<Model> {
        liveModels(
            matching: filter, of: .get(path, parameters: parameters, query: query, headerFields: headerFields),
            below: keyPath)
    }

    /// The matching models of a request or a definition, now and after each change of their list. For a request that is
    /// cached only under a given key, the sequence has one empty element.
    public func liveModels<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, of request: some BuildableRequest, below keyPath: String? = nil
    ) -> LiveModels<Model> {
        guard let request = try? request.build(),
            let parts = FetchKeyRules.parts(of: request, below: NestedPath(keyPath))
        else { return LiveModels(cache: cache, filter: filter) { nil } }
        return liveModels(matching: filter, in: .request(parts))
    }

    /// The matching models of the list that a definition describes, now and after each change of the list. The definition
    /// decides about the type of the models.
    public func liveModels<Model: Codable & Sendable, Request: TypedRequest>(
        matching filter: ModelFilter<Model>, of request: Request, below keyPath: String? = nil
    ) -> LiveModels<Model> where Request.Response == [Model] {
        guard let built = try? request.build(),
            let parts = FetchKeyRules.parts(of: built, below: NestedPath(keyPath))
        else { return LiveModels(cache: cache, filter: filter) { nil } }
        return liveModels(matching: filter, in: .request(parts))
    }

    private func liveModels<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, in source: FetchKeySource
    ) -> LiveModels<Model> {
        LiveModels(cache: cache, filter: filter) {
            let key = source.key(in: beginFetch())
            let requests = requests
            // The account may be suspended while the models are observed, and entered again.
            return LiveModels<Model>.Place(key: key.typed()) {
                requests.beginOperation()?.admits(key.partition) ?? true
            }
        }
    }

    /// The models of the list under a key that match a filter, in their order. Nothing is fetched. Without a list there are
    /// none.
    ///
    /// A fetch without a key of its own stores its list under ``FetchingService/modelKey(for:below:as:)``, for which there is
    /// ``models(matching:at:parameters:query:headerFields:below:)``.
    ///
    /// ```swift
    /// let key = service.modelKey(named: "favourites", as: [Coin].self)
    /// _ = try await service.get("coins", parameters: ["favourite": true], key: key).last()
    /// let matching = try await service.models(matching: ModelFilter("bit", in: \Coin.name), key: key)
    /// ```
    ///
    /// - Throws: What the cache throws.
    public func models<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, key: ModelKey<[Model]>
    ) async throws -> [Model] {
        guard let key = FetchKey(key) else { return [] }
        return try await models(matching: filter, in: .given(key))
    }

    /// The matching models, now and each time that a fetch or other code saves or deletes their list; see
    /// ``AsyncCache/liveModels(matching:key:)``. Nothing is fetched.
    public func liveModels<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, key: ModelKey<[Model]>
    ) -> LiveModels<Model> {
        guard let key = FetchKey(key) else { return LiveModels(cache: cache, filter: filter) { nil } }
        return liveModels(matching: filter, in: .given(key))
    }
}

/// The models of a cached list that match a filter: those that are there, then those after each change of the list.
///
/// ```swift
/// for await coins in service.liveModels(matching: ModelFilter(text, in: \Coin.name), at: "coins") {
///     show(coins)
/// }
/// ```
///
/// A deleted list gives an empty element, and so does one that was never saved. A reader that is slower than the changes
/// finds only the newest list, so nothing piles up. An iteration follows the list of the environment and the account in
/// which it began. It finds nothing while that account is suspended by other credentials; when the account is entered
/// again, the models of a ``ModelCache`` are there again. A cache that fails gives no element: the next change is waited
/// for. There can be any number of readers, each with its own position. The sequence ends when the calling task is
/// cancelled, never throws, and fetches nothing.
public struct LiveModels<Model: Codable & Sendable>: AsyncSequence, Sendable {
    /// The matching models.
    public typealias Element = [Model]
    /// The sequence never fails.
    public typealias Failure = Never

    /// Where one iteration finds the list.
    struct Place: Sendable {
        let key: ModelKey<[Model]>
        /// Whether the list may be read now.
        let isReadable: @Sendable () -> Bool
    }

    private let cache: any AsyncCache
    private let filter: ModelFilter<Model>
    /// Begins an iteration; `nil` if there is no list.
    private let place: @Sendable () -> Place?

    init(cache: any AsyncCache, filter: ModelFilter<Model>, at place: @escaping @Sendable () -> Place?) {
        (self.cache, self.filter, self.place) = (cache, filter, place)
    }

    /// Begins with the models that are there.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Reads the models.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let models: LiveModels
        private let place: Place?
        private let reader: ModelReader?
        private var hasBegun = false

        fileprivate init(_ models: LiveModels) {
            self.models = models
            place = models.place()
            guard let key = place?.key, let cache = models.cache as? any ObservableCache else {
                reader = nil
                return
            }
            reader = ModelReader(cache.changes, ModelSlot(key))
        }

        /// The newest models that were not read yet; `nil` at the end.
        public mutating func next() async -> [Model]? { await next(isolation: #isolation) }

        /// The newest models that were not read yet; `nil` at the end. A `for` loop calls this method.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> [Model]? {
            while await hasNext() {
                hasBegun = true
                guard let place else { return [] }
                guard place.isReadable() else { return Task.isCancelled ? nil : [] }
                if let matching = try? await models.cache.matchingModels(models.filter, place.key) ?? [] {
                    guard !Task.isCancelled else { return nil }
                    return place.isReadable() ? matching : []
                }
            }
            return nil
        }

        private func hasNext() async -> Bool {
            if let reader { return await reader.watcher.next() }
            return !hasBegun && !Task.isCancelled
        }
    }
}

/// The place of one reader. It is forgotten when the reader is gone.
private final class ModelReader: Sendable {
    let watcher = ChangeSignal()
    private let changes: ModelCacheChanges
    private let slot: ModelSlot
    private let number: UInt64

    init(_ changes: ModelCacheChanges, _ slot: ModelSlot) {
        (self.changes, self.slot) = (changes, slot)
        number = changes.add(watcher, for: slot)
    }

    deinit { changes.remove(number, for: slot) }
}
