/// Sends one request over one hop: the only seam between what is requested and how it travels.
///
/// A transport follows no redirect, keeps no cookie, repeats nothing that is not safe to repeat, and judges no status. It
/// is used from any task; every cancellation, by task, ``Cancellation`` or shutdown, is the reason `cancelled`.
///
/// ```swift
/// struct Canned: Transport {
///     func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
///         TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
///     }
///     func shutdown() async {}
/// }
/// ```
///
/// ``send(_:)`` is all that a transport has to implement. Its requests then run in tasks of their own, so that a
/// ``Cancellation`` can end them. A transport that can end its requests without a task, as libcurl's can, implements
/// ``send(_:cancellation:)`` too, which saves six allocations, about two microseconds and mostly a change of thread for
/// each request. So does a transport that wraps another one and passes the cancellation on:
///
/// ```swift
/// struct Counting: Transport {
///     let transport: CurlTransport
///     let counter: Counter
///
///     func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
///         try await send(request, cancellation: Cancellation())
///     }
///     func send(
///         _ request: TransportRequest, cancellation: Cancellation
///     ) async throws(RequestFailure) -> TransportResponse {
///         counter.add(1)
///         return try await transport.send(request, cancellation: cancellation)
///     }
///     func shutdown() async { await transport.shutdown() }
/// }
/// ```
public protocol Transport: Sendable {
    /// Sends the request and waits for the response's head, and for its body unless it is streamed.
    ///
    /// - Throws: the failure that ended the exchange; `cancelled` if the calling task was cancelled, `closed` after
    ///   ``shutdown()``.
    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse

    /// Sends the request as ``send(_:)`` does, and ends it when the cancellation says so.
    ///
    /// The default runs ``send(_:)`` in a task that the cancellation cancels.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - cancellation: Ends the request from outside until this function returns. It does not end the body of a
    ///     response that is streamed.
    /// - Throws: as ``send(_:)``; `cancelled` if the cancellation ended the request.
    func send(
        _ request: TransportRequest, cancellation: Cancellation
    ) async throws(RequestFailure) -> TransportResponse

    /// Cancels the running requests, closes all connections and returns when that is done. Further calls return at once.
    func shutdown() async
}

extension Transport {
    /// Runs ``send(_:)`` in a task that the cancellation cancels.
    public func send(
        _ request: TransportRequest, cancellation: Cancellation
    ) async throws(RequestFailure) -> TransportResponse {
        try await cancellation.runTask(host: request.url.origin.host.text) { () throws(RequestFailure) in
            try await send(request)
        }
    }
}
