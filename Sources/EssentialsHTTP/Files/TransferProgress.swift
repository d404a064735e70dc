/// The progress of a transfer.
///
/// ```swift
/// let (report, values) = ProgressReport.stream()
/// Task { for await progress in values { bar.show(progress.fraction ?? 0) } }
/// try await transport.download(request, to: "/srv/films/1.mp4", progress: report)
/// ```
public struct TransferProgress: Sendable, Hashable {
    /// The number of transferred bytes, including those of earlier attempts if a download was resumed.
    public let bytes: Int64
    /// The number of bytes since the previous value; 0 in the first value of a resumed download. The values that a
    /// callback receives add up to the number of bytes that the operation has transferred. A stream skips values if its
    /// reader is slow.
    public let bytesSinceLast: Int64
    /// The total number of bytes; `nil` if it is not known.
    public let expected: Int64?
    /// The rate in bytes per second, over the last four seconds; 0 before the first bytes.
    public let rate: Double

    /// Creates a value.
    public init(bytes: Int64, bytesSinceLast: Int64 = 0, expected: Int64? = nil, rate: Double = 0) {
        self.bytes = bytes
        self.bytesSinceLast = bytesSinceLast
        self.expected = expected
        self.rate = rate
    }

    /// The transferred fraction, from 0 to 1; `nil` if the total is not known.
    public var fraction: Double? {
        guard let expected else { return nil }
        guard expected > 0 else { return 1 }
        return min(1, max(0, Double(bytes) / Double(expected)))
    }

    /// The estimated remaining time at the current rate; `nil` if the total is not known or the rate is 0.
    public var remaining: Duration? {
        guard let expected else { return nil }
        guard bytes < expected else { return .zero }
        let seconds = (Double(expected) - Double(bytes)) / rate
        // An estimate above three hundred years is of no use.
        guard rate > 0, seconds.isFinite, seconds < 10_000_000_000 else { return nil }
        return .seconds(seconds)
    }
}
