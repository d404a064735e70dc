/// A transport that can be told from outside to end one of its requests.
///
/// For every other transport that takes a task of the request's own, whose end costs the caller another change of thread.
package protocol CancellableTransport: Transport {
    /// As ``Transport/send(_:)``.
    ///
    /// - Parameter register: Called once, before anything is waited for, with what cancels the request: from any thread,
    ///   at any time, as often as it likes, and without effect once the request has ended.
    func send(
        _ request: TransportRequest, register: (_ cancel: @escaping @Sendable () -> Void) -> Void
    ) async throws(RequestFailure) -> TransportResponse
}
