/// How far a transfer has come.
///
/// ```swift
/// let (report, values) = ProgressReport.stream()
/// Task { for await progress in values { bar.show(progress.fraction ?? 0) } }
/// try await transport.download(request, to: "/srv/films/1.mp4", progress: report)
/// ```
public struct TransferProgress: Sendable, Hashable {
    /// The bytes that are there; of a resumed download those of earlier attempts too.
    public let bytes: Int64
    /// The bytes since the previous value; 0 in the first value of a resumed download. The values that a callback
    /// receives add up to the bytes that the operation has moved. A stream skips values if its reader is slow.
    public let bytesSinceLast: Int64
    /// How many there will be, or nil when that is not known.
    public let expected: Int64?
    /// Bytes a second, over the last four seconds. 0 before anything has moved.
    public let rate: Double

    /// Makes a value.
    public init(bytes: Int64, bytesSinceLast: Int64 = 0, expected: Int64? = nil, rate: Double = 0) {
        self.bytes = bytes
        self.bytesSinceLast = bytesSinceLast
        self.expected = expected
        self.rate = rate
    }

    /// The part that is there, from 0 to 1, or nil when the whole is not known.
    public var fraction: Double? {
        guard let expected else { return nil }
        guard expected > 0 else { return 1 }
        return min(1, max(0, Double(bytes) / Double(expected)))
    }

    /// How long the rest takes at this rate, or nil when the whole is not known or nothing moves.
    public var remaining: Duration? {
        guard let expected else { return nil }
        guard bytes < expected else { return .zero }
        let seconds = (Double(expected) - Double(bytes)) / rate
        // Over three hundred years nothing is foretold.
        guard rate > 0, seconds.isFinite, seconds < 10_000_000_000 else { return nil }
        return .seconds(seconds)
    }
}
