import EssentialsTools
import ServiceEssentials

/// The result of a load as text.
struct BenchReport {
    let result: BenchResult
    /// The width of the terminal in characters.
    let width: Int

    private var record: BenchRecord { result.record }
    /// The share of one processor from which the tool itself may be the bottleneck.
    private static let busyShare = 0.9

    var lines: [String] {
        var lines = summary
        if record.responseCount > 0 {
            lines += [""] + latencies + [""] + HistogramText(record.latencies, width: width).lines
            lines += ["", "STATUSES"]
            lines += record.statuses.sorted { $0.key < $1.key }.map { "  \($0.key)  \($0.value)" }
        }
        if record.failureCount > 0 {
            lines += ["", "FAILURES"]
            lines += record.rankedFailures.map { "  \($0.count) such as: \($0.example)" }
        }
        let notes = notes
        return lines + (notes.isEmpty ? [] : [""] + notes)
    }

    private var summary: [String] {
        let cost = "\(Self.seconds(result.cost.user)) user, \(Self.seconds(result.cost.system)) system"
        var lines = [
            Self.row(
                "requests",
                "\(record.requestCount) in \(Self.seconds(result.elapsed)), "
                    + "\(result.concurrency) at a time"),
            Self.row("responses", "\(record.responseCount), \(Self.decimal(result.requestsPerSecond, 1)) per second"),
            Self.row("failures", "\(record.failureCount)"),
            Self.row(
                "received",
                "\(ProgressBar.amount(Double(record.bodyBytes))), "
                    + "\(ProgressBar.amount(result.bytesPerSecond)) per second"),
            Self.row(
                "connections",
                "\(record.openedConnections) opened, "
                    + "\(record.reusedConnections) responses over a reused one"),
        ]
        for (name, count) in record.connections.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            lines.append(Self.row("protocol", record.connections.count == 1 ? name : "\(name): \(count)"))
        }
        lines.append(Self.row("own CPU time", "\(cost), \(Self.decimal(result.processorShare * 100, 0)) % of one core"))
        return lines
    }

    private var latencies: [String] {
        let histogram = record.latencies
        let rows: [(String, Duration)] = [
            ("minimum", histogram.shortest), ("mean", histogram.mean), ("deviation", histogram.deviation),
            ("median", histogram.percentile(0.5)), ("90 %", histogram.percentile(0.9)),
            ("99 %", histogram.percentile(0.99)), ("99.9 %", histogram.percentile(0.999)),
            ("maximum", histogram.longest),
        ]
        return ["LATENCIES"]
            + rows.map { name, duration in
                "  " + name.padded(to: 12) + Self.milliseconds(duration).padded(to: -14)
            }
    }

    private var notes: [String] {
        var notes: [String] = []
        switch result.earlyEnd {
        case .interrupted: notes.append("note: A signal ended the load. The requests in flight are not counted.")
        case .everyRequestFailed: notes.append("note: The load ended early, because every request so far failed.")
        case nil: break
        }
        if record.responseCount > 0, result.processorShare >= Self.busyShare {
            notes.append(
                "note: The tool itself kept a processor busy, so it may be the bottleneck instead of the server.")
        }
        #if DEBUG
            notes.append("note: This is a debug build, which sends fewer requests than a release build could.")
        #endif
        return notes
    }

    static func milliseconds(_ duration: Duration) -> String { decimal(duration / .milliseconds(1), 2) + " ms" }

    private static func seconds(_ duration: Duration) -> String { decimal(duration / .seconds(1), 2) + " s" }

    /// A number with this many decimals.
    static func decimal(_ value: Double, _ decimals: Int) -> String {
        let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int64((max(0, value) * Double(scale)).rounded())
        guard decimals > 0 else { return "\(scaled)" }
        let rest = "\(scaled % Int64(scale))"
        return "\(scaled / Int64(scale)).\(String(repeating: "0", count: decimals - rest.count))\(rest)"
    }

    private static func row(_ name: String, _ text: String) -> String { name.padded(to: 14) + text }
}

/// The histogram of latencies as rows of a bar chart.
struct HistogramText {
    private static let rowCount = 12
    /// If the longest duration is at least this many times the shortest, the bounds of the rows grow by a factor.
    private static let logarithmicRatio = 10.0
    private static let labelWidth = 14
    private static let barMinimum = 10
    private static let barMaximum = 60

    /// The inclusive upper bounds of the rows and the numbers of durations.
    let rows: [(bound: Duration, count: Int)]
    private let width: Int

    init(_ histogram: LatencyHistogram, width: Int) {
        self.width = width
        let bounds = Self.bounds(from: histogram.shortest, to: histogram.longest)
        rows = Array(zip(bounds, histogram.counts(upTo: bounds))).map { (bound: $0, count: $1) }
    }

    var lines: [String] {
        let most = rows.map(\.count).max() ?? 0
        let numberWidth = "\(most)".count
        let room = width - Self.labelWidth - numberWidth - 4
        let barWidth = min(Self.barMaximum, max(Self.barMinimum, room))
        return ["HISTOGRAM, up to"]
            + rows.map { row in
                var length = most > 0 ? row.count * barWidth / most : 0
                // A row that is not empty has a bar.
                if row.count > 0 { length = max(1, length) }
                let label = BenchReport.milliseconds(row.bound).padded(to: -Self.labelWidth)
                let bar = String(repeating: "#", count: length)
                return "\(label)  \("\(row.count)".padded(to: -numberWidth))" + (bar.isEmpty ? "" : "  \(bar)")
            }
    }

    /// Bounds from the shortest to the longest duration: with equal steps, or with equal factors if the range is wide.
    private static func bounds(from shortest: Duration, to longest: Duration) -> [Duration] {
        let (low, high) = (shortest / .nanoseconds(1), longest / .nanoseconds(1))
        guard high > low else { return [longest] }
        let ratio = high / max(1, low)
        return (1...rowCount).map { row in
            guard row < rowCount else { return longest }
            let share = Double(row) / Double(rowCount)
            let bound = ratio >= logarithmicRatio ? max(1, low) * pow(ratio, share) : low + (high - low) * share
            return .nanoseconds(Int64(bound))
        }
    }
}
