/// A named group of registrations: what a module of a program registers, as a value.
///
/// ```swift
/// let network = Assembly("network") { locator in
///     try locator.registerLazy((any DataRequestService).self) { locator in
///         try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self))
///     }
/// }
/// let app = Assembly("app", including: [network, storage]) { locator in
///     try locator.register(StandardSettings(), as: (any Settings).self)
/// }
/// let locator = try app.makeLocator()
///
/// // in a test
/// let doubles = Assembly("doubles") { locator in
///     try locator.register(ScriptedRequests(), as: (any DataRequestService).self)
/// }
/// let locator = try app.makeLocator(overriding: [doubles])
/// ```
///
/// A value that holds closures; making one registers nothing. Any thread.
public struct Assembly: Sendable {
    /// What errors call it.
    public let name: String
    /// The groups that are registered before its own.
    public let included: [Assembly]
    let overrides: [Assembly]
    private let body: @Sendable (ServiceLocator) throws -> Void

    /// Makes a group.
    ///
    /// - Parameters:
    ///   - name: What errors call it.
    ///   - included: The groups that are registered before its own. One that is included along several ways, by name, is
    ///     registered once.
    ///   - body: Registers. Called at each installation, synchronously; it should only register, since what other groups
    ///     register may not be there yet, and must not keep the locator, but use the one that factories receive.
    public init(
        _ name: String, including included: [Assembly] = [],
        _ body: @escaping @Sendable (_ locator: ServiceLocator) throws -> Void = { _ in }
    ) {
        self.init(name: name, included: included, overrides: [], body: body)
    }

    private init(
        name: String, included: [Assembly], overrides: [Assembly],
        body: @escaping @Sendable (ServiceLocator) throws -> Void
    ) {
        self.name = name
        self.included = included
        self.overrides = overrides
        self.body = body
    }

    /// The same group with registrations of another one in place of its own, for tests. Those that come last win.
    public func overridden(by doubles: Assembly) -> Assembly {
        Assembly(name: name, included: included, overrides: [doubles] + overrides, body: body)
    }

    /// Registers everything in a locator: all of it, or with an error nothing.
    ///
    /// - Parameters:
    ///   - locator: Where.
    ///   - doubles: Groups whose registrations take the place of these; those that come last win.
    /// - Throws: The first registration's error; ``ServiceLocatorError/Reason/duplicate`` also when two groups register
    ///   the same; ``ServiceLocatorError/Reason/constructionFailed`` with what else a group has thrown.
    public func install(
        in locator: ServiceLocator, overriding doubles: [Assembly] = []
    ) throws(ServiceLocatorError) {
        // Installed by a group of an installation in the same locator: a part of that.
        if let context = AssemblyContext.running(in: locator) {
            return try context.run(self, overriding: doubles)
        }
        let context = AssemblyContext(locator)
        do throws(ServiceLocatorError) {
            try context.run(self, overriding: doubles)
        } catch {
            context.undo()
            throw error
        }
        context.finish()
    }

    /// Makes a locator with these registrations.
    ///
    /// Whether what is registered can be built is found out by ``ServiceLocator/validate()``, which builds it:
    ///
    /// ```swift
    /// let locator = try app.makeLocator()
    /// let failures = await locator.validate()
    /// ```
    ///
    /// - Parameters:
    ///   - name: The locator's; the group's own if nil.
    ///   - parent: The locator's parent.
    ///   - doubles: Groups whose registrations take the place of these; those that come last win.
    /// - Throws: What ``install(in:overriding:)`` throws.
    public func makeLocator(
        name: String? = nil, parent: ServiceLocator? = nil, overriding doubles: [Assembly] = []
    ) throws(ServiceLocatorError) -> ServiceLocator {
        let locator = ServiceLocator(name: name ?? self.name, parent: parent)
        try install(in: locator, overriding: doubles)
        return locator
    }

    /// Registers its own.
    func register(in locator: ServiceLocator) throws(ServiceLocatorError) {
        do {
            try body(locator)
        } catch let error as ServiceLocatorError {
            throw error
        } catch {
            throw .assembly(name, in: locator, failedWith: error)
        }
    }
}
