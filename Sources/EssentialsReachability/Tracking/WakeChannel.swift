import Glibc

/// Wakes a thread that waits in poll(2). A pair of sockets: Swift imports neither eventfd(2) nor a pipe that is closed
/// on exec from its first moment.
struct WakeChannel: Sendable {
    /// Readable when there was a signal.
    let descriptor: Int32
    private let sender: Int32

    init() throws(ReachabilityError) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw .system("The system gave no pair of sockets") }
        (descriptor, sender) = (pair[0], pair[1])
    }

    /// From any thread, until ``close()``. It never blocks.
    func signal() {
        var byte: UInt8 = 1
        // A full buffer wakes as well as one more byte does.
        _ = send(sender, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Takes all signals.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(descriptor, &bytes, bytes.count) == bytes.count {}
    }

    /// Frees both descriptors. Once.
    func close() {
        Glibc.close(descriptor)
        Glibc.close(sender)
    }
}
