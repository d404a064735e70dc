import ServiceEssentials

/// What a load has measured. Its size does not grow with the number of requests.
struct BenchRecord: Sendable {
    /// The failures with one reason.
    struct Failures: Sendable, Equatable {
        let reason: RequestFailure.Reason
        /// The text of the first of them.
        let example: String
        var count = 0
    }

    /// One complete response.
    struct Exchange: Sendable {
        let status: Int
        let latency: Duration
        let bodyBytes: Int
        let isReused: Bool
        /// The protocol, and the version and cipher of TLS.
        let connection: String
    }

    /// The number of different connections that are counted by name. Further ones count as ``otherConnections``.
    private static let connectionMaximum = 8
    static let otherConnections = "other"

    private(set) var latencies = LatencyHistogram()
    private(set) var statuses: [Int: Int] = [:]
    private(set) var failures: [String: Failures] = [:]
    /// The number of responses by protocol, TLS version and cipher.
    private(set) var connections: [String: Int] = [:]
    private(set) var openedConnections = 0
    private(set) var reusedConnections = 0
    /// The bytes of the received bodies, before decompression.
    private(set) var bodyBytes = 0
    private(set) var failureCount = 0

    /// The number of complete responses, whatever their status.
    var responseCount: Int { latencies.count }
    var requestCount: Int { responseCount + failureCount }

    mutating func add(_ exchange: Exchange) {
        latencies.record(exchange.latency)
        statuses[exchange.status, default: 0] += 1
        bodyBytes += exchange.bodyBytes
        if exchange.isReused { reusedConnections += 1 } else { openedConnections += 1 }
        let isKnown = connections[exchange.connection] != nil || connections.count < Self.connectionMaximum
        connections[isKnown ? exchange.connection : Self.otherConnections, default: 0] += 1
    }

    mutating func add(_ failure: RequestFailure) {
        failureCount += 1
        let name = failure.reason.name
        if failures[name] == nil {
            failures[name] = Failures(reason: failure.reason, example: FailurePrinter.text(of: failure))
        }
        failures[name]?.count += 1
    }

    /// The failures by reason, the most frequent first.
    var rankedFailures: [Failures] {
        failures.values.sorted { ($1.count, $0.reason.name) < ($0.count, $1.reason.name) }
    }

    /// The number of responses whose status is not in the set.
    func unexpectedCount(_ expected: StatusSet) -> Int {
        statuses.filter { !expected.contains($0.key) }.values.reduce(0, +)
    }
}

/// The result of a load: the record with its time and cost.
struct BenchResult: Sendable {
    /// Why a load ended before its limits.
    enum EarlyEnd: String, Sendable {
        /// A signal arrived.
        case interrupted
        /// The first requests all failed.
        case everyRequestFailed
    }

    let record: BenchRecord
    let elapsed: Duration
    /// The processor time of the tool during the load.
    let cost: ProcessorTime
    let concurrency: Int
    let earlyEnd: EarlyEnd?

    var requestsPerSecond: Double { perSecond(Double(record.responseCount)) }
    var bytesPerSecond: Double { perSecond(Double(record.bodyBytes)) }

    /// The processor time as a share of the elapsed time: 1 for one processor that was busy all the time.
    var processorShare: Double {
        elapsed > .zero ? (cost.user + cost.system) / elapsed : 0
    }

    private func perSecond(_ amount: Double) -> Double { elapsed > .zero ? amount / (elapsed / .seconds(1)) : 0 }
}
