import EssentialsHTTP

extension TokenMachine.Failure {
    /// The failure of a request that gets no token.
    ///
    /// - Parameters:
    ///   - host: The host of the request.
    ///   - underlying: The provider's last error.
    func requestFailure(host: String, underlying: (any Error)?) -> RequestFailure {
        RequestFailure(
            self == .full ? .queueFull : .authorization, message, remedy: remedy, host: host,
            underlying: isOfProvider ? underlying : nil
        ).changed { $0.isTemporary = isTemporary }
    }

    /// What to try after a 401 that is handed back although it asks for a new token.
    var remedyOfResponse: String { "\(message) \(remedy)" }

    /// Whether the provider is called again without new credentials.
    private var isTemporary: Bool {
        switch self {
        case .provider, .overdue, .refusedTooOften, .full: true
        case .rejected, .ended: false
        }
    }

    private var isOfProvider: Bool { self == .provider || self == .rejected }

    private var message: String {
        switch self {
        case .provider: "The token provider failed, so there is no access token."
        case .rejected: "The token provider needs a new login, so there is no access token."
        case .overdue: "The token provider has not returned an access token within \(TokenSource.limit)."
        case .refusedTooOften:
            "The servers have refused the last \(TokenMachine.refusalLimit) new access tokens, or "
                + "\(TokenMachine.refusalLimitOfWindow) within \(TokenMachine.hold)."
        case .ended: "The credentials were cleared or replaced, so there is no access token."
        case .full: "Too many requests wait for an access token."
        }
    }

    private var remedy: String {
        switch self {
        case .provider: "See the underlying error. The provider is called again after \(TokenMachine.pause)."
        case .rejected: "Log in again, and set the new credentials."
        case .overdue: "Check that the provider's server can be reached, and that the provider can be cancelled."
        case .refusedTooOften:
            "Check the audience and the scope of the tokens, and the server's clock. The provider is called again "
                + "after \(TokenMachine.hold)."
        case .ended: "Set credentials, and send the request again."
        case .full: "Send fewer requests at once."
        }
    }
}

extension RequestFailure {
    /// The remedy of a 401 to a request whose body cannot be sent again.
    static let remedyWithoutReplay =
        "A new access token was requested, but the body is a stream and could not be sent again with it. Repeat the "
        + "request with a new stream, or send the body from memory or a file."

    /// The remedy of a 401 to a new token.
    static let remedyOfNewToken =
        "The server refused a new access token too. Check its audience, its scope and the server's clock."
}
