import EssentialsTools
import ServiceEssentials

/// Standard output or standard error, unbuffered.
struct StandardStream: Sendable {
    private let writer: DescriptorWriter

    static let output = StandardStream(
        writer: DescriptorWriter(descriptor: STDOUT_FILENO, name: "Standard output"))
    static let error = StandardStream(writer: DescriptorWriter(descriptor: STDERR_FILENO, name: "Standard error"))

    private static let isMidLine = Atomic(false)

    /// Occupies the descriptors of standard streams that are closed, before a file or connection can get their numbers
    /// and with them what is printed. Reading or printing then fails with EBADF.
    static func occupyClosed() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this descriptor.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Whether the last byte of standard output is not a line break.
    static var isOutputMidLine: Bool { isMidLine.load(ordering: .relaxed) }

    /// Writes a line and ignores failures, because they could not be reported.
    func printLine(_ text: String) { try? write(text + "\n") }

    /// - Throws: `file` if the stream is closed or full.
    func write(_ text: String) throws(RequestFailure) {
        try write(Array(text.utf8))
    }

    /// - Throws: `file` if the stream is closed or full.
    func write(_ bytes: [UInt8]) throws(RequestFailure) {
        try bytes.span.bytes.withUnsafeBytes { bytes throws(RequestFailure) in try write(bytes) }
    }

    /// - Throws: `file` if the stream is closed or full.
    func write(_ bytes: UnsafeRawBufferPointer) throws(RequestFailure) {
        if writer.descriptor == STDOUT_FILENO, let last = bytes.last {
            Self.isMidLine.store(last != UInt8(ascii: "\n"), ordering: .relaxed)
        }
        try writer.write(bytes)
    }

    /// Ends an unfinished line of standard output, if both streams are the terminal, so that an error has its own line.
    static func endLine() {
        guard isOutputMidLine, isatty(STDOUT_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return }
        output.printLine("")
    }
}
