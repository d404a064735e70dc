import Glibc
import ServiceEssentials

/// Writes all of a piece to a descriptor, however often the system takes only a part.
struct DescriptorWriter: Sendable {
    let descriptor: Int32
    /// What messages call it.
    let name: String

    /// - Throws: `file` with the system's reason.
    func write(_ bytes: UnsafeRawBufferPointer) throws(RequestFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                waitForRoom()
            } else if errno != EINTR {
                throw SystemError.file("\(name) could not be written to", remedy: remedy(errno))
            }
        }
    }

    private func remedy(_ code: Int32) -> String? {
        code == EPIPE ? "The program that reads it has ended; let it read to the end." : nil
    }

    /// A descriptor that was inherited may be non-blocking.
    private func waitForRoom() {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, -1)
    }
}
