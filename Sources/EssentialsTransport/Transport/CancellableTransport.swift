/// A transport that can be told from outside to end one of its requests, as libcurl's can.
///
/// A service ends requests that somebody else waits for: when it is shut down, or when its environment changes. For a
/// transport of this kind that takes nothing; for any other the service runs each request in a task of the request's own,
/// which costs six allocations, some two microseconds, and mostly a change of thread.
///
/// A transport that wraps another one hands on what it is told:
///
/// ```swift
/// struct Counting: CancellableTransport {
///     let transport: CurlTransport
///     let counter: Counter
///     func send(
///         _ request: TransportRequest, register: (@escaping @Sendable () -> Void) -> Void
///     ) async throws(RequestFailure) -> TransportResponse {
///         counter.add(1)
///         return try await transport.send(request, register: register)
///     }
///     func shutdown() async { await transport.shutdown() }
/// }
/// ```
public protocol CancellableTransport: Transport {
    /// As ``Transport/send(_:)``, which is this without anybody who cancels.
    ///
    /// - Parameters:
    ///   - request: As there.
    ///   - register: Called with what cancels the request, before anything is waited for; not when nothing was begun. It
    ///     may be called from any thread, at any time, as often as one likes, and without effect once the request has
    ///     ended.
    /// - Throws: As there; `cancelled` when the request was cancelled in either way.
    func send(
        _ request: TransportRequest, register: (_ cancel: @escaping @Sendable () -> Void) -> Void
    ) async throws(RequestFailure) -> TransportResponse
}

extension CancellableTransport {
    /// Sends a request that is cancelled by its task alone.
    public func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try await send(request) { _ in }
    }
}
