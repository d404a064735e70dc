import EssentialsTransport
import Glibc
import ServiceEssentials

/// A port of this machine that refuses connections. It is bound, so that no server gets it, and does not listen.
final class RefusingPort: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        // The pointers are valid during the calls, and have the size of the address.
        let isBound = withUnsafeMutablePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        let code = errno
        port = UInt16(bigEndian: name.sin_port)
        guard isBound else { throw SystemError(code: code) }
    }

    deinit { close(descriptor) }
}
