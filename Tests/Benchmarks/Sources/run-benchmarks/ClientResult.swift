/// The result of one run of a client.
struct Sample: Codable {
    var figures: [Figure: Double]
    var errors = 0
}

/// The results of one client in all rounds of a workload.
struct ClientResult: Codable {
    let workload: String
    let client: String
    private(set) var runs: [Sample] = []
    private(set) var failures: [String] = []
    /// The median of each figure; empty if no run succeeded.
    private(set) var medians: [Figure: Double] = [:]

    init(workload: String, client: String) {
        self.workload = workload
        self.client = client
    }

    var succeeded: Bool { failures.isEmpty && errors == 0 }
    var errors: Int { runs.reduce(0) { $0 + $1.errors } }

    mutating func add(_ sample: Result<Sample, RunnerError>) {
        switch sample {
        case .success(let sample): runs.append(sample)
        case .failure(let error): failures.append(error.description)
        }
        for figure in runs.first.map({ Array($0.figures.keys) }) ?? [] {
            medians[figure] = Self.median(runs.compactMap { $0.figures[figure] })
        }
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
