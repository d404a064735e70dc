public import EssentialsLocator
public import Testing

/// Gives each test a service scope of its own, in which doubles can take the place of services.
///
/// ```swift
/// @Test("A sent order leaves the cart empty", .serviceScope(of: app, overriding: doubles))
/// func order() async throws {
///     try await ServiceLocator.current.resolve((any Checkout).self).run()
/// }
/// ```
///
/// The scope is a child that is `ServiceLocator.current` while the test runs, so tests that run at the
/// same time do not see each other's doubles. It is closed after the test, also after a failing one. Then every service
/// that is `Closeable` and lives in a scope below it that nobody closed is recorded as an issue, with the line where it
/// was registered; so is one whose scope was dropped without closing.
///
/// On a suite it applies to each of its tests, and each case of a test has a scope of its own. Traits nest: a test's scope
/// is a child of its suite's.
public struct ServiceScopeTrait: TestTrait, SuiteTrait, TestScoping {
    private let fill: @Sendable (ServiceLocator) throws(ServiceLocatorError) -> Void
    private let parent: @Sendable () throws(ServiceLocatorError) -> ServiceLocator?

    init(
        parent: @escaping @Sendable () throws(ServiceLocatorError) -> ServiceLocator?,
        fill: @escaping @Sendable (ServiceLocator) throws(ServiceLocatorError) -> Void
    ) {
        self.parent = parent
        self.fill = fill
    }

    /// True: on a suite it applies to its tests.
    public var isRecursive: Bool { true }

    /// Runs a test in its scope. Called by the test library.
    ///
    /// - Throws: What registering the doubles throws, and what the test throws.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let watch = ScopeWatch()
        let scope = ServiceLocator(name: test.name, parent: try parent(), watch: watch)
        do {
            try fill(scope)
            try await ServiceLocator.$current.withValue(scope) { try await function() }
        } catch {
            await end(scope, watch, test)
            throw error
        }
        await end(scope, watch, test)
    }

    private func end(_ scope: ServiceLocator, _ watch: ScopeWatch, _ test: Test) async {
        await scope.close()
        for service in watch.unclosed {
            Issue.record("\(service) was not closed.", sourceLocation: test.sourceLocation)
        }
    }
}

extension Trait where Self == ServiceScopeTrait {
    /// A scope below a locator for each test, with doubles in it.
    ///
    /// - Parameters:
    ///   - locator: The scope's parent; the current locator if nil.
    ///   - doubles: What is registered in the scope; of several for one key the last wins.
    public static func serviceScope(
        of locator: ServiceLocator? = nil, overriding doubles: Assembly...
    ) -> ServiceScopeTrait {
        ServiceScopeTrait(parent: { locator ?? .current }) { scope throws(ServiceLocatorError) in
            try Assembly("doubles").install(in: scope, overriding: doubles)
        }
    }

    /// A scope with an assembly's registrations of its own for each test, some of them in place by doubles.
    ///
    /// Nothing is shared with other tests, lazy services of the assembly included.
    ///
    /// - Parameters:
    ///   - assembly: What is registered in the scope.
    ///   - doubles: What takes the place of the assembly's own registrations; of several for one key the last wins.
    public static func serviceScope(of assembly: Assembly, overriding doubles: Assembly...) -> ServiceScopeTrait {
        ServiceScopeTrait(parent: { nil }) { scope throws(ServiceLocatorError) in
            try assembly.install(in: scope, overriding: doubles)
        }
    }
}
