public import EssentialsHTTP

/// How the requests of a definition are sent. A component without its own configuration inherits that of its parent.
///
/// ```swift
/// static var configuration: APIConfiguration {
///     var configuration = APIConfiguration()
///     configuration.options.totalTimeout = .seconds(5)
///     configuration.appendsTrailingSlash = true
///     return configuration
/// }
/// ```
///
/// To change only a part, begin with `Parent.configuration`.
public struct APIConfiguration: Sendable {
    private struct Values: Sendable {
        var options = TransportOptions()
        var expectedStatus = StatusExpectation.success
        var redirects: RedirectPolicy?
        var appendsTrailingSlash = false
        var finishesOnShutdown: Bool?
        var retry: RetryPolicy?
        var isIdempotent: Bool?
        var idempotencyKey: IdempotencyKey?
        var usesCookies = true
        var joins: Bool?
    }

    /// It is an object, because a configuration is large, rarely changed, and part of every request.
    private final class Storage: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }
    }

    /// `nil` for the default of each property.
    private var storage: Storage?
    private var values: Values {
        get { storage?.values ?? Values() }
        set { storage = Storage(newValue) }
    }

    /// Creates a configuration with the default of each property.
    public init() {}

    /// Deadlines, limits, protocol and trust.
    public var options: TransportOptions {
        get { values.options }
        set { values.options = newValue }
    }

    /// The statuses that are a success. Others fail as `status`. The default is 200 to 299.
    public var expectedStatus: StatusExpectation {
        get { values.expectedStatus }
        set { values.expectedStatus = newValue }
    }

    /// Which redirects are followed. The default is `nil`, which means the policy of the service.
    public var redirects: RedirectPolicy? {
        get { values.redirects }
        set { values.redirects = newValue }
    }

    /// Whether the path of the URL ends with a slash, also if the definition has no path of its own. The default is `false`.
    public var appendsTrailingSlash: Bool {
        get { storage?.values.appendsTrailingSlash ?? false }
        set { values.appendsTrailingSlash = newValue }
    }

    /// How a failed request is sent again. The default is `nil`, which means the policy of the environment or the service.
    public var retry: RetryPolicy? {
        get { values.retry }
        set { values.retry = newValue }
    }

    /// Whether the server may process each request twice with the same effect as once. The default is `nil`, which means
    /// that the method decides; see ``DataRequest/isIdempotent``.
    public var isIdempotent: Bool? {
        get { storage?.values.isIdempotent }
        set { values.isIdempotent = newValue }
    }

    /// The key by which the server recognizes a request if it is sent again. The default is `nil`, which means no key.
    ///
    /// It is sent with POST, PUT, PATCH and DELETE, and not with safe methods such as GET (RFC 9110, 9.2.1), which can be
    /// repeated anyway. With a key, a POST is retried like a PUT. `automatic` suits all requests of a component, because
    /// each has its own key; a text suits one request only, for which
    /// ``APIRequest/idempotencyKey(_:)`` sets it.
    ///
    /// ```swift
    /// static var configuration: APIConfiguration {
    ///     var configuration = Parent.configuration
    ///     configuration.idempotencyKey = .automatic
    ///     return configuration
    /// }
    /// ```
    public var idempotencyKey: IdempotencyKey? {
        get { storage?.values.idempotencyKey }
        set { values.idempotencyKey = newValue }
    }

    /// Whether cookies are sent with the requests and stored from their responses. The default is `true`. It has no effect
    /// if the service has no cookies.
    public var usesCookies: Bool {
        get { storage?.values.usesCookies ?? true }
        set { values.usesCookies = newValue }
    }

    /// Whether the requests share exchanges with equal requests that run at the same time. The default is `nil`, which
    /// means the value of the service; see ``DataRequest/joins``.
    public var joins: Bool? {
        get { storage?.values.joins }
        set { values.joins = newValue }
    }

    /// Whether a graceful shutdown waits for the requests. The default is `nil`, which means the value of the service.
    public var finishesOnShutdown: Bool? {
        get { values.finishesOnShutdown }
        set { values.finishesOnShutdown = newValue }
    }
}
