import Glibc
import ServiceEssentials

/// Standard output or standard error, unbuffered.
struct StandardStream: Sendable {
    private let writer: DescriptorWriter

    static let output = StandardStream(
        writer: DescriptorWriter(descriptor: STDOUT_FILENO, name: "Standard output"))
    static let error = StandardStream(writer: DescriptorWriter(descriptor: STDERR_FILENO, name: "Standard error"))

    /// Writes a line and ignores failures, because they could not be reported.
    func printLine(_ text: String) { try? write(text + "\n") }

    /// - Throws: `file` if the stream is closed or full.
    func write(_ text: String) throws(RequestFailure) {
        try write(Array(text.utf8))
    }

    /// - Throws: `file` if the stream is closed or full.
    func write(_ bytes: [UInt8]) throws(RequestFailure) {
        try bytes.span.bytes.withUnsafeBytes { bytes throws(RequestFailure) in try writer.write(bytes) }
    }

    /// - Throws: `file` if the stream is closed or full.
    func write(_ bytes: UnsafeRawBufferPointer) throws(RequestFailure) { try writer.write(bytes) }
}
