public import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

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
/// A new refresh token is never lost because of another fault: it is stored also if the rest of the response cannot be
/// used, and if the store cannot write it, the next call uses it and tries to write it again. A cancellation after a
/// refresh token was sent only ends the wait: the response is read and stored within the time limit of the configuration,
/// and a service that shuts down waits for it.
///
/// An error code of RFC 6749, 5.2, such as `invalid_grant`, is an ``AccessTokenRejection``, whatever the status of the
/// response. So is another code, unless the status is 408, 429 or 5xx, which a gateway may have chosen. The codes
/// `temporarily_unavailable`, `server_error` and `slow_down`, and errors without a code, are `RequestFailure`s with the
/// reason `authorization`, like all others that a later request can change. The failures of the transport stay as they
/// are. No description shows a secret.
public final class OAuth2Tokens: AccessTokenProvider {
    private let configuration: Configuration
    private let transport: any Transport
    private let store: any TokenStore
    private let clock: RequestClock
    private let unsaved = Mutex<Unsaved?>(nil)

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
    public func save(_ tokens: StoredTokens) async throws { try await replaceAll(with: tokens) }

    /// Removes all tokens from the store.
    ///
    /// Clear the authorization of the services first, so that no other refresh begins. The function waits for a refresh
    /// that was sent already, and removes its tokens too.
    ///
    /// - Throws: The errors of the store.
    public func clear() async throws { try await replaceAll(with: nil) }

    private func replaceAll(with tokens: StoredTokens?) async throws {
        let former = Mutex<Unsaved?>(nil)
        try await store.update { [self] _ in
            let present = unsaved.withLock { $0 }
            former.withLock { $0 = present }
            return tokens
        }
        let replaced = former.withLock { $0 }
        unsaved.withLock { if $0 == replaced { $0 = nil } }
    }

    /// Returns the stored token or a new one; see the protocol.
    ///
    /// - Throws: ``AccessTokenRejection`` for an error code of the server and if there is no refresh token,
    ///   `RequestFailure` for all other failures, the errors of the store, and `CancellationError` if the task is cancelled.
    public func token(replacing old: AccessToken?) async throws -> AccessToken {
        guard configuration.grant == .refreshToken else { return try await token(replacing: old, nil) }
        // The timeout of the transport comes first, because its failure says what took so long.
        let exchange = TokenExchange(limit: configuration.usedTimeout + .seconds(1), clock: clock)
        return try await exchange.run { [self] in try await token(replacing: old, exchange) }
    }

    /// - Parameter exchange: Is notified before a refresh token is sent.
    private func token(replacing old: AccessToken?, _ exchange: TokenExchange?) async throws -> AccessToken {
        let renewal = Mutex<Renewal?>(nil)
        let tokens = try await store.update { [self] stored in
            let present = unsavedTokens(insteadOf: stored) ?? stored
            if let present, isUsable(present, insteadOf: old) { return present }
            let new = try await renewed(present, stored, exchange)
            renewal.withLock { $0 = new }
            return new.tokens
        }
        // Either the store has them now, or it has others, which are newer.
        unsaved.withLock { if let kept = $0, kept.tokens == tokens { $0 = nil } }
        let result = renewal.withLock { $0 }
        if let failure = result?.failure { throw failure }
        guard let tokens, let value = tokens.accessToken else { throw AccessTokenRejection() }
        if let arrived = result?.arrival, arrived.accessToken == value {
            return try AccessToken(value, expiresIn: arrived.lifetime.map { $0 - (clock.now - arrived.time) })
        }
        return try AccessToken(value, expiresIn: tokens.expiresAt.map(timeLeft))
    }

    /// The result of a request to the endpoint.
    private struct Renewal {
        let tokens: StoredTokens
        /// `nil` if there is a failure.
        var arrival: Arrival?
        /// Why the response has no access token, although it has a refresh token.
        var failure: (any Error)?
    }

    /// Tokens that the store may not have, because it could not write them.
    private struct Unsaved: Hashable {
        /// The refresh token for which they were issued, and which the store still has.
        let spent: String
        let tokens: StoredTokens
    }

    /// The tokens that were issued for the stored refresh token and could not be stored; `nil` if there are none.
    private func unsavedTokens(insteadOf stored: StoredTokens?) -> StoredTokens? {
        unsaved.withLock { unsaved in
            guard let unsaved, unsaved.spent == stored?.refreshToken else { return nil }
            return unsaved.tokens
        }
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

    /// Requests new tokens.
    ///
    /// - Parameters:
    ///   - present: The present tokens.
    ///   - stored: The tokens that the store has, which may be older.
    ///   - exchange: Is notified before a refresh token is sent.
    /// - Throws: The error of the endpoint, if its response has no new refresh token that has to be stored.
    private func renewed(
        _ present: StoredTokens?, _ stored: StoredTokens?, _ exchange: TokenExchange?
    ) async throws -> Renewal {
        var refreshToken: String?
        if configuration.grant == .refreshToken {
            guard let text = present?.refreshToken, !text.isEmpty else {
                throw AccessTokenRejection("There is no refresh token.")
            }
            refreshToken = text
        }
        let request = try OAuth2Rules.request(configuration, refreshToken: refreshToken)
        try exchange?.begin()
        let response = try await transport.send(request)
        // Before the body is read, which a transport may deliver as a stream.
        let (time, date) = (clock.now, clock.date)
        let body = try await response.body.collect(upTo: OAuth2Rules.maximumBody)
        let reading = OAuth2Rules.read(response.head, body, host: request.url.origin.host.text)
        let rotated = refreshToken == nil ? nil : reading.refreshToken
        let renewal: Renewal
        switch reading.issued {
        case .success(let issued):
            let tokens = StoredTokens(
                accessToken: issued.accessToken,
                expiresAt: issued.expiresIn.map { date.addingTimeInterval(Double($0)) },
                refreshToken: rotated ?? refreshToken)
            let lifetime = issued.expiresIn.map { Duration.seconds($0) }
            renewal = Renewal(
                tokens: tokens,
                arrival: Arrival(accessToken: issued.accessToken, lifetime: lifetime, time: time))
        case .failure(let error):
            // The former refresh token may be spent, so the new one is stored before the failure is thrown.
            guard let rotated else { throw error }
            renewal = Renewal(tokens: StoredTokens(refreshToken: rotated), failure: error)
        }
        if rotated != nil, let spent = stored?.refreshToken {
            unsaved.withLock { $0 = Unsaved(spent: spent, tokens: renewal.tokens) }
        }
        return renewal
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
