public import EssentialsHTTP
public import EssentialsRequests

/// A cached model that a write makes outdated. It is deleted when the server has accepted the write.
///
/// ```swift
/// try await service.post(
///     "coins", body: coin,
///     outdating: [.get("coins", as: [Coin].self), .request(Coins.top), .key(ModelKey<Int>("count"))])
/// ```
public struct OutdatedModel: Sendable {
    private let delete: @Sendable (any FetchingService, any AsyncCache) async throws -> Void

    /// The model under a key.
    public static func key<Value: Codable & Sendable>(_ key: ModelKey<Value>) -> OutdatedModel {
        OutdatedModel { try await $1.delete(key) }
    }

    /// The model that ``FetchingService/get(_:parameters:query:headerFields:below:from:options:retry:key:as:)`` of the same
    /// service stores for a path.
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
        OutdatedModel { service, cache in
            guard let key = service.modelKey(for: request, below: keyPath, as: Value.self) else { return }
            try await cache.delete(key)
        }
    }

    /// The model that the same service stores for a definition.
    public static func request<Request: TypedRequest>(
        _ request: Request, below keyPath: String? = nil
    ) -> OutdatedModel where Request.Response: Codable {
        .request(request, below: keyPath, as: Request.Response.self)
    }

    /// Deletes all models of a list, whether or not the calling task is cancelled. Failures are only counted.
    static func delete(_ models: [OutdatedModel], of service: some FetchingService) async {
        guard !models.isEmpty, let cache = service.modelCache else { return }
        let problems = service.fetchDefaults.cacheProblems
        await Task {
            for model in models {
                do { try await model.delete(service, cache) } catch { problems?.add(error, "delete") }
            }
        }.value
    }
}
