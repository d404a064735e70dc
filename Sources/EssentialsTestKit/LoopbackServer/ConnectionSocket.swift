import EssentialsTools

/// The socket of one connection. Only its own thread reads, writes and closes it. Any thread may shut it down; after
/// `close` that has no effect, because the descriptor may have been reused.
final class ConnectionSocket: Sendable {
    let descriptor: Int32
    private let isClosed = Mutex(false)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close()
    }

    /// Interrupts the call in which the connection's thread is blocked.
    func shutDown() {
        isClosed.withLock { isClosed in
            if !isClosed { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    func close() {
        isClosed.withLock { isClosed in
            if !isClosed { Glibc.close(descriptor) }
            isClosed = true
        }
    }

    /// Closes with RST.
    func reset() {
        var rule = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &rule, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Closes with FIN. Unread bytes are read first, because closing a socket with unread bytes sends RST. With
    /// `patience`, the peer has that long to stop sending, unless `interruption` is signalled.
    func finish(patience: Duration = .zero, interruption: Wakeup) {
        _ = shutdown(descriptor, Int32(SHUT_WR))
        let deadline = ContinuousClock.now + patience
        drain: while true {
            switch discard() {
            case .some(true): continue
            case .some(false): break drain
            case .none:
                let left = deadline - .now
                guard left > .zero else { break drain }
                let ready = Wakeup.wait(for: [descriptor, interruption.descriptor], timeout: left)
                if ready.isEmpty || ready.contains(interruption.descriptor) { break drain }
            }
        }
        close()
    }

    /// Reads and discards bytes: true after some bytes, false at the end of the stream, `nil` if
    /// nothing is available now.
    private func discard() -> Bool? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { return true }
        if count < 0, errno == EINTR { return true }
        return count < 0 && errno == EAGAIN ? nil : false
    }
}
