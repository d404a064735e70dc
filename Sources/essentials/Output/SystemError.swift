import Glibc
import ServiceEssentials

/// Makes failures out of `errno`.
enum SystemError {
    /// A failure `file` with the system's words for what just happened. Called before anything else can set `errno`.
    static func file(_ message: String, remedy: String? = nil) -> RequestFailure {
        RequestFailure(.file, "\(message): \(text(errno)).", remedy: remedy)
    }

    private static func text(_ code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        // The variant that Glibc gives to Swift is XSI's: it fills the buffer.
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
