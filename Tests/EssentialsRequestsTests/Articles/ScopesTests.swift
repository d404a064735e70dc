import EssentialsTools
import ServiceEssentials
import Testing

private protocol CartService: Sendable {}
private struct Cart: CartService {}
private protocol Checkout: Sendable {}

@Suite("The article Scopes")
struct ScopesTests {
    @Test("The article on scopes shows an error whose type a scope keeps")
    func typedErrors() async {
        let app = ServiceLocator(name: "app")
        let printed = Mutex<[ServiceLocatorError.Reason]>([])
        func print(_ reason: ServiceLocatorError.Reason) { printed.withLock { $0.append(reason) } }
        func use(_ checkout: any Checkout) { Issue.record("Nothing is registered for it.") }

        // Article begins
        do {
            try await app.withScope("checkout") {
                scope throws(ServiceLocatorError) in
                try scope.register(Cart(), as: (any CartService).self)
                use(try scope.resolve((any Checkout).self))
            }
        } catch {
            print(error.reason)  // a `ServiceLocatorError`
        }
        // Article ends
        #expect(printed.withLock { $0 } == [.missing])
    }
}
