import EssentialsTools

/// The processor time of this process.
struct ProcessorTime: Sendable, Equatable {
    var user = Duration.zero
    var system = Duration.zero

    /// The time since the start of the process, of all its threads (getrusage(2)).
    static var spent: ProcessorTime {
        var usage = rusage()
        guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return ProcessorTime() }
        return ProcessorTime(user: duration(usage.ru_utime), system: duration(usage.ru_stime))
    }

    static func - (later: ProcessorTime, earlier: ProcessorTime) -> ProcessorTime {
        ProcessorTime(user: later.user - earlier.user, system: later.system - earlier.system)
    }

    private static func duration(_ time: timeval) -> Duration {
        .seconds(time.tv_sec) + .microseconds(time.tv_usec)
    }
}
