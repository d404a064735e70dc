import EssentialsTools
import EssentialsTransport
import ServiceEssentials

/// Writes complete buffers to a descriptor, even if the system accepts only parts of them.
struct DescriptorWriter: Sendable {
    let descriptor: Int32
    /// The name for messages.
    let name: String

    /// - Throws: `file` with the system's error.
    func write(_ bytes: UnsafeRawBufferPointer) throws(RequestFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                waitForRoom()
            } else if errno == EPIPE {
                let error = SystemError.last
                throw RequestFailure(
                    .file, "\(name) could not be written to: \(error).",
                    remedy: "The reading program has ended; let it read to the end.",
                    underlying: descriptor == STDOUT_FILENO ? ClosedOutput() : nil)
            } else if errno != EINTR {
                throw RequestFailure.file("\(name) could not be written to")
            }
        }
    }

    /// Waits until an inherited, non-blocking descriptor accepts bytes.
    private func waitForRoom() {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, -1)
    }
}

/// The program that read standard output has ended. It is the underlying error of the failure.
struct ClosedOutput: Error {
    /// The exit code of a process that SIGPIPE ends.
    static let exitCode = 128 + SIGPIPE
}

extension RequestFailure {
    /// Creates a `file` failure with the system's text for `errno`. Call it before anything else can change `errno`.
    static func file(_ message: String, remedy: String? = nil) -> RequestFailure {
        RequestFailure(.file, "\(message): \(SystemError.last).", remedy: remedy)
    }
}
