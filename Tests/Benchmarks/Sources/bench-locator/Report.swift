internal import Figures
internal import Glibc

/// The figures as a table: each figure, its ratio to its floor, and whether it meets its goal.
struct Report {
    let samples: Samples
    let twoThreads: (floor: TwoThreads, locator: TwoThreads)
    let cold: [(kind: ColdStart.Kind, start: ColdStart)]
    let counts: Counts
    let options: Options

    var table: String {
        var lines = heading + ["", Self.row(["ns an operation", "ns", "ratio", "goal", ""])]
        lines += samples.benchmarks.map { Self.row(cells(of: $0)) }
        lines += ["", Self.row(["two threads, each its own service", "ns", "x one", "goal", ""])]
        lines += threadRows
        lines += ["", Self.row(["1,000 services registered and resolved, new process", "ms", "ratio", "goal", ""])]
        lines += coldRows
        lines += ["", Self.row(["strong resolve", "count", "", "goal", ""])]
        lines += countRows
        return lines.joined(separator: "\n")
    }

    /// Errors that do not depend on the load of the machine: wrong counts and missing figures.
    var breaches: [String] {
        let figures =
            samples.benchmarks.map { ($0.name, samples.median(of: $0.name)) }
            + cold.flatMap { [($0.name, $1.milliseconds), ("\($0.name), floor", $1.objectsMilliseconds)] }
            + [
                ("two threads", twoThreads.locator.throughputRatio),
                ("two threads, floor", twoThreads.floor.throughputRatio),
            ]
        // This comparison is also false for NaN.
        return counts.breaches
            + figures.filter { !($0.1 > 0 && $0.1.isFinite) }.map { "\($0.0): no figure, but \($0.1)" }
    }

    private var heading: [String] {
        var loads = [0.0]
        let load = getloadavg(&loads, 1) == 1 ? fixed(loads[0], 2) : "unknown"
        #if DEBUG
            let build = "debug build: the figures mean nothing"
        #else
            let build = "release build"
        #endif
        let rounds = options.rounds == 1 ? "one round" : "medians of \(options.rounds) rounds"
        let scale =
            Peer.all.isEmpty
            ? "goals in ns are those of a machine whose first floor is \(fixed(Self.floorOfGoals, 1)) ns, and grow with it here"
            : "goals in ns are those of a machine on which the peer was measured too, and grow with the peer's time here"
        return [
            "Service locator, \(build); \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores, load average \(load)",
            "\(rounds)\(options.isSmoke ? ", smoke: the figures mean nothing" : "")",
            "ns: CPU time of the thread; ratio: to the floor of its kind, in the same round",
            scale,
        ]
    }

    private static let floorOfGoals = 12.9

    /// The time that this machine takes now for one nanosecond on the goals' machine.
    private var scale: Double { samples.median(of: Floors.copy) / Self.floorOfGoals }

    private func cells(of benchmark: Benchmark) -> [String] {
        let name = benchmark.name
        let ratio = benchmark.floor.map { samples.median(of: name, and: $0) { $0 / $1 } }
        let figure = samples.median(of: name)
        let first = [name, fixed(figure, 1), ratio.map { fixed($0, 2) } ?? "-"]
        switch benchmark.goal {
        case .none:
            return first + ["-", ""]
        case .timesFloor(let limit):
            return first + ["<= \(fixed(limit, 1)) x floor", Self.verdict((ratio ?? .nan) <= limit)]
        case .timesPeer(let limit):
            return first + ["<= \(fixed(limit, 3)) x peer", Self.verdict((ratio ?? .nan) <= limit)]
        case .nanoseconds(let limit):
            return first + ["<= \(fixed(limit * scale, 0)) ns", Self.verdict(figure <= limit * scale)]
        case .perLevel(let limit, let levels, let other):
            let level = samples.median(of: name, and: other) { ($0 - $1) / Double(levels) }
            let limit = limit * (Peer.slowdownOfLevels(samples) ?? scale)
            return first + ["<= +\(fixed(limit, 2)) ns a level", "\(Self.verdict(level <= limit)): \(fixed(level, 2))"]
        }
    }

    private var threadRows: [String] {
        let (floor, locator) = twoThreads
        let limit = 0.9 * floor.throughputRatio
        return [
            Self.row([
                "floor: existentials copied out of memory", fixed(floor.nanoseconds, 1),
                fixed(floor.throughputRatio, 2), "-", "",
            ]),
            Self.row([
                "strong", fixed(locator.nanoseconds, 1), fixed(locator.throughputRatio, 2), ">= 0.9 x floor's",
                Self.verdict(locator.throughputRatio >= limit),
            ]),
        ]
    }

    private var coldRows: [String] {
        cold.flatMap { kind, start in
            let time = fixed(start.milliseconds, 2)
            if kind == .types { return [Self.row([kind.name, time, "-", "-", ""])] }
            return [
                Self.row(["floor: objects of one type alone", fixed(start.objectsMilliseconds, 2), "-", "-", ""]),
                Self.row([
                    kind.name, time, fixed(start.milliseconds / start.objectsMilliseconds, 2), "< 2 ms",
                    Self.verdict(start.milliseconds < 2),
                ]),
                Self.row(["the same in wall-clock time", fixed(start.wallMilliseconds, 2), "-", "-", ""]),
            ]
        }
    }

    private var countRows: [String] {
        let known = counts.instructions.map { Self.verdict($0 <= Counts.mostInstructions) } ?? ""
        return [
            Self.row(["control: allocations of an object made", fixed(counts.allocationsOfObject, 2), "", "1", ""]),
            Self.row([
                "allocations", fixed(counts.allocations, 2), "", "0", Self.verdict(counts.allocations == 0),
            ]),
            Self.row([
                "floor: instructions of a copy", counts.instructionsOfFloor.map { fixed($0, 0) } ?? "not available", "",
                "-", "",
            ]),
            Self.row([
                "instructions", counts.instructions.map { fixed($0, 0) } ?? "not available", "",
                "<= \(fixed(Counts.mostInstructions, 0))", known,
            ]),
        ]
    }

    private static func verdict(_ isMet: Bool) -> String { isMet ? "met" : "missed" }

    private static func row(_ cells: [String]) -> String {
        let widths = [-50, 8, 8, 19, -14]
        let line = zip(cells, widths).map { cell, width in
            let space = String(repeating: " ", count: max(0, abs(width) - cell.count))
            return width < 0 ? cell + space : space + cell
        }.joined(separator: " ")
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}
