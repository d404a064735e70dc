import Glibc

/// A socket to the kernel's routing tables, not blocking and closed on exec. Used by one thread at a time.
struct NetlinkSocket: Sendable {
    /// What came in.
    enum Received: Sendable, Hashable {
        /// A datagram from the kernel.
        case datagram([UInt8])
        /// One that another process sent, or that was longer than what is read; its content does not count.
        case foreign, cut
        /// The kernel had more to say than fitted in.
        case overrun
        case nothing
        case failed(Int32)
    }

    let descriptor: Int32
    /// Announcements and single answers are of a few KiB at most; a longer one counts as ``Received/cut``.
    private static let maximumDatagram = 32 << 10
    /// struct sockaddr_nl: family, padding, port, groups.
    private static let addressSize = 12

    /// Opens a socket and joins these groups, in the network namespace of the calling thread, where it stays.
    init(groups: UInt32) throws(ReachabilityError) {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_NETLINK, type, NetlinkNumber.routeProtocol)
        guard descriptor >= 0 else { throw .system("The system gave no netlink socket") }
        guard Self.withAddress(groups: groups, { bind(descriptor, $0, $1) }) == 0 else {
            let error = ReachabilityError.system("The netlink socket could not join its groups")
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Frees the descriptor. Once.
    func close() { Glibc.close(descriptor) }

    /// Sends a message to the kernel, and gives the error number or 0.
    func send(_ message: NetlinkMessage) -> Int32 {
        let bytes = message.bytes
        let count = Self.withAddress(groups: 0) { address, size in
            sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, size)
        }
        return count == bytes.count ? 0 : (count < 0 ? errno : EMSGSIZE)
    }

    /// Takes the next datagram without waiting.
    func receive() -> Received {
        var buffer = [UInt8](repeating: 0, count: Self.maximumDatagram)
        var sender = [UInt8](repeating: 0, count: Self.addressSize)
        var senderSize = socklen_t(sender.count)
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC)
        while true {
            let count = sender.withUnsafeMutableBytes { sender in
                recvfrom(
                    descriptor, &buffer, buffer.count, flags,
                    sender.baseAddress?.assumingMemoryBound(to: sockaddr.self), &senderSize)
            }
            if count >= 0 { return Self.judge(buffer, count: count, sender: sender, senderSize: Int(senderSize)) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .nothing
            case ENOBUFS: return .overrun
            default: return .failed(errno)
            }
        }
    }

    /// What a datagram counts as. Any process may send one that looks like the kernel's; only the port tells.
    static func judge(_ buffer: [UInt8], count: Int, sender: [UInt8], senderSize: Int) -> Received {
        guard senderSize == addressSize, sender[...].number(at: 4, as: UInt32.self) == 0 else { return .foreign }
        return count > buffer.count ? .cut : .datagram(Array(buffer.prefix(count)))
    }

    /// The kernel's address, or this socket's own with groups.
    private static func withAddress<Result>(
        groups: UInt32, _ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result
    ) -> Result {
        var address: [UInt8] = []
        address.append(number: UInt16(AF_NETLINK))
        address.append(number: UInt16(0))
        address.append(number: UInt32(0))
        address.append(number: groups)
        return address.withUnsafeBytes { bytes in
            body(bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }
}
