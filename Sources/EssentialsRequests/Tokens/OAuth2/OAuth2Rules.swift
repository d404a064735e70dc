import EssentialsHTTP
import FoundationEssentials

/// Makes the requests to a token endpoint and reads its responses (RFC 6749).
enum OAuth2Rules {
    /// The maximum size of a response's body.
    static let maximumBody = 64 << 10
    /// The maximum length of a token.
    static let maximumToken = 16 << 10
    /// The longest lifetime: ten years in seconds.
    static let longest: Int64 = 315_360_000

    /// The tokens of a successful response.
    struct Issued: Sendable, Hashable {
        var accessToken: String
        /// The lifetime in seconds.
        var expiresIn: Int64?
        var refreshToken: String?
    }

    // MARK: Request

    /// The request for new tokens.
    ///
    /// - Parameter refreshToken: The refresh token; `nil` for client credentials.
    static func request(
        _ configuration: OAuth2Tokens.Configuration, refreshToken: String?
    ) throws(RequestFailure) -> TransportRequest {
        var form = QueryItems()
        if let refreshToken {
            form.append("grant_type", "refresh_token")
            form.append("refresh_token", refreshToken)
        } else {
            form.append("grant_type", "client_credentials")
        }
        if !configuration.scopes.isEmpty { form.append("scope", configuration.scopes.joined(separator: " ")) }
        var fields: HTTPFields = [.accept: "application/json", .contentType: "\(MediaType.form)"]
        if let secret = configuration.clientSecret, configuration.clientAuthentication == .basic {
            // Both are form-encoded before they are joined (RFC 6749, 2.3.1).
            let account = try Credentials.basic(user: encoded(configuration.clientID), password: encoded(secret))
            if case .field(let value) = account.content { fields[.authorization] = value }
        } else {
            form.append("client_id", configuration.clientID)
            if let secret = configuration.clientSecret { form.append("client_secret", secret) }
        }
        for item in configuration.parameters.items { form.append(item.name, item.value) }
        var options = TransportOptions()
        options.delivery = .collected(upTo: maximumBody)
        options.totalTimeout = configuration.timeout
        return TransportRequest(
            .post, configuration.endpoint, headerFields: fields, body: .bytes(Data(form.encodedQuery.utf8)),
            options: options)
    }

    private static func encoded(_ text: String) -> String {
        QueryItems([QueryItems.Item(name: text, value: nil)]).encodedQuery
    }

    // MARK: Response

    /// The tokens of a response.
    ///
    /// - Throws: ``AccessTokenRejection`` for the error `invalid_grant`; `RequestFailure` with the reason
    ///   `authorization` for all other errors, and `protocolViolation` for a response that breaks the rules of section
    ///   5.1.
    static func issued(_ head: HTTPResponse, _ body: Data, host: String) throws -> Issued {
        let document = try? JSONCodec().decode(JSONValue.self, from: body, as: .json)
        guard head.status == .ok else { throw refusal(head, document, host: host) }
        func broken(_ what: String) -> RequestFailure {
            RequestFailure(
                .protocolViolation, "The response of the token endpoint \(what).",
                remedy: "Check the URL of the token endpoint.", phase: .decoding, host: host)
        }
        guard let document, case .object = document else { throw broken("is not a JSON object") }
        guard let token = document["access_token"]?.string, token.utf8.count <= maximumToken,
            AccessToken.isToken(token)
        else { throw broken("has no valid access_token") }
        // A missing type is accepted, because some servers leave it out.
        if let type = document["token_type"], !type.isNull, type.string?.lowercased() != "bearer" {
            throw broken("has a token of another type than Bearer")
        }
        var issued = Issued(accessToken: token)
        if let lifetime = document["expires_in"], !lifetime.isNull {
            guard let seconds = seconds(lifetime) else { throw broken("has an invalid expires_in") }
            issued.expiresIn = min(seconds, longest)
        }
        if let refresh = document["refresh_token"], !refresh.isNull {
            guard let text = refresh.string, isVisible(text) else { throw broken("has an invalid refresh_token") }
            issued.refreshToken = text
        }
        return issued
    }

    /// A lifetime. Some servers send it as a string.
    private static func seconds(_ value: JSONValue) -> Int64? {
        let number =
            value.integer
            ?? value.string.flatMap { text in
                text.utf8.allSatisfy(\.isASCIIDigit) ? Int64(text) : nil
            }
        if let number { return number >= 0 ? number : nil }
        if case .number(let fraction) = value, fraction >= 0 { return Int64(min(fraction, Double(longest))) }
        if case .unsigned = value { return longest }
        return nil
    }

    /// Whether a text can be a refresh token (RFC 6749, A.17).
    private static func isVisible(_ text: String) -> Bool {
        (1...maximumToken).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }

    /// The error of a response (RFC 6749, 5.2). Its text is not used, because it can contain anything.
    private static func refusal(_ head: HTTPResponse, _ document: JSONValue?, host: String) -> any Error {
        let code = document?["error"]?.string.map { RequestFailure.shown($0) }
        let shown = code.map { "the error \($0)" } ?? "the status \(head.status.code)"
        let failure = RequestFailure(
            .authorization, "The token endpoint responded with \(shown).", remedy: remedy(for: code),
            phase: .receiving, host: host, response: FailedResponse(head: head, body: Data()))
        guard code == "invalid_grant" else { return failure }
        return AccessTokenRejection(
            "The token endpoint does not accept the refresh token or the client any more.", underlying: failure)
    }

    private static func remedy(for code: String?) -> String {
        switch code {
        case "invalid_client": "Check the identifier and the secret of the client, and where the server expects them."
        case "invalid_grant": "Log in again."
        case "invalid_scope": "Request only scopes that the client may have."
        case "unauthorized_client", "unsupported_grant_type": "Use a grant that the server allows to this client."
        default: "Check the URL of the token endpoint, and try again later."
        }
    }
}
