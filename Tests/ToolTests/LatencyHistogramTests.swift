import Testing

@testable import essentials

@Suite("LatencyHistogram")
struct LatencyHistogramTests {
    @Test("Buckets follow each other without a gap up to the maximum")
    func buckets() {
        var expected: UInt64 = 0
        for index in 0..<LatencyHistogram.bucketCount {
            let (lower, upper) = (LatencyHistogram.lowerBound(of: index), LatencyHistogram.upperBound(of: index))
            #expect(lower == expected)
            #expect(LatencyHistogram.index(of: lower) == index)
            #expect(LatencyHistogram.index(of: upper) == index)
            expected = upper + 1
        }
        #expect(Duration.nanoseconds(Int64(expected - 1)) == LatencyHistogram.maximum)
    }

    @Test("No bucket is wider than 1/128 of its lower bound, or 1 ns")
    func errorBound() {
        for index in 0..<LatencyHistogram.bucketCount {
            let lower = LatencyHistogram.lowerBound(of: index)
            let width = LatencyHistogram.upperBound(of: index) - lower
            #expect(width * 128 <= lower, "bucket \(index)")
        }
    }

    @Test(
        "Percentiles are those of the sorted durations, rounded up by at most 1/128", arguments: [1, 7, 1_000, 20_000])
    func percentiles(count: Int) {
        var histogram = LatencyHistogram()
        // Durations over eight orders of magnitude.
        let values = (0..<count).map { number -> Int64 in
            let scale = [1, 100, 10_000, 1_000_000, 100_000_000][number % 5]
            return Int64(Double.random(in: 1...10) * Double(scale))
        }.sorted()
        for value in values.shuffled() { histogram.record(.nanoseconds(value)) }
        for share in [0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1] {
            let rank = max(1, Int((share * Double(count)).rounded(.up)))
            let exact = Duration.nanoseconds(values[rank - 1])
            let read = histogram.percentile(share)
            #expect(read >= exact, "\(share)")
            #expect(read <= exact + exact / 128, "\(share)")
        }
        #expect(histogram.shortest == .nanoseconds(values[0]))
        #expect(histogram.longest == .nanoseconds(values[count - 1]))
        #expect(histogram.percentile(1) == histogram.longest)
    }

    @Test("The mean and the standard deviation are those of the exact durations")
    func moments() {
        var histogram = LatencyHistogram()
        for milliseconds in [2, 4, 4, 4, 5, 5, 7, 9] { histogram.record(.milliseconds(milliseconds)) }
        #expect(abs(histogram.mean / .milliseconds(1) - 5) < 1e-6)
        // The sample's deviation: the root of 32 / 7.
        #expect(abs(histogram.deviation / .milliseconds(1) - 2.138_089_935) < 1e-6)
    }

    @Test("An empty histogram has zeros, and one duration has no deviation")
    func extremes() {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(0.5) == .zero)
        #expect(histogram.mean == .zero)
        histogram.record(.seconds(3))
        #expect(histogram.deviation == .zero)
        #expect(histogram.percentile(0.5) == .seconds(3))
    }

    @Test("Negative and huge durations are counted at the ends")
    func outside() {
        var histogram = LatencyHistogram()
        histogram.record(.milliseconds(-5))
        histogram.record(.seconds(1_000_000))
        #expect(histogram.count == 2)
        #expect(histogram.shortest == .zero)
        #expect(histogram.longest == .seconds(1_000_000))
        #expect(histogram.percentile(0.5) == .zero)
    }

    @Test("The rows of the chart count every duration once", arguments: [1, 2, 50, 5_000])
    func rows(count: Int) {
        var histogram = LatencyHistogram()
        for number in 1...count { histogram.record(.microseconds(number * number)) }
        let text = HistogramText(histogram, width: 80)
        #expect(text.rows.map(\.count).reduce(0, +) == count)
        #expect(text.rows.last?.bound == histogram.longest)
        #expect(zip(text.rows, text.rows.dropFirst()).allSatisfy { $0.bound <= $1.bound })
    }

    @Test("The chart fits the width of the terminal", arguments: [40, 60, 80, 200])
    func width(columns: Int) {
        var histogram = LatencyHistogram()
        for number in 1...1_000 { histogram.record(.milliseconds(100 + number % 300)) }
        let lines = HistogramText(histogram, width: columns).lines
        #expect(lines.count == 13)
        #expect(lines.allSatisfy { $0.count <= columns })
        #expect(lines.dropFirst().allSatisfy { $0.contains("#") })
    }
}

@Suite("BenchRecord")
struct BenchRecordTests {
    private func exchange(status: Int = 200, connection: String = "HTTP/1.1") -> BenchRecord.Exchange {
        .init(status: status, latency: .milliseconds(1), bodyBytes: 10, isReused: true, connection: connection)
    }

    @Test("The number of named connections is limited, and further ones count as other")
    func connections() {
        var record = BenchRecord()
        for number in 0..<20 { record.add(exchange(connection: "protocol \(number)")) }
        #expect(record.connections.count == 9)
        #expect(record.connections[BenchRecord.otherConnections] == 12)
        #expect(record.bodyBytes == 200)
    }

    @Test("Statuses outside of the expected ones are counted")
    func unexpected() throws {
        var record = BenchRecord()
        for status in [200, 204, 404, 500, 500] { record.add(exchange(status: status)) }
        #expect(record.unexpectedCount(.successful) == 3)
        #expect(record.unexpectedCount(try StatusSet("200-499")) == 2)
    }
}
