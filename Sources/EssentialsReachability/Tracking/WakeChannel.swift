import EssentialsTools

/// Wakes a thread that waits in poll(2). It is a pair of sockets, because Swift imports neither eventfd(2) nor
/// pipe2(2), which creates close-on-exec pipes.
struct WakeChannel: Sendable {
    /// A descriptor that is readable after a signal.
    let descriptor: Int32
    private let sender: Int32

    init() throws(ReachabilityError) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw .system("The system could not create a pair of sockets")
        }
        (descriptor, sender) = (pair[0], pair[1])
    }

    /// Wakes the thread. It can be called from any thread until ``close()``, and it never blocks.
    func signal() {
        var byte: UInt8 = 1
        // If the buffer is full, the thread wakes anyway.
        _ = send(sender, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Consumes all signals.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(descriptor, &bytes, bytes.count) == bytes.count {}
    }

    /// Closes both descriptors. It must be called exactly once.
    func close() {
        Glibc.close(descriptor)
        Glibc.close(sender)
    }
}
