import CEssentials
import EssentialsTools
import EssentialsTransport

// Links live beside the exchanges: they have no lane and no deadline but the one for connecting, which libcurl keeps.
extension EngineThread {
    /// The maximum number of links of a thread. A further one fails as `queueFull`. Each of them costs three descriptors, and
    /// each turn of the thread looks at the timers of all of them.
    static let linksMaximum = 64

    // MARK: Opening

    func open(_ channel: LinkChannel) {
        guard !channel.isClosed else { return channel.fail(Failures.cancelledLink(channel.prepared)) }
        guard links.count < Self.linksMaximum else {
            return channel.fail(Failures.tooManyLinks(channel.prepared, maximum: Self.linksMaximum))
        }
        guard let link = ce_link_create(loop, trust.pointer, multis.proxyTrust?.pointer) else {
            return channel.fail(Failures.noMemory(channel.prepared))
        }
        channel.link = link
        ce_link_set_owner(link, Unmanaged.passUnretained(channel).toOpaque())
        links[ObjectIdentifier(channel)] = channel
        var (code, multiCode): (Int32, Int32) = (0, 0)
        let refused = channel.prepared.withRequest(
            of: ExchangeMachine(connection: .fresh), waitsForMultiplexing: false, idleSeconds: nil
        ) { ce_link_open(link, &$0, &code, &multiCode) }
        if let refused {
            end(channel, Failures.option(String(cString: refused), code, channel.prepared))
        } else if multiCode != 0 {
            end(channel, Failures.multi(multiCode, channel.prepared))
        } else {
            openingLinks.append(channel)
        }
    }

    /// Serves the links whose connecting has ended or whose sockets had events.
    func serveLinks() {
        guard !links.isEmpty || !openingLinks.isEmpty else { return }
        for channel in openingLinks {
            guard let link = channel.link else { continue }
            var code: Int32 = 0
            if ce_link_has_ended_opening(link, &code) { finishOpening(channel, link, code) }
        }
        openingLinks.removeAll { $0.link == nil || $0.isOpen }
        // A link that has more to do puts itself at the end, for the next turn.
        var ready: [LinkChannel] = []
        while let link = ce_loop_next_ready_link(loop) {
            if let channel = self.channel(of: link) { ready.append(channel) }
        }
        for channel in ready { serveReady(channel) }
    }

    private func finishOpening(_ channel: LinkChannel, _ link: OpaquePointer, _ code: Int32) {
        let (prepared, transfer) = (channel.prepared, ce_link_transfer(link))
        guard code == 0 else {
            let failure = Failures.failure(prepared, transfer, code) ?? Failures.endedLink(prepared, transfer, code)
            report(failure, of: prepared, isOfProxy: ce_transfer_report_is_of_proxy(transfer))
            end(channel, failure)
            return
        }
        if prepared.isPinned { reportMissedPins(prepared, transfer) }
        channel.isOpen = true
        watch(channel, link)
        channel.outcome.provide(nil)
        serve(channel)
    }

    // MARK: Bytes

    /// Does what a link's users want.
    func serve(_ channel: LinkChannel) {
        let wish = channel.take()
        guard let link = channel.link else { return }
        guard !wish.isClosed else {
            end(channel, Failures.cancelledLink(channel.prepared))
            return
        }
        guard channel.isOpen else { return }
        flush(channel, link)
        // TLS may hold bytes that no event reports.
        if channel.isPaused, !wish.isPaused { ce_link_note(link) }
        channel.isPaused = wish.isPaused
        watch(channel, link)
    }

    private func serveReady(_ channel: LinkChannel) {
        guard let link = channel.link, !channel.isClosed else { return }
        if channel.hasUnsent { flush(channel, link) }
        guard channel.isPaused || read(channel, link) else { return }
        watch(channel, link)
    }

    private func watch(_ channel: LinkChannel, _ link: OpaquePointer) {
        guard !ce_link_watch(link, !channel.isPaused, channel.isBlocked) else { return }
        end(channel, Failures.noDescriptor("a watched socket", .last))
    }

    /// Sends what waits. If that fails, the link ends once everything that the peer has sent was read.
    private func flush(_ channel: LinkChannel, _ link: OpaquePointer) {
        let result = channel.flush(link)
        if let code = result.failure { channel.stopSending(code) }
        if channel.sendFailure != nil || !channel.isBlocked && channel.hasUnsent { ce_link_note(link) }
        if result.hasSentAll { channel.receiver?.linkSentAll() }
    }

    /// Reads until nothing is there, the receiver wants no more, or others have their turn. Returns whether the link lives.
    private func read(_ channel: LinkChannel, _ link: OpaquePointer) -> Bool {
        var left = LinkChannel.turn
        while left > 0 {
            let wish = channel.wish
            channel.isPaused = wish.isPaused
            if wish.isPaused, !wish.isClosed { return true }
            // A link whose receiver is gone has no use.
            guard !wish.isClosed, let receiver = channel.receiver else { return end(channel, nil) }
            var count = 0
            var code: Int32 = 0
            switch ce_link_receive(link, linkBuffer.start, LinkBuffer.size, &count, &code) {
            case CE_LINK_MOVED: receiver.linkReceived(UnsafeRawBufferPointer(start: linkBuffer.start, count: count))
            case CE_LINK_BLOCKED:
                guard let code = channel.sendFailure else { return true }
                return end(channel, Failures.endedLink(channel.prepared, ce_link_transfer(link), code))
            case CE_LINK_ENDED: return end(channel, Failures.endedLink(channel.prepared, ce_link_transfer(link)))
            default: return end(channel, Failures.endedLink(channel.prepared, ce_link_transfer(link), code))
            }
            left -= count
        }
        ce_link_note(link)
        return true
    }

    // MARK: Ends

    /// Ends all links, because the thread ends.
    func endLinks() {
        for channel in links.values {
            let prepared = channel.prepared
            end(
                channel, channel.isOpen ? Failures.closed(prepared) : Failures.cancelledLink(prepared, byShutdown: true)
            )
        }
    }

    /// Ends a link, and returns `false`.
    ///
    /// - Parameter failure: The reason, unless the link's user has closed it. `nil` if its receiver is gone.
    @discardableResult
    private func end(_ channel: LinkChannel, _ failure: RequestFailure?) -> Bool {
        guard let link = channel.link else { return false }
        channel.link = nil
        channel.isOpen = false
        let wasClosed = !channel.markClosed()
        links[ObjectIdentifier(channel)] = nil
        ce_link_destroy(link)
        let ending = failure ?? Failures.cancelledLink(channel.prepared)
        if !channel.outcome.provide(ending), !wasClosed { channel.receiver?.linkEnded(ending) }
        return false
    }

    private func channel(of link: OpaquePointer) -> LinkChannel? {
        // While the link names its owner, `links` retains the owner.
        ce_link_owner(link).map { Unmanaged<LinkChannel>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// The memory into which one engine thread reads the bytes of its links.
final class LinkBuffer {
    static let size = 64 << 10

    let start = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)

    deinit { start.deallocate() }
}
