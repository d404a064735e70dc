internal import Figures
internal import Glibc

/// One row of the table: a figure, and whether it meets its goal.
struct Row {
    enum Goal {
        case none
        case atMost(Double)
        case atLeast(Double)
    }

    let what: String
    let value: Double
    let unit: String
    var digits = 0
    var goal = Goal.none

    fileprivate var cells: [String] {
        switch goal {
        case .none: [what, measured, "", ""]
        case .atMost(let most): [what, measured, "<= \(shown(most))", value <= most ? "met" : "missed"]
        case .atLeast(let least): [what, measured, ">= \(shown(least))", value >= least ? "met" : "missed"]
        }
    }

    private var measured: String { "\(fixed(value, digits)) \(unit)" }

    private func shown(_ bound: Double) -> String { "\(fixed(bound, digits)) \(unit)" }
}

/// The measured figures, their goals and the verdicts.
struct Table {
    private let options: Options
    private var rows: [Row] = []

    init(_ options: Options) { self.options = options }

    mutating func add(_ rows: [Row]) { self.rows += rows }

    var text: String {
        var loads = [0.0]
        let load = getloadavg(&loads, 1) == 1 ? fixed(loads[0], 2) : "unknown"
        #if DEBUG
            let build = "debug build: the figures mean nothing"
        #else
            let build = "release build"
        #endif
        var lines = [
            "Data-request service, \(build); \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores, load average \(load)",
            "medians of \(options.rounds) rounds, of \(options.uploadRounds) for uploads"
                + (options.isSmoke ? "; smoke: the figures mean nothing" : ""),
            "", Self.line(["what", "measured", "goal", ""]),
        ]
        lines += rows.map { Self.line($0.cells) }
        return lines.joined(separator: "\n")
    }

    private static func line(_ cells: [String]) -> String {
        let widths = [-62, 16, 18, -6]
        let line = zip(cells, widths).map { cell, width in
            let space = String(repeating: " ", count: max(0, abs(width) - cell.count))
            return width < 0 ? cell + space : space + cell
        }.joined(separator: " ")
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}
