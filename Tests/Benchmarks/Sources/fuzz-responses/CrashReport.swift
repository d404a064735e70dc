internal import Glibc

/// Says on standard error which responses were read when a signal ends the process.
enum CrashReport {
    private static let lineSize = 64
    private static let lanes = 4
    // Argument for nonisolated(unsafe): allocated once and never freed. Each lane writes its own line, and the signal's
    // handler reads them when nothing is to be saved any more.
    private nonisolated(unsafe) static let text = UnsafeMutablePointer<UInt8>.allocate(capacity: lineSize * (lanes + 1))

    /// - Parameter seed: Named in the report.
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

    /// Notes which response a lane is about to get.
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
