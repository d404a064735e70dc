public import EssentialsHTTP
public import EssentialsRequests

/// A cached model that a write makes outdated. It is deleted when the server has accepted the write.
///
/// ```swift
/// let created: Coin = try await service.post(
///     "coins", body: coin,
///     outdating: [.get("coins", as: [Coin].self), .request(Coins.top), .key(ModelKey<Int>("count"))])
/// ```
public struct OutdatedModel: Sendable {
    /// A deletion for the cache of one write.
    typealias Deletion = @Sendable () async throws -> Void

    /// Makes the deletion for a write; `nil` if there is nothing to delete.
    private let deletion: @Sendable (FetchOperation, any AsyncCache) -> Deletion?

    private init(deletion: @escaping @Sendable (FetchOperation, any AsyncCache) -> Deletion?) {
        self.deletion = deletion
    }

    private init<Value: Codable & Sendable>(
        _ type: Value.Type, _ key: @escaping @Sendable (FetchOperation) -> FetchKey?
    ) {
        self.init { operation, cache in
            guard let key = key(operation), operation.permits(key.partition) else { return nil }
            return {
                // The models of the credentials have ended with them. The models that are stored now belong to the next
                // credentials.
                guard !(key.partition.isShared && operation.isForFormerCredentials) else { return }
                try await cache.delete(ModelKey<Value>(key))
            }
        }
    }

    /// The model under a key.
    public static func key<Value: Codable & Sendable>(_ key: ModelKey<Value>) -> OutdatedModel {
        OutdatedModel(Value.self) { operation in operation.key(key.parts) }
    }

    /// The model that ``FetchingService/get(_:parameters:query:headerFields:below:from:options:retry:key:as:)`` of the
    /// same service stores for a path.
    public static func get<Value: Codable & Sendable>(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), below keyPath: String? = nil, as type: Value.Type
    ) -> OutdatedModel {
        .request(
            .get(path, parameters: parameters, query: query, headerFields: headerFields), below: keyPath, as: type)
    }

    /// The model that the same service stores for a request.
    public static func request<Value: Codable & Sendable>(
        _ request: some BuildableRequest, below keyPath: String? = nil, as type: Value.Type
    ) -> OutdatedModel {
        OutdatedModel(type) { operation in
            guard let request = try? request.build() else { return nil }
            return FetchKeyRules.parts(of: request, below: NestedPath(keyPath)).map { operation.key($0) }
        }
    }

    /// The model that the same service stores for a definition.
    public static func request<Request: TypedRequest>(
        _ request: Request, below keyPath: String? = nil
    ) -> OutdatedModel where Request.Response: Codable {
        .request(request, below: keyPath, as: Request.Response.self)
    }

    /// The deletions for a write that is not sent yet, so that they belong to its environment and its account.
    static func deletions(of models: [OutdatedModel], in operation: FetchOperation) -> [Deletion] {
        guard let cache = operation.cache else { return [] }
        return models.compactMap { $0.deletion(operation, cache) }
    }

    /// Performs deletions, even if the calling task is cancelled. Failures are only counted.
    static func perform(_ deletions: [Deletion], _ problems: CacheProblemLog?) async {
        guard !deletions.isEmpty else { return }
        await Task {
            for deletion in deletions {
                do { try await deletion() } catch { problems?.add(error, "delete") }
            }
        }.value
    }
}
