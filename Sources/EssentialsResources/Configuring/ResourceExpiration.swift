/// How long the content of a resource is fresh, so that ``Resource/loadIfNeeded(priority:)`` sends nothing.
///
/// ```swift
/// try service.configure("/users/*") { $0.expiration = .seconds(300) }
/// try service.configure("/prices") { $0.expiration = .byServer(else: .seconds(5)) }
/// ```
public struct ResourceExpiration: Sendable, Hashable {
    let rule: FreshnessRules.Expiration

    /// Content is fresh for this time after it was loaded, confirmed or set, whatever the server says. A negative time
    /// counts as zero.
    public static func after(_ duration: Duration) -> ResourceExpiration {
        ResourceExpiration(rule: .after(duration))
    }

    /// Content is fresh for a number of seconds; see ``after(_:)``.
    public static func seconds(_ seconds: some BinaryInteger) -> ResourceExpiration {
        .after(.seconds(Int64(clamping: seconds)))
    }

    /// Content is fresh for a number of milliseconds; see ``after(_:)``.
    public static func milliseconds(_ milliseconds: some BinaryInteger) -> ResourceExpiration {
        .after(.milliseconds(Int64(clamping: milliseconds)))
    }

    /// Content is fresh as long as the server says in its response
    /// ([RFC 9111, 4.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.2)), as in a private cache.
    ///
    /// The lifetime is `max-age` of `Cache-Control`, or else the time from `Date` to `Expires`. The age that the response
    /// has already, by `Age`, `Date` and the time that it took, is subtracted. With `no-cache`, `no-store`, or a lifetime
    /// that cannot be read, content is never fresh: each ``Resource/loadIfNeeded(priority:)`` asks the server, and the
    /// content is shown until it has responded. `s-maxage` is for shared caches and does not count. After a 304 response
    /// the lifetime is computed again, from the fields of both responses.
    ///
    /// The monotonic clock measures the time since the response, so only the clocks of server and client at that moment
    /// matter, and those only to make content older.
    ///
    /// - Parameter duration: How long content is fresh about which the server says nothing, and content that was set or
    ///   written, beginning as with ``after(_:)``.
    public static func byServer(else duration: Duration) -> ResourceExpiration {
        ResourceExpiration(rule: .byServer(otherwise: duration))
    }
}
