public import EssentialsCurl
public import EssentialsFetching
public import EssentialsLocator
public import EssentialsReachability
public import EssentialsRequests
public import EssentialsResources

/// Closing the locator shuts down the service and its transport: running requests are cancelled, and connections end.
extension HTTPDataRequestService: Closeable {
    /// Calls `shutdown()` without a grace period.
    public func close() async { await shutdown() }
}

/// Closing the locator closes the service. Its data-request service is shut down by its own registration.
extension HTTPResourceService: Closeable {}

/// Closing a locator that holds a blob service cancels its transfers.
extension BlobService: Closeable {}

/// Closing the locator closes the outbox. Its entries stay on the disk.
extension Outbox: Closeable {}

/// Closing the locator shuts down a transport that is registered in it.
extension CurlTransport: Closeable {
    /// Calls `shutdown()`.
    public func close() async { await shutdown() }
}

/// Closing the locator stops the tracking.
extension ReachabilityTracker: Closeable {
    /// Calls `stop()`.
    public func close() async { stop() }
}

/// Closing the locator stops the tracking.
extension EnvironmentReachability: Closeable {
    /// Calls `stop()`.
    public func close() async { stop() }
}
