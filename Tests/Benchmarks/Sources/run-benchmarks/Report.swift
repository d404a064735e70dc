internal import Foundation

/// The results of a run as a readable table and as JSON.
struct Report {
    let machine: MachineFacts
    let options: RunnerOptions
    let results: Results

    /// Each ratio follows its figure and is relative to `bench-limit` in the same workload. Each
    /// workload's goals follow its rows.
    var table: String {
        var lines = [
            "\(machine.cores) cores, \(machine.processor), \(machine.system), \(machine.kernel)",
            "\(machine.libcurl); \(machine.nginx)",
            "\(machine.swift), \(machine.build); load average before the run \(machine.loadAverage)",
            "medians of \(options.rounds) rounds, scale \(options.scale)\(options.isSmoke ? ", smoke" : "")",
        ]
        for workload in Workload.known {
            let rows = results.of(workload.name)
            if rows.isEmpty { continue }
            let titles = workload.figures.flatMap { $0.isCompared ? [$0.title, "ratio"] : [$0.title] }
            lines += ["", Self.row([workload.name] + titles + ["errors"])]
            lines += rows.map { Self.row([$0.client] + cells(of: $0, in: workload)) }
            lines += workload.goals.compactMap { self.line(on: $0, in: workload) }
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
                    results: results.all.map { Entry(result: $0, ratios: ratios(of: $0)) }, goals: judgements))
        }
    }

    private struct Document: Encodable {
        let machine: MachineFacts
        let rounds: Int
        let scale: Double
        let isSmoke: Bool
        let results: [Entry]
        let goals: [Judgement]
    }

    private struct Entry: Encodable {
        let result: ClientResult
        let ratios: [Figure: Double]
    }

    private struct Judgement: Encodable {
        let workload: String
        let client: String
        let goal: String
        let value: Double
        let verdict: Goal.Verdict
    }

    private func ratios(of result: ClientResult) -> [Figure: Double] {
        var ratios: [Figure: Double] = [:]
        for figure in result.medians.keys where figure.isCompared {
            ratios[figure] = results.ratio(figure, of: result.client, in: result.workload)
        }
        return ratios
    }

    private var judgements: [Judgement] {
        Workload.known.flatMap { workload in
            workload.goals.compactMap { goal in
                results.value(for: goal, in: workload.name).map {
                    Judgement(
                        workload: workload.name, client: goal.client, goal: goal.description, value: $0,
                        verdict: goal.verdict(on: $0))
                }
            }
        }
    }

    private func cells(of result: ClientResult, in workload: Workload) -> [String] {
        if result.medians.isEmpty { return [result.failures.first ?? "no result"] }
        let failed = result.failures.isEmpty ? "" : " + \(result.failures.count) failed runs"
        return workload.figures.flatMap { figure in
            let value = result.medians[figure].map(figure.shown) ?? "-"
            let ratio = results.ratio(figure, of: result.client, in: workload.name)?.shown(decimals: 2) ?? "-"
            return figure.isCompared ? [value, ratio] : [value]
        } + ["\(result.errors)\(failed)"]
    }

    /// The goal and its verdict, or `nil` if the compared client did not run.
    private func line(on goal: Goal, in workload: Workload) -> String? {
        guard let value = results.value(for: goal, in: workload.name) else { return nil }
        let isJudged = goal.isStrict || !options.isSmoke
        let verdict = isJudged ? goal.verdict(on: value).rawValue : "not judged in a smoke run"
        return "  goal: \(goal.client) \(goal.description): \(goal.shown(value)), \(verdict)"
    }

    private static func row(_ cells: [String]) -> String {
        let first = cells[0] + String(repeating: " ", count: max(0, 18 - cells[0].count))
        return first
            + cells.dropFirst().map { String(repeating: " ", count: max(1, 9 - $0.count)) + $0 }.joined()
    }
}

extension Double {
    func shown(decimals: Int) -> String { String(format: "%.\(decimals)f", self) }
}
