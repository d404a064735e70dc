internal import Glibc

/// One row of the table: a figure, and whether it meets its goal.
package struct Row: Sendable {
    package enum Goal: Sendable {
        case none
        case atMost(Double)
        case atLeast(Double)
    }

    package let what: String
    package let value: Double
    package let unit: String
    package let digits: Int
    package let goal: Goal
    /// Whether a missed goal is a failure on every machine.
    package let isJudged: Bool

    package init(what: String, value: Double, unit: String, digits: Int = 0, goal: Goal = .none, isJudged: Bool = false)
    {
        self.what = what
        self.value = value
        self.unit = unit
        self.digits = digits
        self.goal = goal
        self.isJudged = isJudged
    }

    /// Whether the figure meets its goal.
    package var isMet: Bool {
        switch goal {
        case .none: true
        case .atMost(let most): value <= most
        case .atLeast(let least): value >= least
        }
    }

    fileprivate var cells: [String] {
        switch goal {
        case .none: [what, measured, "", ""]
        case .atMost(let most): [what, measured, "<= \(shown(most))", isMet ? "met" : "missed"]
        case .atLeast(let least): [what, measured, ">= \(shown(least))", isMet ? "met" : "missed"]
        }
    }

    private var measured: String { "\(fixed(value, digits)) \(unit)" }

    private func shown(_ bound: Double) -> String { "\(fixed(bound, digits)) \(unit)" }
}

/// The measured figures, their goals and the verdicts.
package struct Table: Sendable {
    private let title: String
    private let remark: String
    private var rows: [Row] = []

    /// - Parameters:
    ///   - title: What is measured.
    ///   - remark: How the figures were made, in a line of its own.
    package init(_ title: String, remark: String) {
        self.title = title
        self.remark = remark
    }

    package mutating func add(_ rows: [Row]) { self.rows += rows }

    package var text: String {
        var loads = [0.0]
        let load = getloadavg(&loads, 1) == 1 ? fixed(loads[0], 2) : "unknown"
        #if DEBUG
            let build = "debug build: the figures mean nothing"
        #else
            let build = "release build"
        #endif
        var lines = [
            "\(title), \(build); \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores, load average \(load)", remark, "",
            Self.line(["what", "measured", "goal", ""]),
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
