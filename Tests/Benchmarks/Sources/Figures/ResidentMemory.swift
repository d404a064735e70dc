internal import Glibc

/// The memory of this process.
package enum ResidentMemory {
    /// The peak memory in bytes.
    package static var peak: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss << 10
    }
}
