/// Returns new access tokens, for ``Credentials/tokens(_:clock:)``.
///
/// ```swift
/// struct Login: AccessTokenProvider {
///     let login: HTTPDataRequestService
///     let key: String
///
///     func token(replacing old: AccessToken?) async throws -> AccessToken {
///         let reply: Reply = try await login.post("token", body: Request(key: key))
///         guard let token = reply.token else { throw AccessTokenRejection("The key is not valid any more.") }
///         return try AccessToken(token, expiresIn: .seconds(reply.lifetime))
///     }
/// }
/// ```
///
/// ``OAuth2Tokens`` is a provider for OAuth 2.0.
public protocol AccessTokenProvider: Sendable {
    /// Returns a new token.
    ///
    /// It is never called twice at the same time for the same ``Credentials`` value. It runs in a task of its own, which
    /// is cancelled after 30 seconds, and when the credentials are cleared or the last service that uses them shuts
    /// down. The requests that wait for the token do not cancel it. Requests that it sends through a service with the
    /// same credentials go out without a token and do not wait, unless it sends them from a detached task.
    ///
    /// - Parameter old: The token that has expired, or that a server has refused; `nil` if there is none.
    /// - Throws: ``AccessTokenRejection`` if no further call can succeed without a new login. Later requests then fail
    ///   without a call, until credentials are set again. After any other error the next request calls again, one second
    ///   later at the earliest. The requests that waited fail as `authorization`, with the error as their `underlying`
    ///   one.
    func token(replacing old: AccessToken?) async throws -> AccessToken
}

/// The error of an ``AccessTokenProvider`` that cannot return a token until the user has logged in again.
///
/// ```swift
/// guard status != .badRequest else { throw AccessTokenRejection("The refresh token was revoked.") }
/// ```
public struct AccessTokenRejection: Error, Sendable, CustomStringConvertible {
    /// What happened, in one sentence without secrets.
    public let message: String
    /// The error that led to it; `nil` if there is none.
    public let underlying: (any Error)?

    /// Creates a rejection.
    public init(_ message: String = "The token provider needs a new login.", underlying: (any Error)? = nil) {
        self.message = message
        self.underlying = underlying
    }

    /// The message.
    public var description: String { message }
}
