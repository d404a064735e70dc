/// What `bench-ours` is to reach in a workload.
struct Goal: Sendable {
    enum Bound: Sendable {
        case atLeast(Double)
        case atMost(Double)
    }

    /// What became of a goal.
    enum Verdict: String, Codable {
        case met
        /// Missed by less than what two runs differ by.
        case withinNoise = "met within 5 %"
        case missed
    }

    let figure: Figure
    let bound: Bound
    /// Who reaches the figure that the bound is a multiple of; nil for a bound in the figure's own unit.
    var reference: String? = "bench-limit"
    /// Who is judged.
    var client = "bench-ours"
    /// Whether a miss, by however little, makes the run a failure.
    var isStrict = false

    /// A goal of so many times the limit.
    static func ratio(_ figure: Figure, _ bound: Bound) -> Goal { Goal(figure: figure, bound: bound) }

    /// A goal of so much, whatever others reach.
    static func value(_ figure: Figure, _ bound: Bound) -> Goal { Goal(figure: figure, bound: bound, reference: nil) }

    /// 40 MB, whatever is sent.
    static let memory = Goal.value(.maxRSSkB, .atMost(40 * 1024))
    /// Half as much again as the limit: the slowest requests must not pay for the others.
    static let p99 = Goal.ratio(.p99us, .atMost(1.5))

    func verdict(on value: Double) -> Verdict {
        if isMet(by: value, tolerance: 0) { return .met }
        return !isStrict && isMet(by: value, tolerance: 0.05) ? .withinNoise : .missed
    }

    private func isMet(by value: Double, tolerance: Double) -> Bool {
        switch bound {
        case .atLeast(let least): value >= least * (1 - tolerance)
        case .atMost(let most): value <= most * (1 + tolerance)
        }
    }

    /// The goal in words, such as `req/s at least 1.05 x bench-limit`.
    var description: String {
        switch bound {
        case .atLeast(let least): "\(figure.title) at least \(shown(least))\(comparison)"
        case .atMost(let most): "\(figure.title) at most \(shown(most))\(comparison)"
        }
    }

    func shown(_ value: Double) -> String {
        reference == nil ? figure.shown(value) : value.shown(decimals: 2)
    }

    private var comparison: String { reference.map { " x \($0)" } ?? "" }
}
