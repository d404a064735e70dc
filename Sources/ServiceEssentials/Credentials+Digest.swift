import EssentialsCurl
public import EssentialsHTTP
public import EssentialsRequests

extension Credentials {
    /// A user and password for Digest authentication, hashed with OpenSSL; see `digest(user:password:minimum:hash:)`.
    ///
    /// ```swift
    /// requests.setAuthorization(try .digest(user: "ada", password: "…"))
    /// ```
    ///
    /// - Parameters:
    ///   - user: The user name, sent as UTF-8.
    ///   - password: The password.
    ///   - minimum: The weakest challenge that is accepted. With `nil`, `https` accepts any, and `http`
    ///     only those with `qop`.
    /// - Throws: `invalidRequest` if the user name contains a colon, or if either text contains a control character.
    public static func digest(
        user: String, password: String, minimum: DigestMinimum? = nil
    ) throws(RequestFailure) -> Credentials {
        try .digest(user: user, password: password, minimum: minimum, hash: .openSSL)
    }
}
