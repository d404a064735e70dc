extension RequestFailure {
    /// How far a failed request came, as far as the transport knows it.
    ///
    /// ```swift
    /// do throws(RequestFailure) {
    ///     try await requests.post("orders", body: order)
    /// } catch where error.isUnprocessed {
    ///     sendToAnotherServer()
    /// }
    /// ```
    ///
    /// A reason does not say this: a connection can fail before and after the first byte of a request.
    public enum Transmission: Sendable, Hashable {
        /// No byte of the request was passed to a connection.
        case unsent
        /// The server refused the request's HTTP/2 stream without processing the request (RFC 9113, 8.7).
        case refused
        /// The request was sent, at least in part. The server may have processed it.
        case sent
    }

    /// Whether the server certainly did not process the request, so that it can be sent again whatever its method.
    public var isUnprocessed: Bool { transmission == .unsent || transmission == .refused }
}
