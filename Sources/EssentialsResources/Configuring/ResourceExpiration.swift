/// How long the content of a resource is fresh, so that ``Resource/loadIfNeeded(priority:)`` sends nothing.
///
/// ```swift
/// try service.configure("/users/*") { $0.expiration = .seconds(300) }
/// try service.configure("/prices") { $0.expiration = .byServer(else: .seconds(5)) }
/// ```
public struct ResourceExpiration: Sendable, Hashable {
    let rule: FreshnessRules.Expiration

    /// Content is fresh for this time after it was loaded, confirmed or set, regardless of the server's response. A
    /// negative time counts as zero.
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
    /// The lifetime is `max-age` of `Cache-Control`, or otherwise the time from `Date` to `Expires`. The age that the
    /// response already has is subtracted. It is computed from `Age`, `Date` and the duration of the request. With
    /// `no-cache`, `no-store`, or a lifetime that cannot be read, content is never fresh: each
    /// ``Resource/loadIfNeeded(priority:)`` contacts the server, and the content is shown until it has responded.
    /// `s-maxage` is for shared caches and is ignored. After a 304 response the lifetime is computed again, from the
    /// fields of both responses.
    ///
    /// The monotonic clock measures the time since the response. The clocks of server and client matter only at the
    /// moment of the response, and can only make content older.
    ///
    /// - Parameter duration: How long content is fresh if the server gives no lifetime, or if the content was set or
    ///   written. The time begins as with ``after(_:)``.
    public static func byServer(else duration: Duration) -> ResourceExpiration {
        ResourceExpiration(rule: .byServer(otherwise: duration))
    }
}
