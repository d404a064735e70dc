public import EssentialsHTTP

extension OAuth2Tokens {
    /// How a client gets new access tokens.
    public enum Grant: Sendable, Hashable {
        /// With its own identifier and secret (RFC 6749, 4.4).
        case clientCredentials
        /// With the refresh token of a login (RFC 6749, 6). The first one is given to ``OAuth2Tokens/save(_:)`` or to the
        /// store.
        case refreshToken
    }

    /// Where the client's identifier and secret are sent (RFC 6749, 2.3.1).
    public enum ClientAuthentication: Sendable, Hashable {
        /// In the field `Authorization`, which every server supports.
        case basic
        /// In the body, for servers that do not support Basic authentication.
        case body
    }

    /// The client and its token endpoint.
    ///
    /// ```swift
    /// var configuration = try OAuth2Tokens.Configuration(
    ///     endpoint: "https://login.example.com/token", clientID: "shop", clientSecret: secret)
    /// configuration.scopes = ["orders:read"]
    /// ```
    public struct Configuration: Sendable {
        /// The token endpoint.
        public let endpoint: RequestURL
        /// The identifier of the client.
        public let clientID: String
        /// The secret of the client; `nil` for a public client, which sends only its identifier.
        public let clientSecret: String?
        /// How new tokens are requested.
        public let grant: Grant
        /// Where the identifier and the secret are sent. The default is `basic`.
        public var clientAuthentication = ClientAuthentication.basic
        /// The requested scopes (RFC 6749, 3.3). The default is none, which means the server's default.
        public var scopes: [String] = []
        /// Further parameters, such as `audience`. The default is none.
        public var parameters: QueryItems = []
        /// The maximum time of one request to the endpoint. The default is 20 seconds. A value above 30 seconds
        /// has no effect.
        public var timeout = Duration.seconds(20)

        /// The timeout that is used.
        var usedTimeout: Duration { max(.zero, min(timeout, TokenSource.limit)) }

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - endpoint: The URL of the token endpoint. It must use `https`, or be on this machine.
        ///   - clientID: The identifier of the client.
        ///   - clientSecret: The secret of the client; `nil` for a public client.
        ///   - grant: How new tokens are requested. The default is `clientCredentials`.
        /// - Throws: `invalidRequest` if the endpoint is not a URL, the identifier is empty, or client credentials are
        ///   used without a secret; `plaintextRefused` if the secret would be sent without TLS (RFC 6749, 3.2).
        public init(
            endpoint: String, clientID: String, clientSecret: String? = nil, grant: Grant = .clientCredentials
        ) throws(RequestFailure) {
            let url = try RequestURL(endpoint)
            guard url.origin.scheme == .https || Self.isLocal(url.origin.host) else {
                throw RequestFailure(
                    .plaintextRefused, "The token endpoint is not encrypted.", remedy: "Use its https URL.",
                    host: url.origin.host.text)
            }
            guard !clientID.isEmpty, grant == .refreshToken || clientSecret != nil else {
                throw RequestFailure(
                    .invalidRequest, "The client has no identifier, or no secret for its client credentials.",
                    remedy: "Use the values with which the client is registered at the server.")
            }
            self.endpoint = url
            self.clientID = clientID
            self.clientSecret = clientSecret
            self.grant = grant
        }

        private static func isLocal(_ host: HostName) -> Bool {
            host.isAddress ? host.text == "::1" || host.text.hasPrefix("127.") : host.text == "localhost"
        }
    }
}

extension OAuth2Tokens.Configuration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The endpoint without its query.
    public var description: String { "OAuth2Tokens.Configuration(\(endpoint.redacted))" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Empty, so that no secret is shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
