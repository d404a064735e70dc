import EssentialsTransport
import ServiceEssentials

/// The output of `--timings`: when each phase ended and how long it took.
struct TimingsReport {
    let metrics: TransportMetrics
    let total: Duration
    let bodyBytes: Int
    let isReused: Bool
    /// What the response cache has done; `nil` without one.
    var cache: String?

    var lines: [String] {
        let moments: [(name: String, moment: Duration?)] = [
            ("name resolution", metrics.nameResolved), ("connect", metrics.connected), ("TLS", metrics.secured),
            ("request", metrics.requestBegan), ("sent", metrics.requestSent), ("first byte", metrics.firstByte),
            ("total", total),
        ]
        var lines = [Self.row("", "after", "took"), Self.row("queue", "", Self.text(metrics.queued))]
        var previous = Duration.zero
        for (name, moment) in moments {
            lines.append(Self.row(name, Self.text(moment), Self.text(moment.map { max(.zero, $0 - previous) })))
            previous = moment ?? previous
        }
        lines.append(Self.row("bytes", "\(bodyBytes)", ""))
        lines.append(Self.row("reused", isReused ? "yes" : "no", ""))
        if let cache { lines.append("cache".padded(to: 15) + cache) }
        return lines
    }

    /// Milliseconds with two decimals, or a dash for a phase that did not happen.
    private static func text(_ duration: Duration?) -> String {
        guard let duration else { return "-" }
        let (seconds, attoseconds) = duration.components
        let hundredths = seconds * 100_000 + attoseconds / 10_000_000_000_000
        let decimals = hundredths % 100
        return "\(hundredths / 100).\(decimals < 10 ? "0" : "")\(decimals) ms"
    }

    private static func row(_ name: String, _ first: String, _ second: String) -> String {
        let line = name.padded(to: 15) + first.padded(to: -14) + second.padded(to: -14)
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}

extension String {
    /// The text padded with spaces on the right, or on the left for a negative width.
    func padded(to width: Int) -> String {
        let padding = String(repeating: " ", count: max(0, abs(width) - count))
        return width < 0 ? padding + self : self + padding
    }
}
