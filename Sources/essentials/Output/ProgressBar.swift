import EssentialsTools
import ServiceEssentials

/// A line on a terminal that shows the progress of a transfer.
///
/// ```
/// [############            ]  50 %  512.0 MB of 1.0 GB  98.2 MB/s  0:05 left
/// ```
enum ProgressBar {
    /// The width of the bar itself in characters.
    private static let barWidth = 24

    /// Reports progress on standard error if it is a terminal that can move its cursor; otherwise returns `nil`.
    static func report(verb: String) -> ProgressReport? {
        let terminal = getenv("TERM").map { String(cString: $0) }
        guard isatty(STDERR_FILENO) == 1, terminal != "dumb" else { return nil }
        return ProgressReport(every: .milliseconds(100), now: clock()) { progress in
            // Returns to the start of the line and erases the remains of a longer text.
            try? StandardStream.error.write("\r\(text(of: progress, verb: verb))\u{1B}[K")
        } end: {
            StandardStream.error.printLine("")
        }
    }

    /// The line for a progress value.
    static func text(of progress: TransferProgress, verb: String) -> String {
        var parts: [String] = []
        if let fraction = progress.fraction {
            let filled = Int(fraction * Double(barWidth))
            let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: barWidth - filled)
            let percent = "\(Int(fraction * 100))"
            parts.append("[\(bar)] \(String(repeating: " ", count: max(0, 3 - percent.count)))\(percent) %")
        }
        let expected = progress.expected.map { " of \(amount(Double($0)))" } ?? " \(verb)"
        parts.append(amount(Double(progress.bytes)) + expected)
        parts.append("\(amount(progress.rate))/s")
        if let remaining = progress.remaining, progress.fraction != 1 { parts.append("\(time(remaining)) left") }
        return parts.joined(separator: "  ")
    }

    /// Bytes in units of powers of 1,000.
    static func amount(_ bytes: Double) -> String {
        var value = max(0, bytes)
        var units = ["B", "kB", "MB", "GB", "TB"][...]
        while value >= 999.5, units.count > 1 {
            value /= 1_000
            units = units.dropFirst()
        }
        guard units.first != "B" else { return "\(Int(value)) B" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units.first ?? "")"
    }

    private static func time(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        let (minutes, rest) = (seconds / 60, seconds % 60)
        let shown = "\(rest < 10 ? "0" : "")\(rest)"
        guard minutes >= 60 else { return "\(minutes):\(shown)" }
        return "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60):\(shown)"
    }

    private static func clock() -> @Sendable () -> Duration {
        let start = ContinuousClock.now
        return { start.duration(to: .now) }
    }
}
