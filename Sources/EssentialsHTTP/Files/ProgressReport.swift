/// Reports the progress of a transfer, to a callback or as a stream.
///
/// Values come one at a time, at most one in each interval, with `bytes` growing. The last one is always delivered, and
/// before the operation returns or throws; after that no value follows and the stream ends. A report belongs to one
/// operation. The report of a data request is the exception: its callback receives the progress each time that the
/// request is sent, starting at 0, and a stream receives it only the first time.
///
/// The callback runs in the task that transfers, which goes on when it returns: it should be quick. A stream keeps the
/// newest value only, so its reader may take its time.
///
/// ```swift
/// let report = ProgressReport { print($0.bytes, "of", $0.expected ?? -1) }
/// try await transport.download(request, to: "/srv/films/1.mp4", progress: report)
/// ```
public struct ProgressReport: Sendable {
    /// The least time between two values if none is given: 100 ms.
    public static let standardInterval: Duration = .milliseconds(100)

    private let meter: ProgressMeter

    /// Reports to a callback.
    ///
    /// - Parameters:
    ///   - interval: The least time between two values; the first and the last do not wait for it.
    ///   - deliver: Takes a value. Called by one thread at a time, not always the same.
    public init(
        every interval: Duration = standardInterval, _ deliver: @escaping @Sendable (TransferProgress) -> Void
    ) {
        self.init(every: interval, now: Self.clock(), deliver, end: {})
    }

    /// Reports to a stream, which ends with the operation.
    ///
    /// - Parameter interval: The least time between two values; the first and the last do not wait for it.
    public static func stream(
        every interval: Duration = standardInterval
    ) -> (report: ProgressReport, values: AsyncStream<TransferProgress>) {
        stream(every: interval, now: clock())
    }

    package static func stream(
        every interval: Duration, now: @escaping @Sendable () -> Duration
    ) -> (report: ProgressReport, values: AsyncStream<TransferProgress>) {
        let (values, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let report = ProgressReport(
            every: interval, now: now, { continuation.yield($0) }, end: { continuation.finish() })
        return (report, values)
    }

    /// Reports by a clock of one's own.
    ///
    /// - Parameters:
    ///   - now: The time since any fixed moment; never goes back.
    ///   - end: Called once, after the last value.
    package init(
        every interval: Duration, now: @escaping @Sendable () -> Duration,
        _ deliver: @escaping @Sendable (TransferProgress) -> Void, end: @escaping @Sendable () -> Void
    ) {
        meter = ProgressMeter(interval: interval, now: now, deliver: deliver, end: end)
    }

    private init(meter: ProgressMeter) { self.meter = meter }

    /// The report for one of several operations with the same value.
    package func forOperation() -> ProgressReport { ProgressReport(meter: meter.forOperation()) }

    /// The transfer begins; the first value is delivered. Only the first call counts.
    ///
    /// - Parameters:
    ///   - bytes: What is there already.
    ///   - expected: How many bytes there will be.
    package func begin(at bytes: Int64 = 0, expected: Int64?) { meter.begin(at: bytes, expected: expected) }

    /// So many bytes are there now. A number that is no larger than an earlier one is passed over.
    package func reached(_ bytes: Int64) { meter.reached(bytes) }

    /// The operation is over, well or not. Delivers what was not delivered yet. Only the first call counts.
    package func finish() { meter.finish() }

    private static func clock() -> @Sendable () -> Duration {
        let start = ContinuousClock.now
        return { start.duration(to: .now) }
    }
}
