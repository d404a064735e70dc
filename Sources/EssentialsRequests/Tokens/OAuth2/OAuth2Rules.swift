import EssentialsHTTP
import FoundationEssentials

/// Makes the requests to a token endpoint and reads its responses (RFC 6749).
enum OAuth2Rules {
    /// The maximum size of a response's body.
    static let maximumBody = 64 << 10
    /// The maximum length of an access token, which has to fit into a field.
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

    /// The content of a response.
    struct Reading {
        /// The new refresh token, also of a response that is an error otherwise; `nil` if there is none.
        let refreshToken: String?
        /// The tokens, or the error.
        ///
        /// The error is an ``AccessTokenRejection`` for an error code of the server, unless it says that a later
        /// request can succeed, or an unknown code comes with a status that says so. Otherwise it is a `RequestFailure`:
        /// `authorization` for such a code and for a status that is an error, and `protocolViolation` for a response that
        /// breaks the rules of RFC 6749, 5.1.
        let issued: Result<Issued, any Error>
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
        options.totalTimeout = min(configuration.timeout, TokenSource.limit)
        return TransportRequest(
            .post, configuration.endpoint, headerFields: fields, body: .bytes(Data(form.encodedQuery.utf8)),
            options: options)
    }

    private static func encoded(_ text: String) -> String {
        QueryItems([QueryItems.Item(name: text, value: nil)]).encodedQuery
    }

    // MARK: Response

    /// Reads a response.
    ///
    /// A field that is not needed and cannot be used counts as absent: a lifetime that is no number, and a type and a
    /// refresh token that are empty.
    static func read(_ head: HTTPResponse, _ body: Data, host: String) -> Reading {
        let reply = try? JSONCodec().decode(Reply.self, from: body, as: .json)
        let refreshToken = head.status.kind == .successful ? reply.flatMap(refreshToken) : nil
        return Reading(
            refreshToken: refreshToken,
            issued: Result { try issued(head, reply, refreshToken: refreshToken, host: host) })
    }

    /// The members of a response's object. One that cannot be decoded, such as a number that is too large, is `nil` and
    /// does not affect the others.
    private struct Reply: Decodable {
        let accessToken, tokenType, expiresIn, refreshToken, error: JSONValue?

        private enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case tokenType = "token_type"
            case expiresIn = "expires_in"
            case refreshToken = "refresh_token"
            case error
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            func member(_ key: CodingKeys) -> JSONValue? { try? members.decodeIfPresent(JSONValue.self, forKey: key) }
            accessToken = member(.accessToken)
            tokenType = member(.tokenType)
            expiresIn = member(.expiresIn)
            refreshToken = member(.refreshToken)
            error = member(.error)
        }
    }

    private static func issued(
        _ head: HTTPResponse, _ reply: Reply?, refreshToken: String?, host: String
    ) throws -> Issued {
        let isSuccess = head.status == .ok || head.status.kind == .successful && reply?.accessToken != nil
        guard isSuccess, text(reply?.error) == nil else { throw refusal(head, reply, host: host) }
        func broken(_ what: String) -> RequestFailure {
            RequestFailure(
                .protocolViolation, "The response of the token endpoint \(what).",
                remedy: "Check the URL of the token endpoint.", phase: .decoding, host: host)
        }
        guard let reply else { throw broken("is not a JSON object") }
        guard let token = reply.accessToken?.string, token.utf8.count <= maximumToken,
            AccessToken.isToken(token)
        else { throw broken("has no valid access_token") }
        // A missing type is accepted, because some servers leave it out.
        if let type = reply.tokenType, type != "", type.string?.lowercased() != "bearer" {
            throw broken("has a token of another type than Bearer")
        }
        return Issued(
            accessToken: token, expiresIn: reply.expiresIn.flatMap(seconds), refreshToken: refreshToken)
    }

    /// A lifetime, which some servers send as a string. `nil` if it cannot be one, because a client may use a token
    /// whose lifetime is not known (RFC 6749, 5.1).
    private static func seconds(_ value: JSONValue) -> Int64? {
        let number: Double? =
            switch value {
            case .string(let text): text.utf8.allSatisfy(\.isASCIIDigit) ? Double(text) : nil
            default: value.number
            }
        guard let number, (0...Double(longest)).contains(number) else { return nil }
        return Int64(number)
    }

    /// A refresh token. It is used even if it has characters that it should not have (RFC 6749, A.17), because the one
    /// before it may be spent, and a form can represent every text. For the same reason only the body limits its length.
    private static func refreshToken(_ reply: Reply) -> String? {
        text(reply.refreshToken).flatMap { $0.utf8.count <= maximumBody ? $0 : nil }
    }

    /// A member that is a text; `nil` if it is missing or empty.
    private static func text(_ member: JSONValue?) -> String? {
        member?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    // MARK: Refusal

    /// The error codes after which a later request can succeed. The last one is from RFC 8628, 3.5.
    private static let temporaryCodes: Set<String> = ["temporarily_unavailable", "server_error", "slow_down"]
    /// The error codes of a token endpoint (RFC 6749, 5.2).
    private static let standardCodes: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope",
    ]

    /// The error of a response (RFC 6749, 5.2). Its description is not used, because it can contain anything.
    private static func refusal(_ head: HTTPResponse, _ reply: Reply?, host: String) -> any Error {
        let code = text(reply?.error)
        let shown = code.map { "the error \(RequestFailure.shown($0))" } ?? "the status \(head.status.code)"
        let message = "The token endpoint responded with \(shown)."
        let failure = RequestFailure(
            .authorization, message, remedy: remedy(for: code), phase: .receiving, host: host,
            response: FailedResponse(head: head, body: Data()))
        guard let code, isFinal(code, head.status) else { return failure }
        return AccessTokenRejection(message, underlying: failure)
    }

    /// Whether the same request would be refused again.
    private static func isFinal(_ code: String, _ status: HTTPResponse.Status) -> Bool {
        guard !temporaryCodes.contains(code) else { return false }
        // With these statuses a gateway that is out of order or overloaded responds, and names its error as it likes:
        // “Service Unavailable”, `unavailable`, `too_many_requests`. Only a code of the standard is the endpoint's own.
        guard status.kind == .serverError || [408, 429].contains(status.code) else { return true }
        return standardCodes.contains(code)
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
