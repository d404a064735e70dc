#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension CookieMachine {
    /// A cookie that is sent.
    private struct Match {
        let pathCount: Int
        let order: UInt64
        let pair: [UInt8]
    }

    /// The `Cookie` field for a URL (RFC 6265, section 5.4), or `nil` if there is no cookie for it. Cookies with longer
    /// paths come first, then those that were created earlier.
    ///
    /// - Parameter countsAsUse: Whether the cookies count as used, because they are sent.
    package mutating func field(for url: RequestURL, now: Date, countsAsUse: Bool = true) -> CookieField? {
        guard count > 0 else { return nil }
        var matches: [Match] = []
        forEachMatch(for: url, now: now) { entry in
            if countsAsUse { entry.cookie.lastUsed = now }
            matches.append(
                Match(pathCount: entry.cookie.path.utf8.count, order: entry.order, pair: entry.cookie.pair))
        }
        guard !matches.isEmpty else { return nil }
        if matches.count > 1 {
            matches.sort { one, other in
                one.pathCount == other.pathCount ? one.order < other.order : one.pathCount > other.pathCount
            }
        }
        var size = 0
        var sent = 0
        for match in matches {
            let more = match.pair.count + (sent > 0 ? CookieField.separator.count : 0)
            guard size + more <= limits.fieldSize else { break }
            size += more
            sent += 1
        }
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { target, count in
            for match in matches[..<sent] {
                if count > 0 { Self.append(CookieField.separator, to: target, at: &count) }
                Self.append(match.pair, to: target, at: &count)
            }
        }
        return CookieField(bytes: bytes, count: sent, omitted: matches[sent...].map(\.pair))
    }

    private static func append(_ bytes: [UInt8], to target: UnsafeMutableBufferPointer<UInt8>, at count: inout Int) {
        count = UnsafeMutableBufferPointer(rebasing: target[count...]).update(fromContentsOf: bytes) + count
    }

    /// Whether there is a cookie for a URL.
    package mutating func hasCookies(for url: RequestURL, now: Date) -> Bool {
        guard count > 0 else { return false }
        var isFound = false
        forEachMatch(for: url, now: now) { _ in isFound = true }
        return isFound
    }

    /// All cookies in the order of their creation, except the expired ones.
    ///
    /// - Parameter url: The URL for which they would be sent; `nil` for the whole jar.
    package mutating func cookies(for url: RequestURL? = nil, now: Date) -> [Cookie] {
        var found: [(order: UInt64, cookie: Cookie)] = []
        if let url {
            forEachMatch(for: url, now: now) { found.append(($0.order, $0.cookie)) }
        } else {
            for entries in domains.values {
                for entry in entries where !entry.cookie.isExpired(at: now) {
                    found.append((entry.order, entry.cookie))
                }
            }
        }
        return found.sorted { $0.order < $1.order }.map(\.cookie)
    }

    /// Visits the cookies for a URL, and removes expired ones on the way.
    private mutating func forEachMatch(for url: RequestURL, now: Date, _ body: (inout Entry) -> Void) {
        let (host, path, isSecure) = (url.origin.host, url.path, url.origin.scheme == .https)
        var isOwn = true
        for domain in Self.domains(of: host.text) {
            defer { isOwn = false }
            guard let place = domains.index(forKey: domain) else { continue }
            var hasExpired = false
            for position in domains.values[place].indices {
                if domains.values[place][position].cookie.isExpired(at: now) {
                    hasExpired = true
                } else if domains.values[place][position].cookie.isSent(toOwnHost: isOwn, isSecure, path) {
                    body(&domains.values[place][position])
                }
            }
            if hasExpired { removeAll(in: domain) { $0.cookie.isExpired(at: now) } }
            // An address has dots, but no domains above it.
            if host.isAddress { return }
        }
    }
}

extension Cookie {
    /// Whether the cookie is sent to a host that belongs to its domain.
    fileprivate func isSent(toOwnHost isOwnHost: Bool, _ isSecureOrigin: Bool, _ requestPath: Substring) -> Bool {
        (isOwnHost || !isHostOnly) && (isSecureOrigin || !isSecure) && CookieRules.path(path, matches: requestPath)
    }
}
