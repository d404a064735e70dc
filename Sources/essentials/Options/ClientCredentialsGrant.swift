import ServiceEssentials

/// Access tokens of an OAuth 2.0 server, by the grant for client credentials (RFC 6749, section 4.4).
struct ClientCredentialsGrant {
    /// The environment variables of the client's identifier and secret. There are no options for them, because other
    /// users may see command lines.
    static let variables = ["ESSENTIALS_CLIENT_ID", "ESSENTIALS_CLIENT_SECRET"]

    /// The URL of the token endpoint.
    let tokenURL: String
    /// The scopes of the token, separated by spaces; `nil` means the server's default.
    let scope: String?

    /// The credentials.
    ///
    /// - Parameter transport: Sends the requests to the token endpoint.
    /// - Throws: `invalidRequest` if a variable is unset or empty, or the URL is not valid; `plaintextRefused` if it
    ///   would send the secret without TLS to another machine.
    func credentials(over transport: any Transport) throws(RequestFailure) -> Credentials {
        let values = Self.variables.map { AuthorizationOptions.variable($0) }
        let missing = zip(Self.variables, values).filter { $0.1 == nil }.map(\.0)
        guard missing.isEmpty, let identifier = values[0], let secret = values[1] else {
            throw RequestFailure(
                .invalidRequest, "--oauth-token-url needs \(missing.joined(separator: " and ")).",
                remedy: "Set both variables to the values with which the client is registered at the server.")
        }
        var configuration = try OAuth2Tokens.Configuration(
            endpoint: tokenURL, clientID: identifier, clientSecret: secret)
        configuration.scopes = scope.map(Self.scopes) ?? []
        return .tokens(OAuth2Tokens(configuration, transport: transport))
    }

    static func scopes(of text: String) -> [String] { text.split(separator: " ").map(String.init) }

    /// The failure of a request without an access token, with the failure of the token endpoint in its place: the
    /// endpoint's message, remedy and host say what to do.
    static func explained(_ failure: RequestFailure) -> RequestFailure {
        guard failure.reason == .authorization else { return failure }
        let rejection = failure.underlying as? AccessTokenRejection
        guard let cause = (rejection?.underlying ?? failure.underlying) as? RequestFailure else { return failure }
        // With this grant nobody logs in, so the refused grant is the client.
        let isClient = rejection != nil && cause.message.contains("invalid_grant")
        return RequestFailure(
            .authorization, "There is no access token. \(cause.message)",
            remedy: isClient ? "Check the identifier and the secret of the client." : cause.remedy,
            phase: cause.phase, host: cause.host, attempt: failure.attempt, underlying: cause.underlying)
    }
}
