public import EssentialsCurl
public import EssentialsLocator
public import EssentialsReachability
public import EssentialsRequests

/// A locator that is closed shuts the service and its transport down: what runs is cancelled, and all connections end.
extension HTTPDataRequestService: Closeable {
    /// The same as `shutdown()`, without a grace period.
    public func close() async { await shutdown() }
}

/// A locator that is closed shuts the service and its transport down.
extension UnsafeRequestService: Closeable {
    /// The same as `shutdown()`.
    public func close() async { await shutdown() }
}

/// For transports that are registered themselves.
extension CurlTransport: Closeable {
    /// The same as `shutdown()`.
    public func close() async { await shutdown() }
}

/// A locator that is closed ends the tracking.
extension ReachabilityTracker: Closeable {
    /// The same as `stop()`.
    public func close() async { stop() }
}

/// A locator that is closed ends the tracking.
extension EnvironmentReachability: Closeable {
    /// The same as `stop()`.
    public func close() async { stop() }
}
