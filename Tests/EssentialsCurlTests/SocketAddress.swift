import Glibc

/// The address where a server of the tests listens.
enum SocketAddress: Sendable {
    /// 127.0.0.1; port 0 lets the system choose.
    case loopback(port: UInt16)
    /// A Unix-domain socket with a path.
    case path(String)
    /// A Unix-domain socket in the abstract namespace.
    case abstract(String)

    var family: Int32 {
        if case .loopback = self { AF_INET } else { AF_UNIX }
    }

    /// Lends the address to a call. Every kind of address is passed as `sockaddr`; the pointer is valid only during the
    /// call.
    func call<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch self {
        case .loopback(let port):
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            return Self.lend(name, socklen_t(MemoryLayout<sockaddr_in>.size), body)
        case .path(let path): return Self.unix(Array(path.utf8) + [0], body)
        case .abstract(let name): return Self.unix([0] + Array(name.utf8), body)
        }
    }

    private static func unix<Result>(
        _ bytes: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        // A path that does not fit is truncated.
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes.prefix($0.count)) }
        let used = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: name.sun_path) + bytes.count
        return lend(name, socklen_t(min(used, MemoryLayout<sockaddr_un>.size)), body)
    }

    private static func lend<Name, Result>(
        _ name: Name, _ size: socklen_t, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
        }
    }
}
