public import EssentialsHTTP
import EssentialsRequests

/// How resources are loaded, and how long their content counts as fresh.
///
/// ```swift
/// var configuration = HTTPResourceService.Configuration()
/// configuration.defaults.expiration = .seconds(300)
/// ```
///
/// ``HTTPResourceService/configure(_:methods:name:_:)`` changes it for some resources.
public struct ResourceConfiguration: Sendable {
    /// How long content is fresh after it was loaded, confirmed or set. The default is 30 seconds, regardless of the
    /// server's response; see ``ResourceExpiration/byServer(else:)``.
    public var expiration = ResourceExpiration.seconds(30)
    /// How long ``Resource/loadIfNeeded(priority:)`` does not repeat a failed load. The default is one second. A longer
    /// `Retry-After` of the response counts instead, for at most an hour.
    public var retryTime = Duration.seconds(1)
    /// How often an observed resource is loaded again. The default `nil` means never, unless an observer requests it.
    public var refresh: ResourceRefresh?
    /// Header fields for all requests. They take precedence over those of the environment, but not over a definition's.
    public var headerFields: HTTPFields = [:]
    /// The model for the bodies of responses with an unexpected status, to loads and to writes; see
    /// `RequestFailure.errorModel(as:)`. The model of a request or a definition takes precedence. The default `nil`
    /// means the model of the data-request service.
    ///
    /// ```swift
    /// try service.configure("/**") { $0.errorModel = Problem.self }
    /// ```
    public var errorModel: (any (Decodable & Sendable).Type)?
    /// The maximum size of a response body in bytes; a longer one fails as `tooLarge`. The default is 64 MiB.
    public var maximumBody = 64 << 20
    /// The steps through which responses become content. By default there are no steps.
    public var pipeline = ResourcePipeline()
    /// Names by which a write invalidates resources of its origin; see ``RelatedResources/tag(_:)``. The tags in the
    /// configuration for GET count. By default there are no tags.
    public var tags: Set<String> = []
    /// Whether the cache of the service stores the entities of the resource. The default is `true`. Caches of the
    /// pipeline are used in either case.
    public var usesServiceCache = true
    /// Whether persistent caches also store responses that a cache should not keep: responses with `no-store`, and
    /// responses to requests with credentials while no partition is entered. The default is `false`.
    public var storesSensitiveResponses = false
    /// The changes of requests, in order.
    var mutations: [@Sendable (inout DataRequest) async throws -> Void] = []
    /// The decorators, which wrap the sending of requests. The last one is the outermost.
    var decorators: [ResourceDecorator] = []

    /// Creates the default configuration.
    public init() {}
}

extension ResourceConfiguration: CustomReflectable {
    /// The properties for debuggers and `dump`, with the names of header fields only.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "expiration": expiration, "retryTime": retryTime, "refresh": refresh as Any,
                "headerFields": RedactedText.names(of: headerFields), "maximumBody": maximumBody, "tags": tags,
                "usesServiceCache": usesServiceCache, "storesSensitiveResponses": storesSensitiveResponses,
            ])
    }
}

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
