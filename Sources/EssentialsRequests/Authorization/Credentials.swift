public import EssentialsHTTP
import FoundationEssentials

/// The credentials of a request: the value of an `Authorization` field (RFC 9110, 11.6.2), or an account that answers a
/// server's challenges.
///
/// The description shows only the scheme.
///
/// ```swift
/// requests.setAuthorization(try .bearer(token))
/// requests.setAuthorization(try .basic(user: "ada", password: "…"))
/// requests.setAuthorization(try .digest(user: "ada", password: "…"))       // with import ServiceEssentials
/// ```
public struct Credentials: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        /// The same value for every request.
        case field(String)
        /// An account, from which a new value is computed for every request.
        case digest(DigestAccount)
        /// Tokens of a provider. Two values are equal if they have the same source.
        case tokens(TokenSource)
    }

    let content: Content
    /// The account to which the credentials belong, as the application names it; `nil` if it is not known.
    ///
    /// The response cache then uses responses for all credentials of the account, such as a new token after a login.
    /// Without a name, each use of ``AuthorizationService/setAuthorization(_:)`` with new credentials begins without stored
    /// responses.
    ///
    /// ```swift
    /// var credentials = try Credentials.bearer(token)
    /// credentials.account = EntityPartition(user.id)
    /// requests.setAuthorization(credentials)
    /// ```
    public var account: EntityPartition?

    /// A user name and a password for Basic authentication (RFC 7617), sent as UTF-8.
    ///
    /// - Throws: `invalidRequest` if the user name contains a colon, or if either contains a control character.
    public static func basic(user: String, password: String) throws(RequestFailure) -> Credentials {
        try check(user, password, "Basic")
        let encoded = Data("\(user):\(password)".utf8).base64EncodedString()
        return Credentials(content: .field("Basic \(encoded)"))
    }

    /// A bearer token (RFC 6750).
    ///
    /// - Throws: `invalidRequest` if it is empty or contains a character that tokens cannot have (RFC 6750, 2.1), such
    ///   as a space or a line break.
    public static func bearer(_ token: String) throws(RequestFailure) -> Credentials {
        Credentials(content: .field(try AccessToken(token).fieldValue))
    }

    /// Access tokens that a provider renews (RFC 6750).
    ///
    /// The provider is called when a request needs a token, when a token has expired, and when a server refuses one with
    /// 401. All requests that need a token wait for one call. A request that was refused is sent once more with the new
    /// token, unless its body cannot be read again. If less than a tenth of a token's time is left, at most 60 seconds,
    /// it is renewed while requests still use it. If the provider fails, the requests that wait fail as `authorization`.
    /// See <doc:RefreshingTokens>.
    ///
    /// ```swift
    /// requests.setAuthorization(.tokens(provider))
    /// ```
    ///
    /// All services and origins that have the same value or a copy of it share one token and one call. Two values are
    /// equal only if one is a copy of the other.
    ///
    /// - Parameters:
    ///   - provider: Returns the tokens.
    ///   - clock: Measures when tokens expire and how long the provider takes. The default is the system's.
    public static func tokens(
        _ provider: some AccessTokenProvider, clock: RequestClock = .system
    ) -> Credentials {
        Credentials(content: .tokens(TokenSource(provider, clock: clock)))
    }

    /// A user name and a password for Digest authentication (RFC 7616). The server receives only hashes of the
    /// password.
    ///
    /// The strongest hash function that the server offers is used: MD5, SHA-256 or SHA-512/256. The first request is
    /// sent without credentials. If the server responds with 401 and a challenge, the request is sent again with an
    /// answer, unless its body cannot be read again. Later requests carry an answer from the start, which saves a round
    /// trip. Challenges of other schemes are not answered. The `domain` of a challenge is ignored: the credentials are
    /// only for their origin.
    ///
    /// With `import ServiceEssentials`, `digest(user:password:minimum:)` uses the hash functions of OpenSSL.
    ///
    /// - Parameters:
    ///   - user: The user name, sent as UTF-8.
    ///   - password: The password.
    ///   - minimum: The weakest challenge that is answered. The default is `nil`, which means any challenge over
    ///     `https` and a challenge with `qop` over `http`. If all challenges are weaker, the request fails as
    ///     `authorization`.
    ///   - hash: The hash functions.
    /// - Throws: `invalidRequest` if the user name contains a colon, or if either contains a control character.
    public static func digest(
        user: String, password: String, minimum: DigestMinimum? = nil, hash: HashFunctions
    ) throws(RequestFailure) -> Credentials {
        try check(user, password, "Digest")
        return Credentials(
            content: .digest(DigestAccount(user: user, password: password, minimum: minimum, hash: hash)))
    }

    /// A complete field value for any other scheme, sent unchanged.
    ///
    /// - Throws: `invalidRequest` if it is empty, begins or ends with white space, or contains a control character.
    public static func header(_ value: String) throws(RequestFailure) -> Credentials {
        guard !value.isEmpty else {
            throw RequestFailure(
                .invalidRequest, "The Authorization field would be empty.",
                remedy: "Clear the authorization instead.")
        }
        return Credentials(content: .field(try HTTPField.checked(name: "Authorization", value: value).value))
    }

    /// Throws for a colon, which would end the user name (RFC 7617, 2; RFC 7616, 3.4.2), and for control characters.
    private static func check(_ user: String, _ password: String, _ scheme: String) throws(RequestFailure) {
        let isPlain = { (text: String) in !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f } }
        guard !user.utf8.contains(UInt8(ascii: ":")), isPlain(user), isPlain(password) else {
            throw RequestFailure(
                .invalidRequest, "\(scheme) cannot send a user name with a colon, or a control character.",
                remedy: "Check the user name and the password.")
        }
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, without the secret part.
    public var description: String {
        switch content {
        case .field(let value): "\(value.prefix { $0 != " " }.prefix(16)) …"
        case .digest: "Digest …"
        case .tokens: "Bearer …"
        }
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Empty, so that no secret is shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
