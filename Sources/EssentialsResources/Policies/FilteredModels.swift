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
        LiveModels(cache: self, filter: filter, key: key)
    }

    @concurrent
    fileprivate func matchingModels<Model: Codable & Sendable>(
        _ filter: ModelFilter<Model>, _ key: ModelKey<[Model]>
    ) async throws -> [Model]? {
        try await load(key).map { filter.matching($0.value) }
    }
}

extension Persisting {
    /// The models of a cached list that match a filter, in their order. Nothing is fetched. Without a list there are none.
    ///
    /// ```swift
    /// let matching = try await service.models(matching: ModelFilter("bit", in: \Coin.name), key: ModelKey("coins"))
    /// ```
    ///
    /// - Throws: What the cache throws.
    public func models<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, key: ModelKey<[Model]>
    ) async throws -> [Model] {
        try await cache.models(matching: filter, key: key)
    }

    /// The matching models, now and each time that a fetch or other code saves or deletes their list; see
    /// ``AsyncCache/liveModels(matching:key:)``. Nothing is fetched.
    public func liveModels<Model: Codable & Sendable>(
        matching filter: ModelFilter<Model>, key: ModelKey<[Model]>
    ) -> LiveModels<Model> {
        cache.liveModels(matching: filter, key: key)
    }
}

/// The models of a cached list that match a filter: those that are there, then those after each change of the list.
///
/// ```swift
/// for await coins in service.liveModels(matching: ModelFilter(text, in: \Coin.name), key: ModelKey("coins")) {
///     show(coins)
/// }
/// ```
///
/// A deleted list gives an empty element, and so does one that was never saved. A reader that is slower than the changes
/// finds only the newest list, so nothing piles up. A cache that fails gives no element: the next change is waited for. There
/// can be any number of readers, each with its own position. The sequence ends when the calling task is cancelled, never
/// throws, and fetches nothing.
public struct LiveModels<Model: Codable & Sendable>: AsyncSequence, Sendable {
    /// The matching models.
    public typealias Element = [Model]
    /// The sequence never fails.
    public typealias Failure = Never

    let cache: any AsyncCache
    let filter: ModelFilter<Model>
    let key: ModelKey<[Model]>

    /// Begins with the models that are there.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Reads the models.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let models: LiveModels
        private let reader: ModelReader?
        private var hasBegun = false

        fileprivate init(_ models: LiveModels) {
            self.models = models
            reader = (models.cache as? any ObservableCache).map { ModelReader($0.changes, ModelSlot(models.key)) }
        }

        /// The newest models that were not read yet; `nil` at the end.
        public mutating func next() async -> [Model]? { await next(isolation: #isolation) }

        /// The newest models that were not read yet; `nil` at the end. A `for` loop calls this method.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> [Model]? {
            while await hasNext() {
                hasBegun = true
                if let matching = try? await models.cache.matchingModels(models.filter, models.key) ?? [] {
                    return Task.isCancelled ? nil : matching
                }
            }
            return nil
        }

        private func hasNext() async -> Bool {
            if let reader { return await reader.watcher.wait() }
            return !hasBegun && !Task.isCancelled
        }
    }
}

/// The place of one reader. It is forgotten when the reader is gone.
private final class ModelReader: Sendable {
    let watcher = ModelWatcher()
    private let changes: ModelChanges
    private let slot: ModelSlot
    private let number: UInt64

    init(_ changes: ModelChanges, _ slot: ModelSlot) {
        (self.changes, self.slot) = (changes, slot)
        number = changes.add(watcher, for: slot)
    }

    deinit { changes.remove(number, for: slot) }
}
