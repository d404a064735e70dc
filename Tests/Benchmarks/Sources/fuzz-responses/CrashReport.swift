internal import Glibc

/// Prints the responses that were being read when a signal ends the process.
enum CrashReport {
    private static let lineSize = 64
    private static let lanes = 4
    // `nonisolated(unsafe)`: allocated once and never freed. Each lane writes its own line, and only the signal handler
    // reads them, when the process is about to end.
    private nonisolated(unsafe) static let text = UnsafeMutablePointer<UInt8>.allocate(capacity: lineSize * (lanes + 1))

    /// - Parameter seed: The seed for the report.
    static func install(seed: UInt64) {
        text.initialize(repeating: 0x20, count: lineSize * (lanes + 1))
        write("a signal ended the process; seed \(seed)", line: 0)
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
            signal(number) { number in
                _ = Glibc.write(STDERR_FILENO, CrashReport.text, CrashReport.lineSize * (CrashReport.lanes + 1))
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    /// Records the response that a lane is about to receive.
    static func note(_ number: Int, of kind: Lane.Kind, lane: Int) {
        write("--lane \(kind.rawValue) --only \(number)", line: lane + 1)
    }

    private static func write(_ line: String, line index: Int) {
        let start = text + index * lineSize
        var bytes = Array(line.utf8.prefix(lineSize - 1))
        bytes += [UInt8](repeating: 0x20, count: lineSize - 1 - bytes.count) + [0x0a]
        for (offset, byte) in bytes.enumerated() { start[offset] = byte }
    }
}
