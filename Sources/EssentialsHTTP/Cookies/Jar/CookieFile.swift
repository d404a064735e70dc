/// A file for the cookies of a jar, in the Netscape format, which curl (`-b`, `-c`) and wget (`--load-cookies`) read
/// and write.
///
/// ```swift
/// let jar = try CookieJar(file: CookieFile("/var/lib/app/cookies.txt"))
/// // … the program runs …
/// try await jar.flush()
/// ```
///
/// The file belongs to the current user and is readable by nobody else (mode 0600). A symbolic link, a file of another
/// user, one that other users can write to and one with a second name (hard link) are refused. Changes are saved at most once a second and by ``CookieJar/flush()``: under a lock (flock(2)) the
/// file is read again, the changes of this jar are applied, and the result is written to a new file, which is
/// renamed. Several processes can therefore share a file. Comments and lines that cannot be read are kept. The first save
/// removes the temporary files that killed processes have left.
///
/// The format cannot express cookies that contain a tab, the attribute `SameSite`, or the times of creation and use.
/// Cookies with a tab stay in memory.
public struct CookieFile: Sendable, Hashable {
    /// The path.
    public let path: String
    /// Whether session cookies are saved. Session cookies in the file are always read.
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
