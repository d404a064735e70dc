import CEssentialsTest
import COpenSSL
import Glibc

@testable import EssentialsTestKit

/// The bytes of one connection, over TLS or not. No call blocks.
final class Wire {
    enum Outcome {
        case moved(Int)
        /// The socket has nothing to read, or takes no more.
        case blocked
        /// The peer has closed the connection, or it is broken.
        case ended
    }

    let descriptor: Int32
    /// OpenSSL's `SSL *`; `nil` without TLS. It is created by `init`, freed by `deinit` and never shared.
    private let tls: OpaquePointer?

    /// Takes over the descriptor unless it returns `nil`.
    init?(descriptor: Int32, tls context: TLSContext?) {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else { return nil }
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        if let context {
            guard let tls = SSL_new(OpaquePointer(cet_context_handle(context.pointer))) else { return nil }
            guard SSL_set_fd(tls, descriptor) == 1 else {
                SSL_free(tls)
                return nil
            }
            // A write that is repeated may come from another place in memory, and may be of another length.
            let mode = Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
            SSL_ctrl(tls, SSL_CTRL_MODE, mode, nil)
            self.tls = tls
        } else {
            tls = nil
        }
        self.descriptor = descriptor
    }

    deinit {
        SSL_free(tls)
        close(descriptor)
    }

    var isSecure: Bool { tls != nil }

    // MARK: TLS

    /// Continues the handshake; `.moved` when it is complete.
    func handshake() -> Outcome {
        guard let tls else { return .moved(0) }
        ERR_clear_error()
        let result = SSL_accept(tls)
        return result == 1 ? .moved(0) : stopped(tls, result)
    }

    /// The protocol that ALPN selected.
    var applicationProtocol: String? {
        guard let tls else { return nil }
        var name: UnsafePointer<UInt8>?
        var size: UInt32 = 0
        SSL_get0_alpn_selected(tls, &name, &size)
        return name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(size)), as: UTF8.self) }
    }

    private func stopped(_ tls: OpaquePointer, _ result: Int32) -> Outcome {
        let code = SSL_get_error(tls, result)
        ERR_clear_error()
        return code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE ? .blocked : .ended
    }

    // MARK: Bytes

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        guard let tls else { return outcome { recv(descriptor, buffer.baseAddress, buffer.count, 0) } }
        ERR_clear_error()
        let count = SSL_read(tls, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .moved(Int(count)) : stopped(tls, count)
    }

    /// Writes the first of the bytes; `.moved` says how many.
    func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        guard let tls else { return outcome { send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) } }
        ERR_clear_error()
        let count = SSL_write(tls, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? .moved(Int(count)) : stopped(tls, count)
    }

    /// Sends TLS's close_notify and FIN. What the peer still sends can be read.
    func finish() {
        if let tls, SSL_is_init_finished(tls) == 1 {
            ERR_clear_error()
            SSL_shutdown(tls)
            ERR_clear_error()
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    private func outcome(of call: () -> Int) -> Outcome {
        while true {
            let count = call()
            if count > 0 { return .moved(count) }
            if count < 0, errno == EINTR { continue }
            return count < 0 && errno == EAGAIN ? .blocked : .ended
        }
    }
}
