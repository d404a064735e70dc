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
    /// How long content is fresh after it was loaded, confirmed or set. The default is 30 seconds, whatever the server
    /// says; see ``ResourceExpiration/byServer(else:)``.
    public var expiration = ResourceExpiration.seconds(30)
    /// How long a failed load is not repeated by ``Resource/loadIfNeeded(priority:)``. The default is one second. A longer
    /// `Retry-After` of the response counts instead, for at most an hour.
    public var retryTime = Duration.seconds(1)
    /// How often an observed resource is loaded again. The default is `nil`: it is not, unless an observer says so.
    public var refresh: ResourceRefresh?
    /// Header fields for all requests. They win over those of the environment, and lose against those of a definition.
    public var headerFields: HTTPFields = [:]
    /// The model for the bodies of responses with an unexpected status, to loads and to writes; see
    /// `RequestFailure.errorModel(as:)`. That of a request or a definition wins. The default is `nil`: that of the
    /// data-request service.
    ///
    /// ```swift
    /// try service.configure("/**") { $0.errorModel = Problem.self }
    /// ```
    public var errorModel: (any (Decodable & Sendable).Type)?
    /// The maximum size of a response body in bytes; a longer one fails as `tooLarge`. The default is 64 MiB.
    public var maximumBody = 64 << 20
    /// The steps through which responses become content. The default has none.
    public var pipeline = ResourcePipeline()
    /// Names by which a write invalidates resources of its origin; see ``RelatedResources/tag(_:)``. The default is
    /// none. Those of the configuration for GET count.
    public var tags: Set<String> = []
    /// Whether the cache of the service stores the entities of the resource. The default is `true`. Caches of the
    /// pipeline are used in either case.
    public var usesServiceCache = true
    /// Whether persistent caches also store responses that a cache should not keep: those with `no-store`, and those to
    /// requests with credentials as long as no partition was entered. The default is `false`.
    public var storesSensitiveResponses = false
    /// The changes of requests, in order.
    var mutations: [@Sendable (inout DataRequest) async throws -> Void] = []
    /// What wraps the sending of requests; the last one is the outermost.
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
