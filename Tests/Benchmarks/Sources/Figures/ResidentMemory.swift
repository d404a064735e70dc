internal import Glibc

/// The memory of this process.
package enum ResidentMemory {
    /// The peak memory in bytes since the process began, or since ``forgetPeak()``.
    ///
    /// It is that of the kernel's status file, because the figure of `getrusage` survives `exec`.
    package static var peak: Int { number("VmHWM:") }
    /// The memory in bytes.
    package static var now: Int { number("VmRSS:") }

    /// Lets the present memory be the peak; see proc(5), clear_refs.
    package static func forgetPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }

    private static func number(_ name: String) -> Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            guard strncmp(line, name, name.utf8.count) == 0 else { continue }
            return line[name.utf8.count...].withUnsafeBufferPointer { $0.baseAddress.map { atol($0) } ?? 0 } << 10
        }
        return 0
    }
}
