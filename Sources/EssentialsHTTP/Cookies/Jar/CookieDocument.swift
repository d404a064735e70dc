#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The content of a cookie file, with its comments and the lines that cannot be read.
struct CookieDocument {
    private let text: [UInt8]
    private let now: Date
    private let suffixes: PublicSuffixRules

    init(_ text: [UInt8], now: Date, suffixes: PublicSuffixRules) {
        (self.text, self.now, self.suffixes) = (text, now, suffixes)
    }

    /// The cookies that can be read. If several have the same identity, a jar keeps the last one.
    var cookies: [Cookie] {
        var cookies: [Cookie] = []
        forEachLine { _, cookie in if let cookie { cookies.append(cookie) } }
        return cookies
    }

    /// Passes each line and its cookie. The lines are not kept, because a file may have as many as it has bytes.
    private func forEachLine(_ body: (NetscapeCookies.Bytes, Cookie?) -> Void) {
        text.withUnsafeBufferPointer { bytes in
            NetscapeCookies.forEachLine(of: bytes) { line in
                body(line, NetscapeCookies.cookie(from: line, now: now, suffixes: suffixes))
            }
        }
    }

    /// The outcome of ``applying(_:keepsSessionCookies:now:)``.
    struct Merged {
        var text: [UInt8] = []
        /// All cookies of the text.
        var cookies: [Cookie] = []
        /// The identities of the changed cookies that the text contains.
        var kept: Set<CookieIdentity> = []

        fileprivate mutating func append(_ cookie: Cookie, _ identity: CookieIdentity) {
            guard NetscapeCookies.append(cookie, to: &text) else { return }
            cookies.append(cookie)
            kept.insert(identity)
        }
    }

    /// The content with the changes of a jar. Expired cookies are dropped, and all lines without a change stay as they
    /// are.
    func applying(
        _ changes: [CookieIdentity: CookieChange], keepsSessionCookies: Bool, now: Date
    ) -> Merged {
        var merged = Merged()
        merged.text.reserveCapacity(text.count + changes.count * 128)
        if text.isEmpty { merged.text = NetscapeCookies.header }
        var pending = changes
        forEachLine { line, cookie in
            if let cookie {
                guard !cookie.isExpired(at: now) else { return }
                let identity = cookie.identity
                if changes[identity] != nil {
                    // A replaced cookie keeps its place, which is the order of creation.
                    if let change = pending.removeValue(forKey: identity),
                        let cookie = change.saved(keepsSessionCookies, now)
                    {
                        merged.append(cookie, identity)
                    }
                    return
                }
                merged.cookies.append(cookie)
            }
            merged.text += line
            merged.text.append(UInt8(ascii: "\n"))
        }
        for (identity, change) in pending.sorted(by: { $0.value.order < $1.value.order }) {
            if let cookie = change.saved(keepsSessionCookies, now) { merged.append(cookie, identity) }
        }
        return merged
    }
}

extension CookieChange {
    /// The cookie to write to the file; `nil` if there is none.
    fileprivate func saved(_ keepsSessionCookies: Bool, _ now: Date) -> Cookie? {
        guard case .stored(let cookie, _) = self, keepsSessionCookies || cookie.expires != nil,
            !cookie.isExpired(at: now)
        else { return nil }
        return cookie
    }

    fileprivate var order: UInt64 { if case .stored(_, let order) = self { order } else { 0 } }
}
