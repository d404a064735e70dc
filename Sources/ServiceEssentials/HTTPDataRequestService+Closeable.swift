public import EssentialsCurl
public import EssentialsLocator
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
