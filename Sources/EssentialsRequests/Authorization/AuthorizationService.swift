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
    ///
    /// The first credentials end nothing: requests that run without any go on, until the next change. Equal credentials
    /// change nothing. Credentials that replace others may be those of another user, so they end what the former ones have
    /// begun: requests that were submitted before and are not sent yet, and further attempts of those that were, fail as
    /// `authorization`; the cookies of the origin are removed; and the stores of an account are neither read nor written
    /// until it is entered again.
    /// Whoever renews tokens by hand would end all of that each time: use `Credentials.tokens(_:)`, whose tokens change
    /// without it.
    func setAuthorization(_ credentials: Credentials)

    /// Sends these credentials with all later requests to the origin of an environment, which need not be the current one;
    /// otherwise as ``setAuthorization(_:)``.
    ///
    /// ```swift
    /// service.setAuthorization(try .bearer(stagingToken), for: staging)
    /// ```
    ///
    /// Environments with the same origin have the same credentials.
    func setAuthorization(_ credentials: Credentials, for environment: EnvironmentSnapshot)

    /// Removes the credentials of the origin of the current environment, and its private state.
    ///
    /// An attempt that is on its way keeps its credentials and returns its response to its caller, but its response sets no
    /// cookies and is stored nowhere. Requests that were submitted before and are not sent yet, wait for an access token or
    /// would be sent again fail as `authorization`.
    ///
    /// It returns when each ``PrivateStateStore`` has removed its part, and after five seconds if one takes longer. What is
    /// not removed by then cannot be read any more, and is removed in the background.
    func clearAuthorization() async

    /// Removes the credentials and the private state of the origin of an environment, which need not be the current one;
    /// otherwise as ``clearAuthorization()``.
    func clearAuthorization(for environment: EnvironmentSnapshot) async
}

/// Stores something that belongs to the logged-in user, such as cookies or cached responses.
public protocol PrivateStateStore: Sendable {
    /// Removes all private state of an origin. All stores are called at the same time; what a store does before it waits
    /// for the first time is done in the order in which the stores were added.
    func clearPrivateState(of origin: Origin) async

    /// The credentials of an origin were replaced by others, which may be those of another user.
    ///
    /// It is called on the thread that has set them, after that. What was stored with credentials, and for no account that
    /// the application has entered, must not be found any more. The default does nothing.
    func credentialsWereReplaced(at origin: Origin)
}

/// A store that also follows logins, because something of its waits for one.
package protocol CredentialsFollower: PrivateStateStore {
    /// Credentials were set for an origin. It is called on the thread that has set them, after that, and also if they have
    /// replaced others.
    func credentialsWereSet(at origin: Origin)
}

extension PrivateStateStore {
    /// Does nothing.
    public func credentialsWereReplaced(at origin: Origin) {}
}
