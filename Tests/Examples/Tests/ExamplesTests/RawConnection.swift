import Foundation
import Glibc

/// A TCP connection to this machine, on which a test sends any bytes.
final class RawConnection: Sendable {
    private let descriptor: Int32

    /// Connects to a port of 127.0.0.1 or of ::1.
    init(port: Int, isIPv6: Bool = false) throws {
        descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = in_port_t(port).bigEndian
        four.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = four.sin_port
        six.sin6_addr = in6addr_loopback
        let result = isIPv6 ? connected(&six) : connected(&four)
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    private func connected<Address>(_ address: inout Address) -> Int32 {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    /// Sends a text, and ignores that the peer has closed.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// What the peer sends until it contains a text, or until the peer closes; `nil` if neither happens in time.
    func text(until end: String? = nil, within limit: Duration = .seconds(10)) async throws -> String? {
        let deadline = ContinuousClock.now + limit
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while ContinuousClock.now < deadline {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                received += buffer[..<count]
                let text = String(decoding: received, as: UTF8.self)
                if let end, text.contains(end) { return text }
            } else if count == 0 || errno != EAGAIN {
                return String(decoding: received, as: UTF8.self)
            } else {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        return nil
    }
}
