package import CoreMetrics
import Synchronization

/// A backend of swift-metrics that keeps all values in memory and shows them in the text format of Prometheus.
///
/// ```swift
/// let metrics = PrometheusMetrics()
/// MetricsSystem.bootstrap(metrics)
/// router.get("metrics") { _, _ in metrics.text }
/// ```
///
/// Counters and meters are shown as they are, times as histograms in seconds, and other values as their number and sum.
package final class PrometheusMetrics: MetricsFactory {
    private let series = Mutex<[String: [Labels: Series]]>([:])

    package init() {}

    /// All series, sorted by their names and labels.
    package var text: String {
        let series = series.withLock { $0 }
        var lines: [String] = []
        for (name, all) in series.sorted(by: { $0.key < $1.key }) {
            guard let kind = all.first?.value.kind else { continue }
            lines.append("# TYPE \(name) \(kind.rawValue)")
            for (labels, one) in all.sorted(by: { $0.key.text < $1.key.text }) {
                lines += one.lines(name, labels)
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The series of a name and its labels. The same ones give the same series. A name has one kind, so another kind is added to
    /// the name of the second one.
    private func make(_ kind: Series.Kind, _ label: String, _ suffix: String, _ labels: [(String, String)]) -> Series {
        let (wanted, key) = (Labels.name(label) + suffix, Labels(labels))
        return series.withLock { series in
            var name = wanted
            while let other = series[name]?.first?.value.kind, other != kind { name += "_\(kind.rawValue)" }
            if let known = series[name]?[key] { return known }
            let made = Series(kind)
            series[name, default: [:]][key] = made
            return made
        }
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        make(.counter, label, "_total", dimensions)
    }
    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler { make(.counter, label, "_total", dimensions) }
    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        make(.gauge, label, "", dimensions)
    }
    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler { make(aggregate ? .summary : .gauge, label, "", dimensions) }
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        make(.histogram, label, "_seconds", dimensions)
    }
    package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    private func remove(_ handler: AnyObject) {
        series.withLock { series in
            for (name, all) in series {
                for (labels, one) in all where one === handler { series[name]?[labels] = nil }
                if series[name]?.isEmpty == true { series[name] = nil }
            }
        }
    }
}

/// The labels of a series, as they are written.
private struct Labels: Hashable {
    let text: String

    init(_ labels: [(String, String)]) {
        // A name that comes twice would make the whole text invalid. The first value stays.
        let values = Dictionary(labels.map { (Self.name($0.0), $0.1) }) { first, _ in first }
        text = values.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }
            .joined(separator: ",")
    }

    /// A name of Prometheus: letters, digits and underscores, and no digit at the beginning.
    static func name(_ label: String) -> String {
        let name = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        return name.first?.isNumber == false ? name : "_" + name
    }

    private static func escaped(_ value: String) -> String {
        value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

/// The values of one series.
private final class Series: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    enum Kind: String { case counter, gauge, histogram, summary }

    private struct Values {
        var count = 0
        var sum = 0.0
        var buckets = Array(repeating: 0, count: Series.limits.count)
    }

    /// The upper limits of the buckets in seconds, as OpenTelemetry advises for HTTP.
    private static let limits = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

    let kind: Kind
    private let values = Mutex(Values())

    init(_ kind: Kind) { self.kind = kind }

    private func add(_ amount: Double) { values.withLock { $0.sum += amount } }
    private func replace(_ value: Double) { values.withLock { $0.sum = value } }
    private func observe(_ value: Double) {
        guard kind != .gauge else { return replace(value) }
        values.withLock { values in
            values.count += 1
            values.sum += value
            if let bucket = Self.limits.firstIndex(where: { value <= $0 }) { values.buckets[bucket] += 1 }
        }
    }

    func increment(by amount: Int64) { add(Double(amount)) }
    func increment(by amount: Double) { add(amount) }
    func decrement(by amount: Double) { add(-amount) }
    func set(_ value: Int64) { replace(Double(value)) }
    func set(_ value: Double) { replace(value) }
    func record(_ value: Int64) { observe(Double(value)) }
    func record(_ value: Double) { observe(value) }
    func recordNanoseconds(_ duration: Int64) { observe(Double(duration) / 1e9) }
    func reset() { replace(0) }

    func lines(_ name: String, _ labels: Labels) -> [String] {
        let values = values.withLock { $0 }
        func line(_ suffix: String, _ value: Any, _ more: String = "") -> String {
            let all = [labels.text, more].filter { !$0.isEmpty }.joined(separator: ",")
            return "\(name)\(suffix)\(all.isEmpty ? "" : "{\(all)}") \(value)"
        }
        var lines: [String] = []
        switch kind {
        case .counter, .gauge: return [line("", values.sum)]
        case .summary: break
        case .histogram:
            var count = 0
            for (limit, more) in zip(Self.limits, values.buckets) {
                count += more
                lines.append(line("_bucket", count, "le=\"\(limit)\""))
            }
            lines.append(line("_bucket", values.count, "le=\"+Inf\""))
        }
        return lines + [line("_sum", values.sum), line("_count", values.count)]
    }
}
