/// A figure, with the name that it has in the JSON of a client or of the runner.
enum Figure: String, Sendable, CodingKeyRepresentable, Codable {
    case requestsPerSecond, cpuPerRequest, p50us, p95us, p99us, maxRSSkB, threads
    case gigabytesPerSecond, cpuSeconds
    /// The time for all requests in flight beyond the server's delay.
    case secondsOverDelay
    /// The time from the start of the process.
    case firstAnswerMs
    case strippedSizekB
    /// The peak memory beyond the size of the body.
    case overBodykB
    /// The growth between the first fifth of a long run and its end.
    case grownRSSkB, grownDescriptors

    /// The title of the column, with the unit.
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

    /// Whether the ratio to the limit is meaningful.
    var isCompared: Bool {
        switch self {
        case .requestsPerSecond, .cpuPerRequest, .p50us, .p99us, .gigabytesPerSecond, .cpuSeconds, .firstAnswerMs: true
        default: false
        }
    }

    /// The value in the unit of the title.
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
