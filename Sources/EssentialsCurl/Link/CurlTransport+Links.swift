import EssentialsTools
public import EssentialsTransport

extension CurlTransport: LinkOpening {
    /// Opens a connection for a protocol other than HTTP; see the protocol.
    ///
    /// The thread that does all input and output of the transport also serves its links and calls their receivers. A
    /// program whose requests must not wait for its links gives the links a transport of their own.
    public func openLink(
        to target: LinkTarget, receiver: any LinkReceiver
    ) async throws(RequestFailure) -> any ByteLink {
        var options = TransportOptions()
        options.connectTimeout = target.connectTimeout
        // Only the peer and the time limit of this request are used.
        let prepared = try prepare(
            TransportRequest(.get, RequestURL(origin: target.origin, path: "/"), options: options))
        let owner = self.owner(of: target.origin)
        let channel = LinkChannel(
            prepared: prepared, receiver: receiver, maximumUnsent: target.maximumUnsentBytes, engine: owner.engine)
        let outcome = await withTaskCancellationHandler {
            if !owner.engine.post(.openLink(channel)) { channel.fail(Failures.closed(prepared)) }
            return await channel.outcome.value()
        } onCancel: {
            channel.cancel()
        }
        if let failure = outcome { throw failure }
        // The link was opened at the moment of the cancellation, which has closed it again. A link that its peer has closed
        // meanwhile is returned, and its receiver knows why it ended.
        guard !channel.isCancelled else { throw Failures.cancelledLink(prepared) }
        return CurlLink(channel, owner: owner)
    }
}
