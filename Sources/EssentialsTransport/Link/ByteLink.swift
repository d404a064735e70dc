/// Opens connections for protocols other than HTTP, under the rules of a transport: names, addresses, proxies and the
/// trust policy.
public protocol LinkOpening: Sendable {
    /// Connects to a peer, and returns once both trust gates have passed. Nothing was sent to the peer before.
    ///
    /// - Parameters:
    ///   - target: The peer.
    ///   - receiver: Receives the peer's bytes. The link does not keep it alive, and once it is released, the link closes
    ///     instead of reading more. It may be called before this function returns.
    /// - Throws: The failures of a request before its first byte; `cancelled` if the calling task was cancelled or a
    ///   shutdown came before the link was open, and `closed` after a shutdown.
    func openLink(to target: LinkTarget, receiver: any LinkReceiver) async throws(RequestFailure) -> any ByteLink
}

/// The peer of a link.
public struct LinkTarget: Sendable {
    /// The peer. With `https`, the link uses TLS under the transport's trust policy; with `http`, it is not encrypted.
    public var origin: Origin
    /// The time limit for name resolution, connection and handshakes. The default is 10 seconds.
    public var connectTimeout: Duration = .seconds(10)
    /// The number of bytes that may wait to be sent. The default is 32 MiB.
    public var maximumUnsentBytes = 32 << 20

    /// Creates a target with the default of each property.
    public init(_ origin: Origin) { self.origin = origin }
}

/// A connection that carries the bytes of a protocol. It can be used from any thread.
///
/// Releasing the last reference closes it.
public protocol ByteLink: AnyObject, Sendable {
    /// Sends bytes after those that were sent before. It returns at once.
    ///
    /// - Returns: Whether the bytes were taken. They are not if the link is closed or has failed, or if more bytes than
    ///   ``LinkTarget/maximumUnsentBytes`` would wait. A single call with more bytes is taken if nothing waits.
    @discardableResult
    func send(_ bytes: consuming [UInt8]) -> Bool

    /// The number of bytes that wait to be sent.
    var unsentBytes: Int { get }

    /// Stops reading from the peer, so that the peer cannot send any more after a while. A call of the receiver that has
    /// begun is not interrupted, and one more may follow.
    func pause()

    /// Reads from the peer again.
    func resume()

    /// Closes the link. Bytes that wait are not sent. The receiver is not called any more, except for a call that has begun.
    func close()
}

/// Receives what happens on a link. All functions are called on the link's thread, one at a time, and must not block.
public protocol LinkReceiver: AnyObject, Sendable {
    /// Bytes of the peer, at least one. They are valid during the call only.
    func linkReceived(_ bytes: UnsafeRawBufferPointer)

    /// No bytes wait any more. It is called if the peer did not take all bytes at once, or if ``ByteLink/send(_:)`` has
    /// refused some because too many waited.
    func linkSentAll()

    /// The link has ended: the peer has closed it, it has failed, or its transport was shut down. It is the last call.
    /// After ``ByteLink/close()`` there is no call.
    func linkEnded(_ failure: RequestFailure)
}
