public import EssentialsHTTP
import FoundationEssentials

/// Who a request comes from: the value of an `Authorization` field (RFC 9110, 11.6.2), or what answers a server's
/// challenge. Its text shows the scheme alone.
///
/// ```swift
/// requests.setAuthorization(try .bearer(token))
/// requests.setAuthorization(try .basic(user: "ada", password: "…"))
/// requests.setAuthorization(try .digest(user: "ada", password: "…"))       // with import ServiceEssentials
/// ```
public struct Credentials: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        /// A value that is the same in each request.
        case field(String)
        /// Makes another value for each request.
        case digest(DigestAccount)
    }

    let content: Content

    /// User and password (RFC 7617), as UTF-8.
    ///
    /// - Throws: `invalidRequest` when the user's name holds a colon, or either a control character.
    public static func basic(user: String, password: String) throws(RequestFailure) -> Credentials {
        try check(user, password, "Basic")
        let encoded = Data("\(user):\(password)".utf8).base64EncodedString()
        return Credentials(content: .field("Basic \(encoded)"))
    }

    /// A token (RFC 6750).
    ///
    /// - Throws: `invalidRequest` when it holds what no token has (RFC 6750, 2.1), such as a space or a line break.
    public static func bearer(_ token: String) throws(RequestFailure) -> Credentials {
        let body = token.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        let isToken = body.allSatisfy { byte in
            byte.isASCIIAlphanumeric || "-._~+/".utf8.contains(byte)
        }
        guard isToken, !body.isEmpty else {
            throw RequestFailure(
                .invalidRequest, "The bearer token is empty, or holds a character that no token has.",
                remedy: "Trim it; a token is letters, digits and -._~+/ with = at its end.")
        }
        return Credentials(content: .field("Bearer \(token)"))
    }

    /// User and password, of which the server gets only hashes (RFC 7616): MD5, SHA-256 or SHA-512/256, the strongest
    /// that it offers.
    ///
    /// The first request goes without credentials; when the server answers it with 401 and a challenge, it is sent again
    /// with the answer, once, if its body can be read again. Later requests carry an answer from the start, so that they
    /// take one way to the server and back. A challenge of another scheme is not answered. The `domain` that a server
    /// names is passed over: the credentials are for their origin.
    ///
    /// With `import ServiceEssentials`, `digest(user:password:minimum:)` has OpenSSL's hash functions.
    ///
    /// - Parameters:
    ///   - user: The name, sent as UTF-8.
    ///   - password: The password.
    ///   - minimum: The weakest challenge that is answered. `nil` means any over `https`, and one with `qop` over `http`.
    ///     A request whose challenges are all weaker fails as `authorization`.
    ///   - hash: The hash functions.
    /// - Throws: `invalidRequest` when the user's name holds a colon, or either a control character.
    public static func digest(
        user: String, password: String, minimum: DigestMinimum? = nil, hash: DigestHash
    ) throws(RequestFailure) -> Credentials {
        try check(user, password, "Digest")
        return Credentials(
            content: .digest(DigestAccount(user: user, password: password, minimum: minimum, hash: hash)))
    }

    /// A value of another scheme, as it is.
    ///
    /// - Throws: `invalidRequest` when it is empty, begins or ends with white space, or holds a line break.
    public static func header(_ value: String) throws(RequestFailure) -> Credentials {
        guard !value.isEmpty else {
            throw RequestFailure(
                .invalidRequest, "The Authorization field would be empty.",
                remedy: "Clear the authorization instead.")
        }
        return Credentials(content: .field(try HTTPField.checked(name: "Authorization", value: value).value))
    }

    /// A colon would end the name (RFC 7617, 2; RFC 7616, 3.4.2).
    private static func check(_ user: String, _ password: String, _ scheme: String) throws(RequestFailure) {
        let isPlain = { (text: String) in !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f } }
        guard !user.utf8.contains(UInt8(ascii: ":")), isPlain(user), isPlain(password) else {
            throw RequestFailure(
                .invalidRequest, "A user name with a colon, or a control character, cannot be sent as \(scheme).",
                remedy: "Check the user name and the password.")
        }
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, without what is secret.
    public var description: String {
        switch content {
        case .field(let value): "\(value.prefix { $0 != " " }.prefix(16)) …"
        case .digest: "Digest …"
        }
    }
    /// The scheme, without what is secret.
    public var debugDescription: String { description }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
