import Dispatch
import EssentialsTools
import Glibc
import Testing

/// A terminal for a process, whose output is read until the process has closed it.
final class PseudoTerminal: Sendable {
    /// The end that the process writes to.
    let programEnd: Int32
    private let readerEnd: Int32
    private let bytes = Mutex<[UInt8]>([])
    private let group = DispatchGroup()

    init() throws {
        var (reader, program): (Int32, Int32) = (-1, -1)
        var settings = termios()
        // Without processing, a line break stays one byte.
        cfmakeraw(&settings)
        try #require(openpty(&reader, &program, nil, &settings, nil) == 0, "no terminal could be opened")
        for end in [reader, program] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readerEnd, programEnd) = (reader, program)
    }

    /// Closes this process's copy of the program's end, and reads until the program closes its own.
    func startReading() {
        close(programEnd)
        DispatchQueue(label: "tool.terminal").async(group: group) { [self] in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = read(readerEnd, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                // The end of the program is reported as EIO.
                guard count > 0 else { break }
                let part = buffer[..<count]
                bytes.withLock { $0 += part }
            }
            close(readerEnd)
        }
    }

    /// All output, after the process has ended.
    func contents() async -> [UInt8] {
        await withCheckedContinuation { continuation in
            group.notify(queue: .global()) { continuation.resume() }
        }
        return bytes.withLock { $0 }
    }
}
