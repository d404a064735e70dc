/// A file for the cookies of a jar, in Netscape's form, which curl (`-b`, `-c`) and wget (`--load-cookies`) read and
/// write.
///
/// ```swift
/// let jar = try CookieJar(file: CookieFile("/var/lib/app/cookies.txt"))
/// …
/// try await jar.flush()
/// ```
///
/// The file belongs to the current user and is readable by nobody else (mode 0600). A symbolic link and a file of another
/// user are refused. Changes are saved at most once a second and by ``CookieJar/flush()``: under a lock (flock(2)) the
/// file is read again, the changes of this jar are applied, and the result is written aside and renamed. So several
/// processes can share a file. Comments and lines that cannot be read are kept.
///
/// The form has no place for a cookie that contains a tab, for `SameSite`, and for times of creation and use. Cookies
/// with a tab stay in memory.
public struct CookieFile: Sendable, Hashable {
    /// The path.
    public let path: String
    /// Whether session cookies are saved. Those that the file has are read in any case.
    public let keepsSessionCookies: Bool

    /// Describes a file. It need not exist; its directory must exist when the first cookie is saved.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - keepsSessionCookies: Whether session cookies are saved. The default is `false`: they live as long as the jar.
    public init(_ path: String, keepsSessionCookies: Bool = false) {
        self.path = path
        self.keepsSessionCookies = keepsSessionCookies
    }
}
