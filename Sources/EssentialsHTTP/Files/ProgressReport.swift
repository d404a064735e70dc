/// Reports the progress of a transfer, to a callback or as a stream.
///
/// Values are delivered one at a time, with increasing `bytes`, and at most one for each interval. The last value is
/// always delivered, before the operation returns or throws. After that no value follows, and the stream ends. Use a
/// report for one operation only. The report of a data request is an exception: its callback receives the progress of
/// each attempt, starting at 0, and a stream receives only that of the first.
///
/// The callback runs in the task that transfers, which waits for it, so it must be fast. A stream keeps only the newest
/// value, so its reader can be slow.
///
/// ```swift
/// let report = ProgressReport { print($0.bytes, "of", $0.expected ?? -1) }
/// try await transport.download(request, to: "/srv/films/1.mp4", progress: report)
/// ```
public struct ProgressReport: Sendable {
    /// The default for the minimum time between two values: 100 ms.
    public static let standardInterval: Duration = .milliseconds(100)

    private let meter: ProgressMeter

    /// Reports to a callback.
    ///
    /// Reports to a callback.
    ///
    /// - Parameters:
    ///   - interval: The minimum time between two values. The first and the last value are delivered immediately.
    ///   - deliver: Receives a value. It is called on one thread at a time, which can change between calls.
    public init(
        every interval: Duration = standardInterval, _ deliver: @escaping @Sendable (TransferProgress) -> Void
    ) {
        self.init(every: interval, now: Self.clock(), deliver, end: {})
    }

    /// Reports to a stream, which ends with the operation.
    ///
    /// - Parameter interval: The minimum time between two values. The first and the last value are delivered
    ///   immediately.
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

    /// Reports with an injected clock.
    ///
    /// - Parameters:
    ///   - now: The time since a fixed moment. It never decreases.
    ///   - end: Called once, after the last value.
    package init(
        every interval: Duration, now: @escaping @Sendable () -> Duration,
        _ deliver: @escaping @Sendable (TransferProgress) -> Void, end: @escaping @Sendable () -> Void
    ) {
        meter = ProgressMeter(interval: interval, now: now, deliver: deliver, end: end)
    }

    private init(meter: ProgressMeter) { self.meter = meter }

    /// The report for one of several operations that share this value.
    package func forOperation() -> ProgressReport { ProgressReport(meter: meter.forOperation()) }

    /// Begins the transfer and delivers the first value. Later calls are ignored.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes that earlier attempts transferred.
    ///   - expected: The total number of bytes.
    package func begin(at bytes: Int64 = 0, expected: Int64?) { meter.begin(at: bytes, expected: expected) }

    /// Reports the number of transferred bytes. A number that is not greater than an earlier one is ignored.
    package func reached(_ bytes: Int64) { meter.reached(bytes) }

    /// Ends the operation after success or failure, and delivers the last value if it was not delivered yet. Later
    /// calls are ignored.
    package func finish() { meter.finish() }

    private static func clock() -> @Sendable () -> Duration {
        let start = ContinuousClock.now
        return { start.duration(to: .now) }
    }
}
