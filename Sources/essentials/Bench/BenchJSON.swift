import ServiceEssentials

/// The JSON object that `essentials bench --format json` prints. Times are in milliseconds, unless a name says seconds.
struct BenchJSON: Encodable {
    struct Latency: Encodable {
        let minimum, mean, deviation, median, p90, p99, p999, maximum: Double
    }

    struct Row: Encodable {
        let upTo: Double
        let count: Int
    }

    struct Failure: Encodable {
        let reason: String
        let count: Int
        let example: String
    }

    struct Connections: Encodable {
        let opened, reused: Int
        let protocols: [String: Int]
    }

    struct Processor: Encodable {
        let userSeconds, systemSeconds, coreShare: Double
    }

    let requests, responses, concurrency: Int
    let elapsedSeconds, responsesPerSecond: Double
    let bytesReceived: Int
    let bytesPerSecond: Double
    /// `null` without responses.
    let latency: Latency?
    let histogram: [Row]
    let statuses: [String: Int]
    let failures: [Failure]
    let connections: Connections
    let processor: Processor
    let earlyEnd: String?

    init(_ result: BenchResult) {
        let record = result.record
        requests = record.requestCount
        responses = record.responseCount
        concurrency = result.concurrency
        elapsedSeconds = result.elapsed / .seconds(1)
        responsesPerSecond = result.requestsPerSecond
        bytesReceived = record.bodyBytes
        bytesPerSecond = result.bytesPerSecond
        latency = record.responseCount > 0 ? Self.latency(record.latencies) : nil
        let rows = record.responseCount > 0 ? HistogramText(record.latencies, width: 80).rows : []
        histogram = rows.map { Row(upTo: Self.milliseconds($0.bound), count: $0.count) }
        statuses = Dictionary(uniqueKeysWithValues: record.statuses.map { ("\($0.key)", $0.value) })
        failures = record.rankedFailures.map {
            Failure(reason: $0.reason.name, count: $0.count, example: $0.example)
        }
        connections = Connections(
            opened: record.openedConnections, reused: record.reusedConnections, protocols: record.connections)
        processor = Processor(
            userSeconds: result.cost.user / .seconds(1), systemSeconds: result.cost.system / .seconds(1),
            coreShare: result.processorShare)
        earlyEnd = result.earlyEnd?.rawValue
    }

    /// The object on one line.
    var line: String { OneLine.json(self) }

    private static func latency(_ histogram: LatencyHistogram) -> Latency {
        Latency(
            minimum: milliseconds(histogram.shortest), mean: milliseconds(histogram.mean),
            deviation: milliseconds(histogram.deviation), median: milliseconds(histogram.percentile(0.5)),
            p90: milliseconds(histogram.percentile(0.9)), p99: milliseconds(histogram.percentile(0.99)),
            p999: milliseconds(histogram.percentile(0.999)), maximum: milliseconds(histogram.longest))
    }

    private static func milliseconds(_ duration: Duration) -> Double { duration / .milliseconds(1) }
}
