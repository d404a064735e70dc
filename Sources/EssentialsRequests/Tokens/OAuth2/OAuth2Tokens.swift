public import EssentialsHTTP
import FoundationEssentials
import Synchronization

/// Gets access tokens from an OAuth 2.0 server (RFC 6749), with client credentials or a refresh token.
///
/// ```swift
/// let tokens = OAuth2Tokens(
///     try OAuth2Tokens.Configuration(
///         endpoint: "https://login.example.com/token", clientID: "shop", clientSecret: secret),
///     transport: try CurlTransport())
/// requests.setAuthorization(.tokens(tokens))
/// ```
///
/// It sends its requests through a transport of its own, without interceptors, redirects and retries. A server that
/// rotates refresh tokens is supported: the new one is stored before any request goes on. If the store already has
/// another token that has not expired, because another process has refreshed it, no request is sent.
///
/// The error `invalid_grant` is an ``AccessTokenRejection``. All other errors of the server are `RequestFailure`s with
/// the reason `authorization`, and the failures of the transport stay as they are. No description shows a secret.
public final class OAuth2Tokens: AccessTokenProvider {
    private let configuration: Configuration
    private let transport: any Transport
    private let store: any TokenStore
    private let clock: RequestClock

    /// Creates a provider.
    ///
    /// - Parameters:
    ///   - configuration: The client and its token endpoint.
    ///   - transport: Sends the requests. The provider does not shut it down.
    ///   - store: Keeps the tokens. The default is a new ``MemoryTokenStore``.
    ///   - clock: The date with which stored tokens expire. The default is the system's.
    public init(
        _ configuration: Configuration, transport: any Transport, store: any TokenStore = MemoryTokenStore(),
        clock: RequestClock = .system
    ) {
        self.configuration = configuration
        self.transport = transport
        self.store = store
        self.clock = clock
    }

    /// Stores the tokens of a login, and replaces all former ones.
    ///
    /// ```swift
    /// try await tokens.save(StoredTokens(refreshToken: refreshToken))
    /// requests.setAuthorization(credentials)
    /// ```
    ///
    /// - Throws: The errors of the store.
    public func save(_ tokens: StoredTokens) async throws { try await store.update { _ in tokens } }

    /// Removes all tokens from the store.
    ///
    /// Clear the authorization of the services first, so that a refresh that is running ends. The function waits for it,
    /// and removes its tokens too.
    ///
    /// - Throws: The errors of the store.
    public func clear() async throws { try await store.update { _ in nil } }

    /// Returns the stored token or a new one; see the protocol.
    ///
    /// - Throws: ``AccessTokenRejection`` for the error `invalid_grant` and if there is no refresh token, `RequestFailure`
    ///   for all other failures, and the errors of the store.
    public func token(replacing old: AccessToken?) async throws -> AccessToken {
        let arrival = Mutex<Arrival?>(nil)
        let tokens = try await store.update { [self] stored in
            if let stored, isUsable(stored, insteadOf: old) { return stored }
            let (renewed, arrived) = try await renewed(stored)
            arrival.withLock { $0 = arrived }
            return renewed
        }
        guard let tokens, let value = tokens.accessToken else { throw AccessTokenRejection() }
        if let arrived = arrival.withLock({ $0 }), arrived.accessToken == value {
            return try AccessToken(value, expiresIn: arrived.lifetime.map { $0 - (clock.now - arrived.time) })
        }
        return try AccessToken(value, expiresIn: tokens.expiresAt.map(timeLeft))
    }

    /// A token that has just been issued. Its lifetime counts from its arrival on the monotonic clock, because the date
    /// may jump while the store writes.
    private struct Arrival {
        let accessToken: String
        let lifetime: Duration?
        let time: Duration
    }

    /// Whether another process has already replaced the token.
    private func isUsable(_ stored: StoredTokens, insteadOf old: AccessToken?) -> Bool {
        guard let value = stored.accessToken, value != old?.value, AccessToken.isToken(value) else { return false }
        return stored.expiresAt.map { timeLeft($0) > .zero } ?? true
    }

    private func timeLeft(_ date: Date) -> Duration {
        // Far from any overflow, and more than any token lives.
        .seconds(max(0, min(date.timeIntervalSince(clock.date), 1e9)))
    }

    private func renewed(_ stored: StoredTokens?) async throws -> (StoredTokens, Arrival) {
        var refreshToken: String?
        if configuration.grant == .refreshToken {
            guard let present = stored?.refreshToken else {
                throw AccessTokenRejection("There is no refresh token.")
            }
            refreshToken = present
        }
        let request = try OAuth2Rules.request(configuration, refreshToken: refreshToken)
        let response = try await transport.send(request)
        // Before the body is read, which a transport may deliver as a stream.
        let (time, date) = (clock.now, clock.date)
        let body = try await response.body.collect(upTo: OAuth2Rules.maximumBody)
        let issued = try OAuth2Rules.issued(response.head, body, host: request.url.origin.host.text)
        let tokens = StoredTokens(
            accessToken: issued.accessToken,
            expiresAt: issued.expiresIn.map { date.addingTimeInterval(Double($0)) },
            refreshToken: refreshToken == nil ? nil : issued.refreshToken ?? refreshToken)
        let lifetime = issued.expiresIn.map { Duration.seconds($0) }
        return (tokens, Arrival(accessToken: issued.accessToken, lifetime: lifetime, time: time))
    }
}

extension OAuth2Tokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The token endpoint without its query.
    public var description: String { "OAuth2Tokens(\(configuration.endpoint.redacted))" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Empty, so that no secret is shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
