/// A stored service that is resolved when it is first used, and then kept.
///
/// ```swift
/// struct Checkout {
///     @Resolved var requests: any DataRequestService
///     @Resolved(named: "audit") var log: any LogService
///
///     func run() async throws { try await requests.get("cart") }
/// }
/// ```
///
/// The locator is ``ServiceLocator/current`` at the moment when the wrapper is made, so what is built under a test's
/// locator stays with it; or the one that is given. It is retained.
///
/// Reading ends the process where ``ServiceLocator/resolve(_:named:)`` throws, with the same text. To have the error
/// instead, resolve early through the projected value: `try $requests.resolve()`.
///
/// Any thread; copies share what was resolved. When several threads read first, each may resolve, and all get the same.
/// Cost: an allocation when made; reading costs an atomic load and a retain.
@propertyWrapper
public struct Resolved<Service: Sendable>: Sendable {
    private let locator: ServiceLocator
    private let name: String?
    private let site: RegistrationSite
    private let storage = OnceStorage<Service>()

    /// Makes a wrapper that has not resolved yet.
    public init(
        named name: String? = nil, from locator: ServiceLocator = .current, fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        self.locator = locator
        self.name = name
        site = RegistrationSite(fileID: fileID, line: line)
    }

    /// The service.
    public var wrappedValue: Service {
        do throws(ServiceLocatorError) {
            return try resolve()
        } catch {
            error.endProcess("Required at \(site)")
        }
    }

    /// The wrapper itself, for ``resolve()``.
    public var projectedValue: Resolved<Service> { self }

    /// The service, with an error where reading would end the process. What failed is tried again at the next use.
    ///
    /// - Throws: What ``ServiceLocator/resolve(_:named:)`` throws.
    public func resolve() throws(ServiceLocatorError) -> Service {
        if let service = storage.value { return service }
        return storage.set(try locator.resolve(Service.self, named: name))
    }
}
