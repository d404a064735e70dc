/// A service that has something to finish when the locator that holds it is closed.
///
/// ```swift
/// extension HTTPDataRequestService: Closeable {
///     public func close() async { await transport.shutdown() }
/// }
/// ```
public protocol Closeable: Sendable {
    /// Finishes what the service does: waits for work, closes connections and files. Called once by each locator that
    /// holds the service, from the task that closes the locator. What fails here is the service's to report.
    func close() async
}
