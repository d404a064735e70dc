import EssentialsTools
import EssentialsTransport
import ServiceEssentials

/// A line on a terminal that counts the requests of a running load.
final class BenchProgress: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Starts to print on standard error if it is a terminal.
    init(of load: BenchLoad) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        let start = ContinuousClock.now
        let printing = Task {
            while (try? await Task.sleep(for: .milliseconds(200))) != nil {
                let (finished, failed) = load.progress
                let seconds = BenchReport.decimal((ContinuousClock.now - start) / .seconds(1), 1)
                let failures = failed > 0 ? ", \(failed) failed" : ""
                // Returns to the start of the line and erases the remains of a longer text.
                try? StandardStream.error.write("\r\(seconds) s: \(finished) requests\(failures)\u{1B}[K")
            }
        }
        task.withLock { $0 = printing }
    }

    /// Erases the line. Further calls do nothing.
    func end() {
        guard let printing = task.withLock({ $0.take() }) else { return }
        printing.cancel()
        try? StandardStream.error.write("\r\u{1B}[K")
    }
}

/// Prints what a transport reports about its servers' trust, once for each different message.
final class TrustWarnings: Sendable {
    /// The number of different messages that are printed.
    private static let maximum = 20
    private let task: Task<Void, Never>

    init(_ reports: AsyncStream<TrustReport>) {
        task = Task {
            var printed: Set<String> = []
            for await report in reports where !report.isEnforced && printed.count < Self.maximum {
                let text = OneLine.text(report.message)
                if printed.insert(text).inserted { StandardStream.error.printLine("warning: " + text) }
            }
        }
    }

    /// Prints the reports that have arrived, and ends.
    func end() async {
        task.cancel()
        await task.value
    }
}

/// The terminal of standard output.
enum Terminal {
    private static let standardWidth = 80

    /// The number of columns, from the terminal or otherwise the variable `COLUMNS`. The default is 80.
    static var width: Int {
        var size = winsize()
        if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil } ?? standardWidth
    }
}
