/// Sends one request over one hop. It is the only interface between requests and the network.
///
/// A transport does not follow redirects, store cookies or check the status, and repeats only requests that are safe to
/// repeat. It can be used from any task. A request that is cancelled by its task, a ``Cancellation`` or a shutdown
/// fails as `cancelled`.
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
/// A transport only has to implement ``send(_:)`` and ``shutdown()``. Each request then runs in a new task, so that a
/// ``Cancellation`` can end it. A transport that can end requests without a task, such as the one over libcurl, also
/// implements ``send(_:cancellation:)``. This saves six allocations, about two microseconds and usually a thread switch
/// for each request. A transport that wraps another one implements it to pass the cancellation on:
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
    /// - Throws: The failure that ended the exchange; `cancelled` if the calling task was cancelled, and `closed` after
    ///   ``shutdown()``.
    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse

    /// Sends the request like ``send(_:)``, and ends it if the cancellation is cancelled.
    ///
    /// The default runs ``send(_:)`` in a task that the cancellation cancels.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - cancellation: Ends the request from outside until this function returns. It does not end a streamed body.
    /// - Throws: The failures of ``send(_:)``; `cancelled` if the cancellation ended the request.
    func send(
        _ request: TransportRequest, cancellation: Cancellation
    ) async throws(RequestFailure) -> TransportResponse

    /// Cancels the running requests, closes all connections and returns when they are closed. Further calls return at
    /// once.
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
