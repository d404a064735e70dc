/// A stored service that is resolved at its first use and then kept.
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
/// The default locator is ``ServiceLocator/current`` when the wrapper is created, so an object that is created under a
/// test's locator keeps using it. The locator is retained.
///
/// Reading ends the process where ``ServiceLocator/resolve(_:named:)`` throws, with the same text. To get the error
/// instead, resolve early through the projected value: `try $requests.resolve()`.
///
/// Any thread. Copies share the resolved service. If several threads read first, each may resolve, and all get the same
/// service. Cost: an allocation when the wrapper is created; an atomic load and a retain at each read.
@propertyWrapper
public struct Resolved<Service: Sendable>: Sendable {
    private let locator: ServiceLocator
    private let name: String?
    private let site: RegistrationSite
    private let storage = OnceStorage<Service>()

    /// Creates a wrapper that has not resolved its service.
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

    /// The service, or the error where reading would end the process. The next use after an error resolves again.
    ///
    /// - Throws: What ``ServiceLocator/resolve(_:named:)`` throws.
    public func resolve() throws(ServiceLocatorError) -> Service {
        if let service = storage.value { return service }
        return storage.set(try locator.resolve(Service.self, named: name))
    }
}
