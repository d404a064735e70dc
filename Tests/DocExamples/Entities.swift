// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsTestKit
import FoundationEssentials
import Logging
import ServiceEssentials

@testable import EssentialsRequests
@testable import EssentialsResources

private typealias Cart = ShopModels.Cart
private typealias User = ShopModels.User
private typealias Order = ShopModels.Order
private typealias Price = ShopModels.Price
private typealias File = ShopModels.File
private typealias Shop = ShopModels.Shop

private struct Account { var id = "" }

private let (id, name) = ("7", "")
private let account = Account()
private let (clock, bytes) = (RequestClock.system, Data())
private var shop: Shop { given() }
private var service: HTTPResourceService { given() }
private var requests: HTTPDataRequestService { given() }
private var environment: ConstantEnvironment { given() }
private var cart: Resource<Cart> { given() }
private var user: Resource<User> { given() }
private var users: Resource<[User]> { given() }
private var files: Resource<[File]> { given() }
private var orders: Resource<[Order]> { given() }
private var prices: Resource<[Price]> { given() }
private var cache: FileEntityCache { given() }
private var key: EntityKey { given() }
private var data: Data { Data() }
private struct SymmetricKey: Sendable {}
private enum ChaChaPoly {
    struct SealedBox {
        let combined: Data
        init(combined: Data) throws { self.combined = combined }
    }
    static func seal(_ bytes: Data, using key: SymmetricKey, authenticating context: Data) throws -> SealedBox {
        try SealedBox(combined: bytes)
    }
    static func open(_ box: SealedBox, using key: SymmetricKey, authenticating context: Data) throws -> Data {
        box.combined
    }
}

// Entities/EntityCache.swift
private func entityCacheExample() async throws {
    actor SharedCache: EntityCache {
        private var entities: [EntityKey: StoredEntity] = [:]
        nonisolated let isPersistent = false

        func entity(for key: EntityKey) -> StoredEntity? { entities[key] }
        func store(_ entity: StoredEntity, for key: EntityKey) { entities[key] = entity }
        func remove(_ key: EntityKey) { entities[key] = nil }
        func removeAll(in scope: EntityScope) { entities = entities.filter { !scope.contains($0.key) } }
    }
    use(SharedCache())
}

// Entities/EntityKey.swift
private func entityKeyExample() async throws {
    let key = EntityKey(url: "https://api.example.com/v1/users/7", stage: "decoding", partition: "account-7")
    use(key)
}

// Entities/EntityScope.swift
private func entityScopeExample() async throws {
    try await cache.removeAll(in: EntityScope(partition: "account-7"))
    try await cache.removeAll(in: .everything)
}

// Entities/EntitySealing.swift
private func entitySealingExample(key: SymmetricKey) async throws {
    struct Sealing: EntitySealing {
        let keyID = "2026-11"
        let key: SymmetricKey
        func seal(_ bytes: Data, context: Data) throws -> Data {
            try ChaChaPoly.seal(bytes, using: key, authenticating: context).combined
        }
        func open(_ bytes: Data, keyID: String, context: Data) -> Data? {
            guard keyID == self.keyID, let box = try? ChaChaPoly.SealedBox(combined: bytes) else { return nil }
            return try? ChaChaPoly.open(box, using: key, authenticating: context)
        }
    }
    let files = try FileEntityCache(directory: "/var/cache/shop")
    let cache = SealedEntityCache(files, sealing: Sealing(key: key))
    use(cache)
}

// Entities/FileEntityCache.swift
private func fileEntityCacheExample() async throws {
    let cache = try FileEntityCache(directory: "/var/cache/shop", maximumBytes: 64 << 20)
    let service = try HTTPResourceService(requests: requests, environment: environment, cache: cache)
    use(service)
}

// Entities/MemoryEntityCache.swift
private func memoryEntityCacheExample() async throws {
    let cache = MemoryEntityCache(maximumBytes: 16 << 20)
    try service.configure("/reports/*") { $0.pipeline.cache(in: cache, at: .decoding) }
}

// Caching/ResourcePipeline+Caches.swift
private func resourcePipelineCachesExample() async throws {
    try service.configure("/reports/*", methods: [.get]) { $0.pipeline.cache(in: cache, at: .decoding) }
}

// Entities/StoredEntity.swift
private func storedEntityExample() async throws {
    let entity = StoredEntity(body: data, mediaType: "application/json", date: clock.date)
    use(entity)
}

// Entities/StoredEntity.swift
private func storedEntityExample2() async throws {
    try await cache.revalidated(key, by: EntityConfirmation(date: clock.date, entityTag: "\"7\""))
}

// API/PendingWrites.swift
private func uploadDrafts(within deadline: Duration) async {}

private func pendingWritesExample() {
    final class Drafts: PendingWrites {
        func sendPending(waitingAtMost deadline: Duration) async { await uploadDrafts(within: deadline) }
    }
}
