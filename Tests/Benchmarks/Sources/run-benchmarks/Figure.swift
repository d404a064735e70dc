/// Something measured, by the name it has in a client's line of JSON or in the runner's.
enum Figure: String, Sendable, CodingKeyRepresentable, Codable {
    case requestsPerSecond, cpuPerRequest, p50us, p95us, p99us, maxRSSkB, threads
    case gigabytesPerSecond, cpuSeconds
    /// How much longer all requests in flight took than the server took to answer.
    case secondsOverDelay
    /// From the start of the process.
    case firstAnswerMs
    case strippedSizekB
    /// The most memory beyond the body that it holds.
    case overBodykB
    /// What grew between the first fifth of a long run and its end.
    case grownRSSkB, grownDescriptors

    /// The head of its column, with the unit it is shown in.
    var title: String {
        switch self {
        case .requestsPerSecond: "req/s"
        case .cpuPerRequest: "CPU us"
        case .p50us: "p50 us"
        case .p95us: "p95 us"
        case .p99us: "p99 us"
        case .maxRSSkB: "peak MB"
        case .threads: "threads"
        case .gigabytesPerSecond: "GB/s"
        case .cpuSeconds: "CPU s"
        case .secondsOverDelay: "s over"
        case .firstAnswerMs: "first ms"
        case .strippedSizekB: "MB"
        case .overBodykB: "MB over"
        case .grownRSSkB: "MB more"
        case .grownDescriptors: "fds more"
        }
    }

    /// Whether its ratio to the limit says something.
    var isCompared: Bool {
        switch self {
        case .requestsPerSecond, .cpuPerRequest, .p50us, .p99us, .gigabytesPerSecond, .cpuSeconds, .firstAnswerMs: true
        default: false
        }
    }

    /// The value as it is shown under the title.
    func shown(_ value: Double) -> String {
        switch self {
        case .requestsPerSecond, .threads, .grownDescriptors: value.shown(decimals: 0)
        case .gigabytesPerSecond, .cpuSeconds, .secondsOverDelay: value.shown(decimals: 2)
        case .maxRSSkB, .overBodykB: (value / 1024).shown(decimals: 1)
        case .strippedSizekB, .grownRSSkB: (value / 1024).shown(decimals: 2)
        default: value.shown(decimals: 1)
        }
    }
}
