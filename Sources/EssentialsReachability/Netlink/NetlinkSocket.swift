import EssentialsTools

/// A nonblocking, close-on-exec socket to the kernel's routing tables. It is used by one thread at a time.
struct NetlinkSocket: Sendable {
    /// The result of receiving.
    enum Received: Sendable, Hashable {
        /// A datagram from the kernel.
        case datagram([UInt8])
        /// A datagram from another process, or one that was too long. Its content is ignored.
        case foreign, cut
        /// The kernel dropped messages, because the receive buffer was full.
        case overrun
        case nothing
        case failed(Int32)
    }

    let descriptor: Int32
    /// The buffer size. Notifications and single replies have a few KiB at most. A longer one counts as
    /// ``Received/cut``.
    private static let maximumDatagram = 32 << 10
    /// struct sockaddr_nl: family, padding, port, groups.
    private static let addressSize = 12

    /// Opens a socket in the network namespace of the calling thread and joins the multicast groups.
    init(groups: UInt32) throws(ReachabilityError) {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_NETLINK, type, NetlinkNumber.routeProtocol)
        guard descriptor >= 0 else { throw .system("The system could not open a netlink socket") }
        guard Self.withAddress(groups: groups, { bind(descriptor, $0, $1) }) == 0 else {
            let error = ReachabilityError.system("The netlink socket could not join its groups")
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Closes the descriptor. It must be called exactly once.
    func close() { Glibc.close(descriptor) }

    /// Sends a message to the kernel, and returns the error number or 0.
    func send(_ message: NetlinkMessage) -> Int32 {
        let bytes = message.bytes
        let count = Self.withAddress(groups: 0) { address, size in
            sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, size)
        }
        return count == bytes.count ? 0 : (count < 0 ? errno : EMSGSIZE)
    }

    /// Receives the next datagram without waiting.
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

    /// Classifies a datagram. Any process can send one that resembles the kernel's, so the sender's port decides.
    static func judge(_ buffer: [UInt8], count: Int, sender: [UInt8], senderSize: Int) -> Received {
        guard senderSize == addressSize, sender[...].number(at: 4, as: UInt32.self) == 0 else { return .foreign }
        return count > buffer.count ? .cut : .datagram(Array(buffer.prefix(count)))
    }

    /// The address of the kernel, or with groups that of this socket.
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
