/// A transport that can be told from outside to end one of its requests.
///
/// For every other transport that takes a task of the request's own, whose end costs the caller another change of thread.
package protocol CancellableTransport: Transport {
    /// As ``Transport/send(_:)``.
    ///
    /// - Parameter register: Called with what cancels the request, before anything is waited for; not when nothing was
    ///   begun. It may be called from any thread, at any time, as often as one likes, and without effect once the request
    ///   has ended.
    func send(
        _ request: TransportRequest, register: (_ cancel: @escaping @Sendable () -> Void) -> Void
    ) async throws(RequestFailure) -> TransportResponse
}
