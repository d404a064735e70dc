internal import CEssentialsTest
import EssentialsTools

/// The byte stream of one connection, plain or over TLS. Used only on the connection's thread.
final class ServerChannel {
    /// How the server ends a connection.
    enum End {
        /// An orderly close. `patience` is how long a client that is still sending has to stop.
        case orderly(patience: Duration)
        /// FIN without TLS's close_notify.
        case truncated
        /// RST.
        case reset
    }

    private let socket: ConnectionSocket
    // Created by `secure`, freed by `end` or `deinit`, and never shared: only this object's thread uses it.
    private var tls: OpaquePointer?
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(_ socket: ConnectionSocket) {
        self.socket = socket
    }

    deinit {
        cet_tls_free(tls)
    }

    /// Performs the server's side of a TLS handshake; `nil` if out of memory.
    func secure(_ context: TLSContext, connection: Int) -> HandshakeRecord? {
        guard let tls = cet_tls_create(context.pointer, socket.descriptor) else { return nil }
        self.tls = tls
        _ = cet_tls_accept(tls)
        let certificate = cet_tls_peer_certificate(tls)
        defer { free(certificate) }
        return HandshakeRecord(
            connection: connection, facts: cet_tls_handshake(tls),
            clientCertificatePEM: certificate.map { String(cString: $0) })
    }

    /// Reads the next available bytes, blocking until there are some; `nil` at the end of the connection.
    func read() -> ArraySlice<UInt8>? {
        let count: Int
        if let tls {
            count = cet_tls_read(tls, &buffer, buffer.count)
        } else {
            count = retrying { recv(socket.descriptor, &buffer, buffer.count, 0) }
        }
        return count > 0 ? buffer[..<count] : nil
    }

    /// Writes all bytes, and returns whether that succeeded.
    func write(_ bytes: [UInt8]) -> Bool {
        if let tls { return cet_tls_write(tls, bytes, bytes.count) }
        var sent = 0
        while sent < bytes.count {
            // The pointer is used only within the call.
            let count = retrying {
                bytes[sent...].withUnsafeBytes {
                    send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    func end(_ end: End, interruption: Wakeup) {
        if case .orderly = end, let tls { cet_tls_finish(tls) }
        cet_tls_free(tls)
        tls = nil
        switch end {
        case .orderly(let patience): socket.finish(patience: patience, interruption: interruption)
        case .truncated: socket.finish(interruption: interruption)
        case .reset: socket.reset()
        }
    }

    private func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
