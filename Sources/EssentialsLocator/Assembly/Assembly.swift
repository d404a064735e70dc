/// A named group of registrations, usually those of one module of a program.
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
/// let tested = try app.makeLocator(overriding: [doubles])
/// ```
///
/// An assembly is a value that holds closures. Creating one registers nothing. Any thread.
public struct Assembly: Sendable {
    /// The name that errors show.
    public let name: String
    /// The groups that are registered before this group's own registrations.
    public let included: [Assembly]
    let overrides: [Assembly]
    private let body: @Sendable (ServiceLocator) throws -> Void

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - name: The name that errors show.
    ///   - included: The groups that are registered before this group's own registrations. A group that is included
    ///     several times, compared by name, is registered once.
    ///   - body: Makes the registrations. Called synchronously at each installation. It should only register, because
    ///     other groups may not be installed yet, and its factories must use their parameter instead of this locator.
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

    /// The same group with registrations of another one in place of its own, for tests. The last override wins.
    public func overridden(by doubles: Assembly) -> Assembly {
        Assembly(name: name, included: included, overrides: [doubles] + overrides, body: body)
    }

    /// Registers everything in a locator, or nothing if that fails.
    ///
    /// - Parameters:
    ///   - locator: The locator that receives the registrations.
    ///   - doubles: Groups whose registrations replace these. The last one wins.
    /// - Throws: The first error of a registration, for example ``ServiceLocatorError/Reason/duplicate`` if two groups
    ///   register the same key, and ``ServiceLocatorError/Reason/constructionFailed`` for other errors of a group.
    public func install(
        in locator: ServiceLocator, overriding doubles: [Assembly] = []
    ) throws(ServiceLocatorError) {
        // A group that installs another group in the same locator makes it part of its own installation.
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

    /// Creates a locator with these registrations.
    ///
    /// ``ServiceLocator/validate()`` builds the services and finds those that cannot be built:
    ///
    /// ```swift
    /// let locator = try app.makeLocator()
    /// let failures = await locator.validate()
    /// ```
    ///
    /// - Parameters:
    ///   - name: The locator's name. The default is the name of the group.
    ///   - parent: The locator's parent.
    ///   - doubles: Groups whose registrations replace these. The last one wins.
    /// - Throws: What ``install(in:overriding:)`` throws.
    public func makeLocator(
        name: String? = nil, parent: ServiceLocator? = nil, overriding doubles: [Assembly] = []
    ) throws(ServiceLocatorError) -> ServiceLocator {
        let locator = ServiceLocator(name: name ?? self.name, parent: parent)
        try install(in: locator, overriding: doubles)
        return locator
    }

    /// Makes this group's own registrations.
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
