/// All measurements of a run.
struct Results {
    private(set) var all: [ClientResult] = []

    mutating func add(_ results: [ClientResult]) { all += results }

    /// Whether each request succeeded and no strict goal was missed.
    var succeeded: Bool {
        all.allSatisfy(\.succeeded)
            && Workload.known.allSatisfy { workload in
                workload.goals.allSatisfy { goal in
                    guard goal.isStrict, let value = value(for: goal, in: workload.name) else { return true }
                    return goal.verdict(on: value) != .missed
                }
            }
    }

    func of(_ workload: String) -> [ClientResult] { all.filter { $0.workload == workload } }

    /// The value that a goal judges: a median or its ratio to the reference's median. `nil` if there is none.
    func value(for goal: Goal, in workload: String) -> Double? {
        let own = median(goal.figure, of: goal.client, in: workload)
        guard let reference = goal.reference else { return own }
        guard let own, let base = median(goal.figure, of: reference, in: workload), base > 0 else { return nil }
        return own / base
    }

    /// A median divided by the limit's median.
    func ratio(_ figure: Figure, of client: String, in workload: String) -> Double? {
        value(for: Goal(figure: figure, bound: .atLeast(0), client: client), in: workload)
    }

    private func median(_ figure: Figure, of client: String, in workload: String) -> Double? {
        all.first { $0.workload == workload && $0.client == client }?.medians[figure]
    }
}
