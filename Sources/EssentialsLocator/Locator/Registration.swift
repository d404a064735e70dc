/// The result of one registering call, for ``ServiceLocator/unregister(_:)-(Registration)``.
///
/// A value that retains neither the service nor the locator. Two values are equal if they come from the same call.
///
/// ```swift
/// let registration = try locator.register(probe, as: (any Probe).self)
/// locator.unregister(registration)
/// ```
public struct Registration: Sendable, Hashable {
    struct Entry: Sendable, Hashable {
        let key: ServiceKey
        let id: UInt64
    }

    let entries: [Entry]

    init(_ slots: [Slot]) {
        entries = slots.map { Entry(key: $0.key, id: $0.id) }
    }
}

/// The locator that the factory of a transient registration receives.
public enum TransientOrigin: Sendable, Hashable {
    /// The locator of the registration, as for lazy registrations. The service depends on nothing of narrower scopes.
    case owner
    /// The locator that resolves, which may be a child that overrides some of what the factory resolves.
    case requester
}

/// The line of source code that registered a service. Kept in every build, so that errors can name it.
struct RegistrationSite: Sendable, CustomStringConvertible {
    let fileID: StaticString
    let line: UInt

    /// The registration whose proxy is being created.
    @TaskLocal static var registering: RegistrationSite?

    var description: String { "\(fileID):\(line)" }
}
