import EssentialsTools
import Glibc

/// A blocking socket. Its thread reads, writes and closes; any thread may shut it down.
final class SocketChannel: Sendable {
    let descriptor: Int32
    private let isClosed = Mutex(false)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    /// Connects to a port of 127.0.0.1. It is `nil` if there is no listener.
    convenience init?(port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        self.init(descriptor)
        guard SocketAddress.loopback(port: port).call({ Glibc.connect(descriptor, $0, $1) }) == 0 else { return nil }
    }

    /// Returns bytes that have arrived, at most this number. The result is empty at the end.
    func read(_ count: Int = 64 << 10) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, recv(descriptor, buffer.baseAddress, count, 0))
        }
    }

    /// Returns exactly this number of bytes, or `nil` if the peer ends earlier.
    func readAll(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = read(count - bytes.count)
            guard !piece.isEmpty else { return nil }
            bytes += piece
        }
        return bytes
    }

    func readToEnd() -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = read()
            guard !piece.isEmpty else { return bytes }
            bytes += piece
        }
    }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Copies both ways until both sides have ended. `watch` receives the bytes that this side sends.
    func relay(with other: SocketChannel, watch: ([UInt8]) -> Void = { _ in }) {
        var open: [SocketChannel] = [self, other]
        while !open.isEmpty {
            var entries = open.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, nfds_t(entries.count), -1) > 0 || errno == EINTR else { return }
            for (entry, source) in zip(entries, open) where entry.revents != 0 {
                let target = source === self ? other : self
                let piece = source.read()
                if source === self, !piece.isEmpty { watch(piece) }
                guard piece.isEmpty || !target.write(piece) else { continue }
                _ = shutdown(target.descriptor, Int32(SHUT_WR))
                open.removeAll { $0 === source }
            }
        }
    }

    /// Ends any call that blocks its thread.
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
}
