/// The goal of `bench-ours` in a workload.
struct Goal: Sendable {
    enum Bound: Sendable {
        case atLeast(Double)
        case atMost(Double)
    }

    /// The verdict on a goal.
    enum Verdict: String, Codable {
        case met
        /// Missed by less than the difference between two runs.
        case withinNoise = "met within 5 %"
        case missed
    }

    let figure: Figure
    let bound: Bound
    /// The client whose figure is multiplied by the bound; `nil` for a bound in the figure's own unit.
    var reference: String? = "bench-limit"
    /// The client that has this goal.
    var client = "bench-ours"
    /// Whether any miss makes the run a failure.
    var isStrict = false

    /// A goal that is a multiple of the limit.
    static func ratio(_ figure: Figure, _ bound: Bound) -> Goal { Goal(figure: figure, bound: bound) }

    /// A goal with a fixed value, regardless of other clients.
    static func value(_ figure: Figure, _ bound: Bound) -> Goal { Goal(figure: figure, bound: bound, reference: nil) }

    /// At most 40 MB for every upload.
    static let memory = Goal.value(.maxRSSkB, .atMost(40 * 1024))
    /// At most one and a half times the limit, so that the slowest requests do not pay for the others.
    static let p99 = Goal.ratio(.p99us, .atMost(1.5))

    /// A goal of README's composition.
    static func service(_ figure: Figure, _ bound: Bound, of reference: String = "bench-limit") -> Goal {
        Goal(figure: figure, bound: bound, reference: reference, client: LoadClient.serviceName)
    }

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

    /// The goal as text, such as `req/s at least 1.05 x bench-limit`.
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
