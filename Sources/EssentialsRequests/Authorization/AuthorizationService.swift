public import EssentialsHTTP

/// Sets and clears the credentials of a data-request service.
///
/// The part of an application that logs users in and out resolves this protocol from the locator.
///
/// ```swift
/// try locator.register(service, as: (any DataRequestService).self, (any AuthorizationService).self)
/// try locator.resolve((any AuthorizationService).self).setAuthorization(.bearer(token))
/// ```
public protocol AuthorizationService: Sendable {
    /// Sends these credentials with all later requests to the origin of the current environment.
    ///
    /// No other origin receives them, neither after a redirect nor after a change of the environment.
    func setAuthorization(_ credentials: Credentials)

    /// Removes the credentials of the origin of the current environment, and its private state. Running requests keep
    /// their credentials, but requests that wait for an access token fail as `authorization`.
    ///
    /// It returns when each ``PrivateStateStore`` has removed its part.
    func clearAuthorization() async
}

/// Stores something that belongs to the logged-in user, such as cookies or cached responses.
public protocol PrivateStateStore: Sendable {
    /// Removes all private state of an origin.
    func clearPrivateState(of origin: Origin) async
}
