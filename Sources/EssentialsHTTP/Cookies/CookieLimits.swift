/// The maximum numbers of cookies in a jar.
package struct CookieLimits: Sendable, Hashable {
    /// The maximum number of cookies with the same domain.
    package var perDomain = 200
    /// The number of cookies above which a domain is crowded. If the whole jar is full, crowded domains lose cookies
    /// first.
    package var crowded = 50
    /// The number of cookies above which a site is crowded: a registrable domain with all domains below it. If the whole
    /// jar is full, crowded sites lose cookies before all others, so that no site can evict the cookies of another one by
    /// names below its own.
    package var perSite = 1_000
    /// The maximum number of cookies in all. If it is exceeded, one hundredth more is evicted, so that a full jar does
    /// not search all cookies for each new one.
    package var total = 20_000
    /// The maximum size of a `Cookie` field in bytes.
    package var fieldSize = CookieField.maximumSize

    package init() {}
}

/// A change of a jar that its store does not have yet.
package enum CookieChange: Sendable, Hashable {
    /// A cookie was stored, at this position in the order of creation.
    case stored(Cookie, order: UInt64)
    case removed
}
