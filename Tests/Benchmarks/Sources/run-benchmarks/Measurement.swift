/// The line of JSON a client prints.
struct Measurement: Codable {
    var client: String
    var requests: Int
    var errors: Int
    var seconds: Double
    var requestsPerSecond: Double
    var cpuSeconds: Double
    var p50us: Double
    var p95us: Double
    var p99us: Double
    var maxRSSkB: Int
    var `protocol`: String

    /// CPU time of the client for one request, in microseconds.
    var cpuPerRequest: Double { cpuSeconds * 1e6 / Double(max(requests, 1)) }
}

/// What one client did in all rounds of one workload.
struct ClientResult: Codable {
    let workload: String
    let client: String
    private(set) var runs: [Measurement] = []
    private(set) var failures: [String] = []
    private(set) var medians: Medians?

    init(workload: String, client: String) {
        self.workload = workload
        self.client = client
    }

    var succeeded: Bool { failures.isEmpty && errors == 0 }
    var errors: Int { runs.reduce(0) { $0 + $1.errors } }

    mutating func add(_ measurement: Result<Measurement, RunnerError>) {
        switch measurement {
        case .success(let measurement): runs.append(measurement)
        case .failure(let error): failures.append(error.description)
        }
        medians = runs.isEmpty ? nil : Medians(runs)
    }
}

/// The median of each figure by itself.
struct Medians: Codable {
    let requestsPerSecond: Double
    let cpuPerRequest: Double
    let p50us: Double
    let p95us: Double
    let p99us: Double
    let maxRSSkB: Double

    init(_ runs: [Measurement]) {
        requestsPerSecond = Self.median(runs.map(\.requestsPerSecond))
        cpuPerRequest = Self.median(runs.map(\.cpuPerRequest))
        p50us = Self.median(runs.map(\.p50us))
        p95us = Self.median(runs.map(\.p95us))
        p99us = Self.median(runs.map(\.p99us))
        maxRSSkB = Self.median(runs.map { Double($0.maxRSSkB) })
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
