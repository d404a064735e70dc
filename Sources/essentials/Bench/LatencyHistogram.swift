/// Counts of durations in a fixed number of buckets, whose width grows with the duration.
///
/// Durations below 256 ns have a bucket each. Above, each power of two is divided into 128 buckets of equal width, so a
/// value that is read from the histogram is at most 1/128 (0.8 %) above the recorded one. The size is about 38 kB,
/// whatever is recorded. Durations above ``maximum`` count as that maximum in the buckets; ``longest`` stays exact.
struct LatencyHistogram: Sendable {
    /// The bits that distinguish the buckets of one power of two.
    private static let precision = 8
    /// The buckets of one power of two.
    private static let half = 1 << (precision - 1)
    /// The highest power of two, in nanoseconds.
    private static let magnitudes = 44
    /// The longest duration with a bucket of its own: 2⁴⁴ - 1 ns, about 4.9 hours.
    static let maximum = Duration.nanoseconds((1 << magnitudes) - 1)
    static let bucketCount = index(of: UInt64((1 << magnitudes) - 1)) + 1

    private var buckets = [UInt64](repeating: 0, count: Self.bucketCount)
    private(set) var count = 0
    /// The shortest recorded duration; zero if nothing was recorded.
    private(set) var shortest = Duration.zero
    /// The longest recorded duration; zero if nothing was recorded.
    private(set) var longest = Duration.zero
    /// The mean and the sum of the squared distances to it, in seconds, updated with each duration.
    private var meanSeconds = 0.0
    private var squares = 0.0

    /// Records a duration. Negative durations count as zero.
    mutating func record(_ duration: Duration) {
        let duration = max(.zero, duration)
        shortest = count == 0 ? duration : min(shortest, duration)
        longest = max(longest, duration)
        count += 1
        buckets[Self.index(of: Self.nanoseconds(duration))] += 1
        let seconds = duration / .seconds(1)
        let distance = seconds - meanSeconds
        meanSeconds += distance / Double(count)
        squares += distance * (seconds - meanSeconds)
    }

    /// The arithmetic mean; zero if nothing was recorded.
    var mean: Duration { .seconds(meanSeconds) }

    /// The standard deviation of the recorded durations; zero for fewer than two.
    var deviation: Duration { count < 2 ? .zero : .seconds((squares / Double(count - 1)).squareRoot()) }

    /// The shortest duration that at least this share of the recorded ones does not exceed (nearest rank), rounded up
    /// to the end of its bucket.
    ///
    /// - Parameter share: Between 0 and 1: 0.99 for the 99th percentile.
    func percentile(_ share: Double) -> Duration {
        guard count > 0 else { return .zero }
        let rank = max(1, UInt64((share * Double(count)).rounded(.up)))
        var seen: UInt64 = 0
        for (index, number) in buckets.enumerated() where number > 0 {
            seen += number
            if seen >= rank { return min(longest, max(shortest, .nanoseconds(Int64(Self.upperBound(of: index))))) }
        }
        return longest
    }

    /// Counts the durations between consecutive bounds.
    ///
    /// - Parameter bounds: The inclusive upper bounds of the rows, in ascending order. The last row also counts
    ///   everything above its bound. A bucket belongs to the row of its middle.
    func counts(upTo bounds: [Duration]) -> [Int] {
        var counts = [Int](repeating: 0, count: bounds.count)
        guard !bounds.isEmpty else { return counts }
        let limits = bounds.map(Self.nanoseconds)
        var row = 0
        for (index, number) in buckets.enumerated() where number > 0 {
            let middle = (Self.lowerBound(of: index) + Self.upperBound(of: index)) / 2
            while row < limits.count - 1, middle > limits[row] { row += 1 }
            counts[row] += Int(number)
        }
        return counts
    }

    // MARK: Buckets

    /// The bucket of a number of nanoseconds.
    static func index(of value: UInt64) -> Int {
        guard value >= 1 << precision else { return Int(value) }
        let shift = UInt64.bitWidth - value.leadingZeroBitCount - precision
        return (1 << precision) + (shift - 1) * half + Int(value >> shift) - half
    }

    /// The shortest duration of a bucket, in nanoseconds.
    static func lowerBound(of index: Int) -> UInt64 {
        guard index >= 1 << precision else { return UInt64(index) }
        let (shift, place) = (index - (1 << precision)).quotientAndRemainder(dividingBy: half)
        return UInt64(place + half) << UInt64(shift + 1)
    }

    /// The longest duration of a bucket, in nanoseconds.
    static func upperBound(of index: Int) -> UInt64 { lowerBound(of: index + 1) - 1 }

    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        let duration = min(max(.zero, duration), maximum)
        return UInt64(duration.components.seconds) * 1_000_000_000
            + UInt64(duration.components.attoseconds / 1_000_000_000)
    }
}
