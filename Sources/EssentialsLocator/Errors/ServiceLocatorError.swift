/// Why a service could not be registered or resolved: what happened, and what to try.
///
/// The text is the same in every build configuration. It holds type names, locator names and source lines, and, for
/// ``Reason/constructionFailed``, the text of the factory's own error. Copying it costs one retain.
///
/// ```swift
/// do throws(ServiceLocatorError) {
///     requests = try locator.resolve((any DataRequestService).self)
/// } catch {
///     if error.reason == .missing { print(error.searched) }
///     throw error
/// }
/// ```
public struct ServiceLocatorError: Error, Sendable {
    private final class Storage: Sendable {
        let reason: Reason
        let message: String
        let remedy: String?
        let serviceType: String
        let serviceName: String?
        let searched: [String]
        let nearMisses: [String]
        let path: [String]
        let underlying: (any Error)?
        let cause: String?

        init(
            reason: Reason, message: String, remedy: String?, serviceType: String, serviceName: String?,
            searched: [String], nearMisses: [String], path: [String], underlying: (any Error)?, cause: String?
        ) {
            self.reason = reason
            self.message = message
            self.remedy = remedy
            self.serviceType = serviceType
            self.serviceName = serviceName
            self.searched = searched
            self.nearMisses = nearMisses
            self.path = path
            self.underlying = underlying
            self.cause = cause
        }
    }

    private let storage: Storage

    init(
        _ reason: Reason, _ message: String, remedy: String? = nil, serviceType: String, serviceName: String?,
        searched: [String] = [], nearMisses: [String] = [], path: [String] = [], underlying: (any Error)? = nil,
        cause: String? = nil
    ) {
        storage = Storage(
            reason: reason, message: message, remedy: remedy ?? reason.remedy, serviceType: serviceType,
            serviceName: serviceName, searched: searched, nearMisses: nearMisses, path: path, underlying: underlying,
            cause: cause)
    }

    /// What kind of failure this is; its ``Reason/name`` is stable across versions.
    public var reason: Reason { storage.reason }
    /// What happened.
    public var message: String { storage.message }
    /// What to try. `nil` if nothing helps, as after a cancellation.
    public var remedy: String? { storage.remedy }
    /// The type of the service, including its module. Empty for errors about a locator.
    public var serviceType: String { storage.serviceType }
    /// The name of the registration, or `nil` if it has no name.
    public var serviceName: String? { storage.serviceName }
    /// The names of the locators that were searched, nearest first. Empty unless the reason is ``Reason/missing``.
    public var searched: [String] { storage.searched }
    /// Registrations that are similar to a missing one, each with its locator and source line.
    ///
    /// These are the same type with another name, another type with the same spelling, and built services that also
    /// have the type. At most 8 are listed.
    public var nearMisses: [String] { storage.nearMisses }
    /// Services, each of which needs the next one, for ``Reason/cycle`` and ``Reason/constructionFailed``.
    ///
    /// The path of a cycle ends with its first service. The path of a failed construction begins with the service that
    /// was resolved and ends with the one whose factory failed.
    public var path: [String] { storage.path }
    /// The error that the factory threw, for ``Reason/constructionFailed``.
    ///
    /// If the factory failed because of another factory, this is the error of that one; see ``rootCause``.
    public var underlying: (any Error)? { storage.underlying }
    /// The error that began a failed construction: that of the innermost factory, however many factories passed it on.
    /// `nil` if no factory has thrown.
    ///
    /// ```swift
    /// if let failure = error.rootCause as? RequestFailure { show(failure.remedy ?? failure.message) }
    /// ```
    public var rootCause: (any Error)? {
        var cause = underlying
        while let inner = cause as? ServiceLocatorError, let next = inner.underlying { cause = next }
        return cause
    }
    /// The message of a failed construction without its path.
    var cause: String? { storage.cause }
}

extension ServiceLocatorError: CustomStringConvertible {
    /// Reason, message and remedy in one line.
    public var description: String { remedy.map { "\(reason.name): \(message) \($0)" } ?? "\(reason.name): \(message)" }
}
