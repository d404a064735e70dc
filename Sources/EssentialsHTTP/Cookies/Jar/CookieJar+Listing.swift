#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension CookieJar {
    /// The cookies in the order of their creation. Expired ones are left out.
    ///
    /// - Parameters:
    ///   - url: The URL for which they would be sent; `nil` for all cookies.
    ///   - includesHTTPOnly: Whether cookies with the attribute `HttpOnly` are listed. The default is `false`, because
    ///     they are usually credentials.
    public func cookies(for url: RequestURL? = nil, includingHTTPOnly includesHTTPOnly: Bool = false) -> [Cookie] {
        let now = clock.date
        let cookies = change { $0.cookies(for: url, now: now) }
        return includesHTTPOnly ? cookies : cookies.filter { !$0.isHTTPOnly }
    }

    /// Removes the cookies that meet a condition.
    ///
    /// ```swift
    /// jar.removeCookies { $0.expires == nil }        // ends the session
    /// ```
    ///
    /// - Parameter isRemoved: It is called for all cookies, including those with the attribute `HttpOnly`, while the jar
    ///   is locked, so it must not use the jar.
    public func removeCookies(where isRemoved: (Cookie) -> Bool) { change { $0.removeAll(where: isRemoved) } }

    /// Removes all cookies.
    public func removeAll() { removeCookies { _ in true } }

    // MARK: Netscape format

    /// The cookies as the text of a cookie file for curl or wget. Cookies with a tab are left out.
    ///
    /// The text contains the values. Write it only to files that nobody else can read.
    ///
    /// - Parameters:
    ///   - includesHTTPOnly: Whether cookies with the attribute `HttpOnly` are exported. The default is `false`.
    ///   - includesSession: Whether session cookies are exported. The default is `true`.
    public func netscapeText(
        includingHTTPOnly includesHTTPOnly: Bool = false, includingSession includesSession: Bool = true
    ) -> Data {
        var text = NetscapeCookies.header
        for cookie in cookies(includingHTTPOnly: includesHTTPOnly) where includesSession || cookie.expires != nil {
            _ = NetscapeCookies.append(cookie, to: &text)
        }
        return Data(text)
    }

    /// Adds the cookies of a cookie file's text. They replace those of the same name, domain and path.
    ///
    /// Comments, lines that cannot be read, cookies of public suffixes and expired cookies are skipped.
    ///
    /// - Returns: The number of cookies that were read.
    @discardableResult
    public func addCookies(netscapeText text: Data) -> Int {
        let now = clock.date
        let cookies = CookieDocument(Array(text), now: now, suffixes: suffixes).cookies.filter {
            !$0.isExpired(at: now)
        }
        change { machine in
            for cookie in cookies { machine.store(cookie, isSecureOrigin: true, now: now) }
        }
        return cookies.count
    }
}
