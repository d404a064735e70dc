/// Sends one request over one hop: the only seam between what is asked for and how it travels.
///
/// A transport follows no redirect, keeps no cookie, repeats nothing that is not safe to repeat, and judges no status. It
/// is used from any task; every cancellation, by task or shutdown, is the reason `cancelled`.
///
/// ```swift
/// struct Canned: Transport {
///     func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
///         TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
///     }
///     func shutdown() async {}
/// }
/// ```
public protocol Transport: Sendable {
    /// Sends the request and waits for the response's head, and for its body unless it is streamed.
    ///
    /// - Throws: whatever kept the exchange from being whole; `cancelled` when the calling task was cancelled, `closed`
    ///   after ``shutdown()``.
    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse

    /// Cancels what runs, closes all connections and returns when that is done. Further calls return at once.
    func shutdown() async
}
