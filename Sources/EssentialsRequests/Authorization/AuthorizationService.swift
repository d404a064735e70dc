public import EssentialsHTTP

/// Who may set and clear the credentials of a data-request service: what the part of an application asks for that logs
/// people in and out.
///
/// ```swift
/// try locator.register(service, as: (any DataRequestService).self, (any AuthorizationService).self)
/// try locator.resolve((any AuthorizationService).self).setAuthorization(.bearer(token))
/// ```
public protocol AuthorizationService: Sendable {
    /// Sends these credentials with the requests from now on that go to the origin of the environment in force, and to
    /// no other: not after a redirect elsewhere, and not after the environment has changed.
    func setAuthorization(_ credentials: Credentials)

    /// Forgets the credentials of the origin of the environment in force, and its private state. Requests that run keep
    /// theirs.
    func clearAuthorization() async
}

/// Keeps something that belongs to the person who is logged in, such as cookies or cached answers.
public protocol PrivateStateStore: Sendable {
    /// Forgets everything private of an origin.
    func clearPrivateState(of origin: Origin) async
}
