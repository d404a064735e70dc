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
