import EssentialsCurl
public import EssentialsHTTP
public import EssentialsRequests

extension Credentials {
    /// User and password for Digest, hashed by OpenSSL; see `digest(user:password:hash:)`.
    ///
    /// ```swift
    /// requests.setAuthorization(try .digest(user: "ada", password: "…"))
    /// ```
    ///
    /// - Throws: `invalidRequest` when the user's name holds a colon, or either a control character.
    public static func digest(user: String, password: String) throws(RequestFailure) -> Credentials {
        try .digest(user: user, password: password, hash: .openSSL)
    }
}
