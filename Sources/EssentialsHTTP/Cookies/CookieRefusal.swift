/// Why a `Set-Cookie` line was not stored. It contains no part of the line, so that it can be logged.
///
/// New reasons may be added: compare with `==`, and handle unknown ones.
///
/// ```swift
/// for refusal in jar.store(response.headerFields, from: url) { logger.debug("\(refusal)") }
/// ```
public struct CookieRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    private enum Code: String, Sendable {
        case syntax, size, otherDomain, publicSuffix, insecureOrigin, coversSecure, prefix, lineLimit, cleared
    }

    private let code: Code

    /// A stable name such as `publicSuffix`.
    public var name: String { code.rawValue }
    /// The stable name, for logs.
    public var description: String { name }

    /// The line has no equals sign, an empty name or a control character.
    public static let syntax = CookieRefusal(code: .syntax)
    /// Name and value have more than 4,096 bytes.
    public static let size = CookieRefusal(code: .size)
    /// The attribute `Domain` is neither the host nor a domain above it.
    public static let otherDomain = CookieRefusal(code: .otherDomain)
    /// The attribute `Domain` is a public suffix.
    public static let publicSuffix = CookieRefusal(code: .publicSuffix)
    /// The cookie is for `https` only, but was sent over `http`.
    public static let insecureOrigin = CookieRefusal(code: .insecureOrigin)
    /// The cookie was sent over `http` and would cover one of the same name that is for `https` only.
    public static let coversSecure = CookieRefusal(code: .coversSecure)
    /// The name begins with `__Secure-` or `__Host-`, but the cookie does not have the properties that these promise.
    public static let prefix = CookieRefusal(code: .prefix)
    /// The response has more than 200 `Set-Cookie` lines. One refusal stands for all lines beyond them.
    public static let lineLimit = CookieRefusal(code: .lineLimit)
    /// The cookies of a host that would receive it were removed, such as by a logout, after the request had begun.
    public static let cleared = CookieRefusal(code: .cleared)
}
