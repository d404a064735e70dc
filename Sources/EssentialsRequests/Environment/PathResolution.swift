/// How a request's path and the environment's base URL make the URL that is requested.
///
/// | base | path | ``join`` | ``rfc3986`` |
/// |---|---|---|---|
/// | `https://h/v1` | `users` | `/v1/users` | `/users` |
/// | `https://h/v1/` | `users` | `/v1/users` | `/v1/users` |
/// | `https://h/v1/` | `/users` | `/v1/users` | `/users` |
/// | `https://h/v1/` | `../users` | refused | `/users` |
///
/// Both refuse a path that leads to another scheme, host or port, that holds credentials, or that hides a dot segment where
/// only some servers find it: behind an escaped slash or backslash (`..%2f`, `..\`), behind two escapes (`%252e%252e`), or
/// before a semicolon (`..;x`).
///
/// ```swift
/// configuration.pathResolution = .rfc3986
/// ```
public enum PathResolution: Sendable, Hashable {
    /// The base's path stays, with one slash between; what would climb out of it is refused.
    case join
    /// The path is a relative reference (RFC 3986, 5.2), as in the Objective-C library of this name: the last segment of
    /// a base without a slash at its end goes, and a path may leave the base's path.
    case rfc3986
}
