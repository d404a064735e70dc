public import EssentialsHTTP

/// How the requests of a definition are sent. A component without its own configuration inherits that of its parent.
///
/// ```swift
/// static var configuration: APIConfiguration? {
///     var configuration = APIConfiguration()
///     configuration.options.totalTimeout = .seconds(5)
///     configuration.appendsTrailingSlash = true
///     return configuration
/// }
/// ```
///
/// The declared type has to be optional, as in the protocol. A property of the type `APIConfiguration` would be another
/// property, which is not used.
public struct APIConfiguration: Sendable {
    /// Deadlines, limits, protocol and trust.
    public var options = TransportOptions()
    /// The statuses that are a success. Others fail as `status`. The default is 200 to 299.
    public var expectedStatus = StatusExpectation.success
    /// Which redirects are followed. The default is `nil`, which means the policy of the service.
    public var redirects: RedirectPolicy?
    /// Whether the path ends with a slash. The default is `false`.
    public var appendsTrailingSlash = false
    /// Whether a graceful shutdown waits for the requests. The default is `nil`, which means the value of the service.
    public var finishesOnShutdown: Bool?

    /// Creates a configuration with the default of each property.
    public init() {}
}
