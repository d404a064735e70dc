internal import CEssentialsTest
import EssentialsTools

/// A non-blocking, close-on-exec listening socket on a loopback address.
struct LoopbackListener: Sendable {
    let descriptor: Int32
    let port: UInt16

    init(address: ServerOptions.Address, port: UInt16) throws(TestKitError) {
        let family = address == .ipv4 ? AF_INET : AF_INET6
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw Self.failure("making a socket") }
        var isBound = false
        defer { if !isBound { Glibc.close(descriptor) } }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard Self.bind(descriptor, address, port) == 0, listen(descriptor, SOMAXCONN) == 0 else {
            throw Self.failure("listening on port \(port)")
        }
        guard let bound = Self.boundPort(descriptor) else { throw Self.failure("asking for the port") }
        isBound = true
        self.descriptor = descriptor
        self.port = bound
    }

    /// Accepts the next pending connection; `nil` if there is none.
    func accept() -> Int32? {
        let accepted = cet_accept(descriptor)
        return accepted < 0 ? nil : accepted
    }

    func close() {
        Glibc.close(descriptor)
    }

    // The socket calls take every address type as `sockaddr`; the rebinding lasts for the call only.
    private static func bind(_ descriptor: Int32, _ address: ServerOptions.Address, _ port: UInt16) -> Int32 {
        switch address {
        case .ipv4:
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
            return withUnsafePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .ipv6:
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = port.bigEndian
            name.sin6_addr = in6addr_loopback
            return withUnsafePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
    }

    private static func boundPort(_ descriptor: Int32) -> UInt16? {
        var name = sockaddr_in6()  // large enough for both families; the port has the same offset in both
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return code == 0 ? UInt16(bigEndian: name.sin6_port) : nil
    }

    private static func failure(_ what: String) -> TestKitError {
        TestKitError("The loopback server failed at \(what)", errorNumber: errno)
    }
}
