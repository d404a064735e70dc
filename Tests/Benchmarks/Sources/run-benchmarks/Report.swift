internal import Foundation

/// A run's results as a table for people and as JSON for programs.
struct Report {
    let machine: MachineFacts
    let options: RunnerOptions
    let results: [ClientResult]

    /// Ratios stand after the figure they belong to, and are to `bench-limit` in the same workload.
    var table: String {
        var lines = [
            "\(machine.cores) cores, \(machine.processor), \(machine.system), \(machine.kernel)",
            "\(machine.libcurl); \(machine.nginx)",
            "\(machine.swift), \(machine.build); load average before the run \(machine.loadAverage)",
            "medians of \(options.rounds) rounds, scale \(options.scale)\(options.isSmoke ? ", smoke" : "")",
        ]
        for workload in Workload.known {
            let rows = results.filter { $0.workload == workload.name }
            if rows.isEmpty { continue }
            lines += ["", Self.row([workload.name] + Self.titles)]
            lines += rows.map { Self.row([$0.client] + cells(of: $0)) }
        }
        return lines.joined(separator: "\n")
    }

    var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(
                Document(
                    machine: machine, rounds: options.rounds, scale: options.scale, isSmoke: options.isSmoke,
                    results: results.map { Entry(result: $0, ratios: ratios(of: $0)) }))
        }
    }

    private struct Document: Encodable {
        let machine: MachineFacts
        let rounds: Int
        let scale: Double
        let isSmoke: Bool
        let results: [Entry]
    }

    private struct Entry: Encodable {
        let result: ClientResult
        let ratios: Ratios?
    }

    private struct Ratios: Encodable {
        let requestsPerSecond: Double
        let cpuPerRequest: Double
        let p50us: Double
        let p99us: Double
    }

    private func ratios(of result: ClientResult) -> Ratios? {
        let limit = results.first { $0.workload == result.workload && $0.client == "bench-limit" }
        guard let own = result.medians, let base = limit?.medians, base.requestsPerSecond > 0,
            base.cpuPerRequest > 0, base.p50us > 0, base.p99us > 0
        else { return nil }
        return Ratios(
            requestsPerSecond: own.requestsPerSecond / base.requestsPerSecond,
            cpuPerRequest: own.cpuPerRequest / base.cpuPerRequest, p50us: own.p50us / base.p50us,
            p99us: own.p99us / base.p99us)
    }

    private static let titles = [
        "req/s", "ratio", "CPU us", "ratio", "p50 us", "ratio", "p95 us", "p99 us", "ratio", "peak MB", "errors",
    ]

    private func cells(of result: ClientResult) -> [String] {
        guard let medians = result.medians else { return [result.failures.first ?? "no result"] }
        let ratios = ratios(of: result)
        func ratio(_ path: KeyPath<Ratios, Double>) -> String {
            ratios.map { String(format: "%.2f", $0[keyPath: path]) } ?? "-"
        }
        let failed = result.failures.isEmpty ? "" : " + \(result.failures.count) failed runs"
        return [
            String(format: "%.0f", medians.requestsPerSecond), ratio(\.requestsPerSecond),
            String(format: "%.1f", medians.cpuPerRequest), ratio(\.cpuPerRequest),
            String(format: "%.1f", medians.p50us), ratio(\.p50us), String(format: "%.1f", medians.p95us),
            String(format: "%.1f", medians.p99us), ratio(\.p99us), String(format: "%.1f", medians.maxRSSkB / 1024),
            "\(result.errors)\(failed)",
        ]
    }

    private static func row(_ cells: [String]) -> String {
        let first = cells[0] + String(repeating: " ", count: max(0, 18 - cells[0].count))
        return first
            + cells.dropFirst().map { String(repeating: " ", count: max(1, 9 - $0.count)) + $0 }.joined()
    }
}
