#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The rules of RFC 6265 that need no jar, with the security rules of its successor's draft.
package enum CookieRules {
    /// The maximum lifetime of a cookie in seconds: 400 days.
    package static let maximumLifetime: Double = 400 * 86_400

    /// Reads one `Set-Cookie` line. The result may have expired already, which means that it deletes a cookie.
    ///
    /// - Parameters:
    ///   - line: The value of one field.
    ///   - url: The URL of the request.
    ///   - now: The current time.
    ///   - suffixes: Decides which domains are public suffixes.
    /// - Throws: The reason why the line is ignored.
    package static func cookie(
        from line: UnsafeBufferPointer<UInt8>, at url: RequestURL, now: Date, suffixes: PublicSuffixRules
    ) throws(CookieRefusal) -> Cookie {
        let line = try SetCookieLine(line)
        let host = url.origin.host
        let isHostOnly = try isHostOnly(line.domain, host: host, suffixes)
        guard !line.isSecure || url.origin.scheme == .https else { throw .insecureOrigin }
        guard hasPromisedProperties(line) else { throw .prefix }
        return Cookie(
            pair: line.pair, nameCount: line.nameCount, domain: isHostOnly ? host.text : line.domain ?? host.text,
            isHostOnly: isHostOnly, path: line.path ?? defaultPath(of: url), expires: expiry(of: line, now),
            isSecure: line.isSecure, isHTTPOnly: line.isHTTPOnly, sameSite: line.sameSite, created: now)
    }

    /// Whether the host is the domain or below it (RFC 6265, section 5.1.3). Both are in lower case.
    package static func domain(_ domain: String, matches host: HostName) -> Bool {
        hasSameBytes(domain, host.text) || !host.isAddress && isBelow(host.text, domain)
    }

    /// Whether a name is below a domain.
    static func isBelow(_ name: String, _ domain: String) -> Bool {
        let (name, domain) = (name.utf8, domain.utf8)
        guard !domain.isEmpty, name.count > domain.count else { return false }
        let start = name.index(name.endIndex, offsetBy: -domain.count)
        return name[name.index(before: start)] == UInt8(ascii: ".") && name[start...].elementsEqual(domain)
    }

    /// The path of a cookie whose line has none: the request's path up to its last slash (RFC 6265, section 5.1.4).
    package static func defaultPath(of url: RequestURL) -> String {
        let path = url.path.utf8
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
        return String(path[..<slash]) ?? "/"
    }

    /// Whether a cookie's path is the request's path or contains it, in whole segments (RFC 6265, section 5.1.4). The
    /// case matters, and nothing is decoded.
    package static func path(_ path: String, matches requestPath: Substring) -> Bool {
        let (cookie, request) = (path.utf8, requestPath.utf8)
        if cookie.count == 1 { return cookie.first == UInt8(ascii: "/") && request.first == UInt8(ascii: "/") }
        guard request.starts(with: cookie) else { return false }
        if cookie.last == UInt8(ascii: "/") { return true }
        let next = request.dropFirst(cookie.count).first
        return next == nil || next == UInt8(ascii: "/")
    }

    /// Decides whether a cookie is for the host alone.
    private static func isHostOnly(
        _ domain: String?, host: HostName, _ suffixes: PublicSuffixRules
    ) throws(CookieRefusal) -> Bool {
        guard let domain else { return true }
        if host.isAddress {
            // Nothing is below an address.
            guard hasSameBytes(domain, host.text) || hasSameBytes(domain, host.description) else { throw .otherDomain }
            return true
        }
        if hasSameBytes(domain, host.text) { return suffixes.isPublicSuffix(domain) }
        guard isBelow(host.text, domain) else { throw .otherDomain }
        guard !suffixes.isPublicSuffix(domain) else { throw .publicSuffix }
        return false
    }

    /// Compares bytes, because `==` also accepts other characters of the same canonical form.
    private static func hasSameBytes(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }

    private static func expiry(of line: SetCookieLine, _ now: Date) -> Date? {
        let latest = now.addingTimeInterval(maximumLifetime)
        if let seconds = line.maxAge {
            return seconds > 0 ? min(now.addingTimeInterval(Double(seconds)), latest) : .distantPast
        }
        return line.expires.map { min($0, latest) }
    }

    /// Whether a cookie whose name begins with `__Secure-` or `__Host-` has the properties that the name promises. The
    /// case does not matter, because some servers ignore it.
    private static func hasPromisedProperties(_ line: SetCookieLine) -> Bool {
        guard line.pair.first == UInt8(ascii: "_") else { return true }
        if hasPrefix(line, "__secure-") { return line.isSecure }
        if hasPrefix(line, "__host-") { return line.isSecure && line.domain == nil && line.path == "/" }
        return true
    }

    private static func hasPrefix(_ line: SetCookieLine, _ prefix: String) -> Bool {
        line.nameCount >= prefix.utf8.count
            && line.pair.prefix(prefix.utf8.count).elementsEqual(prefix.utf8) { SetCookieLine.lowercased($0) == $1 }
    }
}
