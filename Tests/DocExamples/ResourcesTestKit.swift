// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsResourcesTestKit
import EssentialsTestKit
import ServiceEssentials
import Testing

private struct Cart: Codable, Sendable { var items = 0 }
private struct Order: Codable, Sendable {}
private struct User: Codable, Sendable { var name = "" }
private struct DiskFull: Error {}
private struct Shop { func user(_ id: String) -> Resource<User> { given() } }
private let (shop, locator, path, old) = (Shop(), ServiceLocator(name: "app"), "", Cart())
private var resources: ScriptedResources { given() }
private var cart: Resource<Cart> { given() }
private func DatabaseCache(name: String) -> any AsyncCache { given() }

// AsyncCacheConformance.swift
private func asyncCacheConformanceExample() async throws {
    let violations = await AsyncCacheConformance.check { DatabaseCache(name: "test") }
    #expect(violations == [])
}

// AsyncCacheConformance.swift
private func asyncCacheConformanceExample2() async throws {
    let violations = await AsyncCacheConformance.checkRestart { try ModelCache(directory: path) } closing: { cache in
        await (cache as? ModelCache)?.flush()
    }
    use(violations)
}

// HeldRequests.swift
private func heldRequestsExample() async throws {
    let held = resources.hold("cart")
    let load = cart.startLoad()
    await held.arrived()          // the request is under way
    cart.override(with: Cart())   // something newer comes
    held.answer(json: old)
    use(load)
}

// ResourceRecorder.swift
private func resourceRecorderExample() async throws {
    let recorder = ResourceRecorder(cart)
    try await cart.load()
    try await recorder.expect(.attached, .requested, .newContent(.network))
    cart.invalidate()
    try await recorder.expect(.invalidated)
}

// ScriptedEntityCache.swift
private func scriptedEntityCacheExample() async throws {
    let cache = ScriptedEntityCache()
    let resources = try ScriptedResources(cache: cache)
    cache.fail(with: DiskFull(), for: [.store])   // the disk is full
    cache.stall([.read])                          // and does not respond
    let load = cart.startLoad()
    await cache.called()                          // the load waits for the cache
    cache.release()
    use(resources, load)
}

// ScriptedResources.swift
private func scriptedResourcesExample() async throws {
    let resources = try ScriptedResources()
    try locator.register(resources.service, as: (any ResourceService).self)
    resources.preset(Cart(items: 2), at: "cart")
    resources.transport.on(.get, "/users/7").answer(json: User(name: "Ada"))
    let held = resources.hold("orders")              // loads of it wait
    let user = try await shop.user("7").loadIfNeeded()
    held.answer(json: [Order]())
    try await resources.settled()
    use(user)
}
