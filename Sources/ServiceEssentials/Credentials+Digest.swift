import EssentialsCurl
public import EssentialsHTTP
public import EssentialsRequests

extension Credentials {
    /// User and password for Digest, hashed by OpenSSL; see `digest(user:password:minimum:hash:)`.
    ///
    /// ```swift
    /// requests.setAuthorization(try .digest(user: "ada", password: "…"))
    /// ```
    ///
    /// - Parameters:
    ///   - user: The name, sent as UTF-8.
    ///   - password: The password.
    ///   - minimum: The weakest challenge that is answered. `nil` means any over `https`, and one with `qop` over `http`.
    /// - Throws: `invalidRequest` when the user's name holds a colon, or either a control character.
    public static func digest(
        user: String, password: String, minimum: DigestMinimum? = nil
    ) throws(RequestFailure) -> Credentials {
        try .digest(user: user, password: password, minimum: minimum, hash: .openSSL)
    }
}
