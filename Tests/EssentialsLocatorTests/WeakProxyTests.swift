import EssentialsLocator
import EssentialsTools
import Testing

/// A protocol with a member for each behaviour after the object is released.
protocol Basket: AnyObject, Sendable {
    func add(_ item: String) throws
    var coupon: String? { get }
    func clear()
    var count: Int { get }
}

final class StoredBasket: Basket {
    private let items = Mutex<[String]>([])
    private let onDeath: (@Sendable () -> Void)?
    init(onDeath: (@Sendable () -> Void)? = nil) { self.onDeath = onDeath }
    deinit { onDeath?() }

    func add(_ item: String) { items.withLock { $0.append(item) } }
    var coupon: String? { "ten percent" }
    func clear() { items.withLock { $0 = [] } }
    var count: Int { items.withLock { $0.count } }
}

/// Follows the documentation of `ServiceProxy`.
final class BasketProxy: Basket, ServiceProxy, Hashable {
    let target: WeakHandle<any Basket>
    let goneTarget: GoneTargetPolicy

    init(_ basket: some Basket, goneTarget: GoneTargetPolicy = .trap) {
        target = WeakHandle(basket) { $0 }
        self.goneTarget = goneTarget
    }

    init(_ reference: ServiceReference<any Basket>) {
        target = WeakHandle(reference)
        goneTarget = .trap
    }

    func add(_ item: String) throws { try liveTarget().add(item) }
    var coupon: String? { target.service?.coupon }
    func clear() { perform { $0.clear() } }
    var count: Int { requiredTarget().count }
}

/// A proxy whose object is released, resolved before that.
private func goneProxy(goneTarget: GoneTargetPolicy = .trap) throws -> any Basket {
    let locator = ServiceLocator(name: "app")
    let basket = StoredBasket()
    try locator.registerWeakProxy(basket, as: (any Basket).self, fileID: "App/Basket.swift", line: 4) {
        BasketProxy($0, goneTarget: goneTarget)
    }
    let proxy = try locator.resolve((any Basket).self)
    withExtendedLifetime(basket) {}
    return proxy
}

@Suite("Weak proxies")
struct WeakProxyTests {
    let root = ServiceLocator(name: "root")
    let basketType = String(reflecting: (any Basket).self)
    /// The text that ends the process for a proxy of `goneProxy`.
    static let goneText =
        "serviceGone: The weak object of \(String(reflecting: (any Basket).self)), registered at App/Basket.swift:4, was "
        + "released. "
        + "Keep the object where it is owned for as long as it is used, or register it strongly."

    @Test("A proxy forwards every member to its object")
    func forwards() throws {
        let basket = StoredBasket()
        try root.registerWeakProxy(basket, as: (any Basket).self) { BasketProxy($0) }
        let proxy = try root.resolve((any Basket).self)
        try proxy.add("pear")
        #expect(proxy.count == 1)
        #expect(basket.count == 1)
        #expect(proxy.coupon == "ten percent")
        proxy.clear()
        #expect(basket.count == 0)
        #expect((proxy as? BasketProxy)?.isAlive == true)
    }

    @Test(
        "Neither the locator nor a resolved proxy retains the object, and the registration counts as absent afterwards")
    func retainsNothing() throws {
        let deaths = Counter()
        var basket: StoredBasket? = StoredBasket { deaths.increment() }
        try root.registerWeakProxy(#require(basket), as: (any Basket).self) { BasketProxy($0) }
        let proxies = try (0..<3).map { _ in try root.resolve((any Basket).self) }
        #expect(Set(proxies.map { ObjectIdentifier($0) }).count == 1)
        basket = nil
        #expect(deaths.value == 1)
        #expect((proxies.first as? BasketProxy)?.isAlive == false)
        #expect(try root.resolveOptional((any Basket).self) == nil)
    }

    @Test("A resolve skips a proxy whose object was released and finds the parent's service in the same call")
    func fallsToParent() throws {
        let child = ServiceLocator(name: "child", parent: root)
        let kept = StoredBasket()
        try root.register(kept, as: (any Basket).self)
        try child.registerWeakProxy(StoredBasket(), as: (any Basket).self) { BasketProxy($0) }
        #expect(try child.resolve((any Basket).self) === kept)
        child.unregister((any Basket).self)
        try child.registerWeakProxy(StoredBasket(), as: (any Basket).self, whenGone: .missing) { BasketProxy($0) }
        #expect(try child.resolveOptional((any Basket).self) == nil)
        try child.register(StoredBasket(), as: (any Basket).self)
    }

    @Test("Members of a proxy whose object was released throw, return nil or do nothing, as they are written")
    func gone() throws {
        let proxy = try goneProxy(goneTarget: .ignore)
        let error = #expect(throws: ServiceLocatorError.self) { try proxy.add("pear") }
        #expect(error?.reason == .serviceGone)
        #expect(error?.description == Self.goneText)
        #expect(error?.serviceType == basketType)
        #expect(proxy.coupon == nil)
        proxy.clear()
    }

    @Test("A member with a result ends the process with the protocol, the member and the line of the registration")
    func resultTraps() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent],
            performing: { _ = try goneProxy().count })
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("\(Self.goneText) Used by count."))
    }

    @Test("A member without a result ends the process too, unless the policy is to ignore it")
    func voidTraps() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent],
            performing: { try goneProxy().clear() })
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("\(Self.goneText) Used by clear()."))
    }

    // MARK: Identity

    @Test("A proxy is a separate object and stands for its target while that lives")
    func standsFor() throws {
        let other = StoredBasket()
        var basket: StoredBasket? = StoredBasket()
        let proxy = BasketProxy(try #require(basket))
        #expect(proxy !== basket)
        #expect(proxy.stands(for: try #require(basket)))
        #expect(!proxy.stands(for: other))
        #expect(!proxy.stands(for: proxy))
        basket = nil
        #expect(!proxy.stands(for: other))
        #expect(!proxy.isAlive)
    }

    @Test("Proxies of one object are equal while it lives and always have the same hash")
    func hashable() throws {
        var basket: StoredBasket? = StoredBasket()
        let other = StoredBasket()
        let first = BasketProxy(try #require(basket))
        let second = BasketProxy(try #require(basket))
        let third = BasketProxy(other)
        #expect(first == second)
        #expect(first != third)
        let hash = first.hashValue
        #expect(second.hashValue == hash)
        var known: Set = [first, third]
        #expect(!known.insert(second).inserted)
        basket = nil
        #expect(first == first)
        #expect(first != second)
        #expect(first.hashValue == hash)
        #expect(known.contains(first))
        #expect(first != third)
    }

    @Test("A proxy whose object was released is not equal to a proxy of a new object at the same address")
    func recycledIdentity() throws {
        for _ in 0..<1_000 {
            var basket: StoredBasket? = StoredBasket()
            let gone = BasketProxy(try #require(basket))
            let address = try ObjectIdentifier(#require(basket))
            basket = nil
            // Retained until the address was used again, or not.
            let baskets = (0..<50).map { _ in StoredBasket() }
            guard let recycled = baskets.first(where: { ObjectIdentifier($0) == address }) else { continue }
            #expect(!gone.stands(for: recycled))
            #expect(gone != BasketProxy(recycled))
            return
        }
        // The address sanitizer keeps freed memory for a while.
        if getenv("ESSENTIALS_SANITIZER") == nil { Issue.record("no place of memory was given out again") }
    }

    // MARK: Proxies of references

    @Test("A proxy stands for its object even if another service is registered later")
    func tracksTheObject() throws {
        let basket = StoredBasket()
        try root.registerWeakProxy(basket, as: (any Basket).self) { BasketProxy($0) }
        let proxy = try root.resolve((any Basket).self)
        try root.replace(StoredBasket(), as: (any Basket).self)
        try proxy.add("pear")
        #expect(basket.count == 1)
        #expect(try root.resolve((any Basket).self).count == 0)
    }

    @Test("A proxy of a reference follows registrations and retains neither the service nor the locator")
    func lateBinding() throws {
        var scope: ServiceLocator? = ServiceLocator(name: "scope")
        weak let observed = scope
        let first = StoredBasket()
        let second = StoredBasket()
        let reference = try #require(scope?.reference(to: (any Basket).self, named: "current"))
        let proxy = BasketProxy(reference)
        #expect(!proxy.isAlive)
        #expect(proxy.coupon == nil)
        try scope?.register(first, as: (any Basket).self, named: "current")
        try proxy.add("pear")
        try scope?.replace(second, as: (any Basket).self, named: "current")
        try proxy.add("fig")
        try proxy.add("plum")
        #expect(first.count == 1)
        #expect(second.count == 2)
        #expect(try reference.resolve() === second)
        #expect(proxy == proxy)
        #expect(proxy != BasketProxy(reference))
        #expect(!proxy.stands(for: second))
        scope = nil
        #expect(observed == nil)
        #expect(!proxy.isAlive)
        #expect(proxy.coupon == nil)
        #expect(try reference.resolveOptional() == nil)
    }

    @Test("A proxy of a reference throws locatorGone once its locator is released")
    func lateBindingLocatorGone() throws {
        var scope: ServiceLocator? = ServiceLocator(name: "scope")
        try scope?.register(StoredBasket(), as: (any Basket).self)
        let proxy = BasketProxy(try #require(scope?.reference(to: (any Basket).self)))
        scope = nil
        let error = #expect(throws: ServiceLocatorError.self) { try proxy.add("pear") }
        #expect(error?.reason == .locatorGone)
    }

    @Test("A proxy of a reference can be registered in another locator and follows the first one")
    func lateBindingRegistered() throws {
        let child = ServiceLocator(name: "child", parent: root)
        try root.register(StoredBasket(), as: (any Basket).self)
        try child.register(BasketProxy(root.reference(to: (any Basket).self)), as: (any Basket).self)
        let proxy = try child.resolve((any Basket).self)
        try proxy.add("pear")
        #expect(try root.resolve((any Basket).self).count == 1)
        try root.replace(StoredBasket(), as: (any Basket).self)
        #expect(proxy.count == 0)
    }
}

@Suite("Weak handles and references")
struct WeakHandleTests {
    let root = ServiceLocator(name: "root")

    @Test("A handle returns its object while it lives and does not retain it")
    func handle() throws {
        let deaths = Counter()
        var basket: StoredBasket? = StoredBasket { deaths.increment() }
        let handle = WeakHandle<any Basket>(try #require(basket), fileID: "App/Badge.swift", line: 2) { $0 }
        let copy = handle
        #expect(handle.isAlive)
        #expect(handle.service === basket)
        #expect(try copy.live() === basket)
        #expect(handle.require() === basket)
        basket = nil
        #expect(deaths.value == 1)
        #expect(!handle.isAlive)
        #expect(copy.service == nil)
        let error = failure { () throws(ServiceLocatorError) in try handle.live() }
        #expect(error?.reason == .serviceGone)
        #expect(error?.message.hasSuffix("Basket, registered at App/Badge.swift:2, was released.") == true)
    }

    @Test("Requiring a handle whose object was released ends the process with the line that created the handle")
    func require() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent],
            performing: {
                func make() -> WeakHandle<any Basket> {
                    WeakHandle(StoredBasket(), fileID: "App/Badge.swift", line: 2) { $0 }
                }
                _ = make().require("total")
            })
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("Basket, registered at App/Badge.swift:2, was released."))
        #expect(text.contains(" Used by total."))
    }

    @Test("An object that is registered by its own class is found by it")
    func ownClass() throws {
        let basket = StoredBasket()
        try root.registerWeak(basket)
        try root.registerWeak(basket, named: "x")
        #expect(try root.resolve(StoredBasket.self) === basket)
        #expect(try root.resolve(StoredBasket.self, named: "x") === basket)
        #expect(try root.resolveOptional((any Basket).self) == nil)
    }

    @Test("A handle of a reference is nil without a registration and throws the errors of resolving")
    func lateBinding() throws {
        let handle = WeakHandle(root.reference(to: (any Basket).self))
        #expect(handle.service == nil)
        #expect(failure { () throws(ServiceLocatorError) in try handle.live() } != nil)
        let basket = StoredBasket()
        try root.registerLazy((any Basket).self) { _ in basket }
        #expect(handle.service === basket)
        #expect(try handle.live() === basket)
        root.unregister((any Basket).self)
        #expect(!handle.isAlive)
    }

    @Test("A reference returns its locator while it lives, and afterwards its name and an error")
    func locatorReference() throws {
        var scope: ServiceLocator? = ServiceLocator(name: "scope")
        weak let observed = scope
        let reference = try #require(scope?.reference)
        #expect(reference.locator === scope)
        #expect(try reference.live() === scope)
        scope = nil
        #expect(observed == nil)
        #expect(reference.locator == nil)
        #expect(reference.name == "scope")
        let error = failure { () throws(ServiceLocatorError) in try reference.live() }
        #expect(error?.reason == .locatorGone)
        #expect(
            error?.description == "locatorGone: The locator \"scope\" was released. Keep the locator in the bootstrap "
                + "code for as long as services are resolved.")
    }

    @Test("A reference to a service resolves at each use, with the errors of resolving")
    func serviceReference() throws {
        let reference = root.reference(to: Int.self, named: "n")
        #expect(failure { () throws(ServiceLocatorError) in try reference.resolve() }?.reason == .missing)
        #expect(try reference.resolveOptional() == nil)
        try root.registerTransient(Int.self, named: "n") { _ in 4 }
        #expect(try reference.resolve() == 4)
        try root.replaceLazy(Int.self, named: "n") { _ in throw FactoryFailure() }
        let error = failure { () throws(ServiceLocatorError) in try reference.resolveOptional() }
        #expect(error?.reason == .constructionFailed)
    }
}
