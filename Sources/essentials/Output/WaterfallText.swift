import EssentialsHTTP
import FoundationEssentials

/// The exchanges of a record in lines, with their parts on a common axis of time.
struct WaterfallText {
    private static let width = 40

    private let har: HAR
    private let entries: [HAR.Entry]

    init(_ har: HAR, onlyFailures: Bool) {
        self.har = har
        entries = har.entries.filter { !onlyFailures || $0.isFailure }.sorted { $0.started < $1.started }
    }

    var lines: [String] {
        guard let start = entries.map(\.started).min() else { return ["0 exchanges"] + notes }
        let end = entries.map { $0.offset(from: start) + $0.time }.max() ?? 0
        let rows = [["began", "method", "status", "took", "", "URL"]] + entries.map { row($0, start, end) }
        return TextTable.lines(rows) + [summary(end)] + notes
    }

    private var notes: [String] { har.comment.map { [VisibleText.line($0)] } ?? [] }

    private func summary(_ end: Double) -> String {
        let failures = entries.count { $0.isFailure }
        let count = entries.count == 1 ? "1 exchange" : "\(entries.count) exchanges"
        return "\(count) in \(Self.text(end)), \(failures == 0 ? "none" : "\(failures)") failed"
    }

    private func row(_ entry: HAR.Entry, _ start: Date, _ end: Double) -> [String] {
        let offset = entry.offset(from: start)
        var url = entry.request.url
        if let source = entry.source { url += " (\(source))" }
        if let failure = entry.failure, entry.response.status == 0 { url += " (\(failure.reason))" }
        return [
            Self.text(offset), entry.request.method, "\(entry.response.status)", Self.text(entry.time),
            bar(entry, offset, end), url,
        ]
    }

    /// One letter for each part of the time, on an axis that ends with the last exchange.
    private func bar(_ entry: HAR.Entry, _ offset: Double, _ end: Double) -> String {
        let scale = Double(Self.width) / max(end, 0.001)
        func column(_ time: Double) -> Int { min(Self.width, max(0, Int((time * scale).rounded()))) }
        let times = entry.timings
        var text = String(repeating: " ", count: min(Self.width - 1, column(offset)))
        var time = offset
        for (letter, part) in [
            ("b", times.blocked), ("d", times.dns), ("c", times.connect), ("s", times.send), ("w", times.wait),
            ("r", times.receive),
        ] where part > 0 {
            time += part
            text += String(repeating: letter, count: max(0, column(time) - text.count))
        }
        // An exchange that is too short for its place on the axis is seen too.
        if text.allSatisfy({ $0 == " " }) { text += "." }
        return text.padded(to: Self.width)
    }

    /// Milliseconds, or seconds from ten on.
    private static func text(_ milliseconds: Double) -> String {
        guard milliseconds < 10_000 else { return "\((milliseconds / 100).rounded() / 10) s" }
        return "\((milliseconds * 10).rounded() / 10) ms"
    }
}

extension HAR.Entry {
    /// Whether there is no response, or one with an error status.
    var isFailure: Bool { response.status < 200 || response.status >= 400 }

    /// The milliseconds from a date to the beginning, at most some thirty years.
    fileprivate func offset(from start: Date) -> Double {
        min(max(0, started.timeIntervalSince(start) * 1_000), 1e12)
    }
}
