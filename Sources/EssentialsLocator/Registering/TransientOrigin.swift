/// Which locator the factory of a transient registration receives.
public enum TransientOrigin: Sendable, Hashable {
    /// The locator of the registration, as for lazy registrations: what is built depends on nothing of narrower scopes.
    case owner
    /// The locator that was asked, which may be a child and cover some of what the factory resolves.
    case requester
}
