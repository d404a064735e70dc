import EssentialsLocator
import EssentialsTestTraits
import Testing

private protocol Checkout: Sendable { func run() async throws }

private struct FailingCheckout: Checkout {
    struct Unexpected: Error {}
    func run() async throws { throw Unexpected() }
}

private struct ScriptedCheckout: Checkout {
    func run() async throws {}
}

private let app = Assembly("app") { locator in
    try locator.register(FailingCheckout(), as: (any Checkout).self)
}

private let doubles = Assembly("doubles") { locator in
    try locator.register(ScriptedCheckout(), as: (any Checkout).self)
}

/// The example of the trait's documentation. It fails without the double.
@Suite("An example of a service scope")
struct ServiceScopeExampleTests {
    @Test("A sent order leaves the cart empty", .serviceScope(of: app, overriding: doubles))
    func order() async throws {
        try await ServiceLocator.current.resolve((any Checkout).self).run()
    }
}
