import ArgumentParser
import ServiceEssentials

/// How much load `essentials bench` generates.
struct LoadOptions: ParsableArguments {
    /// More requests at a time need more descriptors than a process has by default.
    static let concurrencyMaximum = 1_000
    static let requestMaximum = 1_000_000_000
    private static let durationMaximum = Duration.seconds(86_400)
    private static let standardRequests = 1_000

    @Option(
        name: [.customShort("c"), .customLong("concurrency")],
        help: ArgumentHelp("How many requests are in flight at the same time, up to 1000.", valueName: "count"))
    var concurrency = 16

    @Option(
        name: [.customShort("n"), .customLong("requests")],
        help: ArgumentHelp(
            "How many requests to send, up to 1000000000. (default: 1000, or no limit with --duration)",
            valueName: "count"))
    var requests: Int?

    @Option(
        name: [.customShort("z"), .customLong("duration")],
        help: ArgumentHelp(
            "How long to send requests, such as 10s or 5m, up to 1440m. The requests in flight are then finished.",
            valueName: "time"), transform: DurationArgument.read)
    var duration: Duration?

    @Option(
        name: .customLong("warmup"),
        help: ArgumentHelp(
            "Send requests for this time first, without measuring them. (default: no warm-up)", valueName: "time"),
        transform: DurationArgument.read)
    var warmup: Duration?

    func validate() throws {
        guard (1...Self.concurrencyMaximum).contains(concurrency) else {
            throw ValidationError("--concurrency must be between 1 and \(Self.concurrencyMaximum).")
        }
        if let requests, !(1...Self.requestMaximum).contains(requests) {
            throw ValidationError("--requests must be between 1 and \(Self.requestMaximum).")
        }
        for (name, time) in [("--duration", duration), ("--warmup", warmup)] {
            if let time, time > Self.durationMaximum { throw ValidationError("\(name) must be at most 1440m.") }
        }
    }

    var limits: BenchLoad.Limits {
        BenchLoad.Limits(requests: requests ?? (duration == nil ? Self.standardRequests : nil), duration: duration)
    }
}
