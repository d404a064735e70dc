public import EssentialsLocator
public import Testing

/// Gives each test its own scope of services, in which doubles can replace services.
///
/// ```swift
/// @Test("A sent order leaves the cart empty", .serviceScope(of: app, overriding: doubles))
/// func order() async throws {
///     try await ServiceLocator.current.resolve((any Checkout).self).run()
/// }
/// ```
///
/// The scope is `ServiceLocator.current` while the test runs, so tests that run at the same time do not see each
/// other's doubles. It is closed after the test, even if the test fails. Then an issue is recorded for each `Closeable`
/// service in a scope below it that the test did not close, with the line of the registration.
///
/// On a suite the trait applies to each of its tests, and each case of a test has its own scope. Traits nest: a test's
/// scope is a child of its suite's scope.
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

    /// `true`: on a suite the trait applies to each test.
    public var isRecursive: Bool { true }

    /// Runs a test in its scope. The test library calls this.
    ///
    /// - Throws: Errors of registering the doubles and of the test.
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
    ///   - locator: The scope's parent. The default is the current locator.
    ///   - doubles: The registrations of the scope. If several have the same key, the last one wins.
    public static func serviceScope(
        of locator: ServiceLocator? = nil, overriding doubles: Assembly...
    ) -> ServiceScopeTrait {
        ServiceScopeTrait(parent: { locator ?? .current }) { scope throws(ServiceLocatorError) in
            try Assembly("doubles").install(in: scope, overriding: doubles)
        }
    }

    /// A root scope with the registrations of an assembly for each test, some of which doubles replace.
    ///
    /// Nothing is shared with other tests, including the lazy services of the assembly.
    ///
    /// - Parameters:
    ///   - assembly: The registrations of the scope.
    ///   - doubles: Replacements for registrations of the assembly. If several have the same key, the last one wins.
    public static func serviceScope(of assembly: Assembly, overriding doubles: Assembly...) -> ServiceScopeTrait {
        ServiceScopeTrait(parent: { nil }) { scope throws(ServiceLocatorError) in
            try assembly.install(in: scope, overriding: doubles)
        }
    }
}
