/// The line of JSON that a client prints.
struct Measurement: Decodable {
    var requests: Int
    var errors: Int
    var seconds: Double
    var requestsPerSecond: Double
    var cpuSeconds: Double
    var p50us: Double
    var p95us: Double
    var p99us: Double
    var maxRSSkB: Int
    var threads: Int
    /// The time on the clock `CLOCK_MONOTONIC` in nanoseconds.
    var firstAnswer: UInt64
    var `protocol`: String

    /// The figures for a workload whose requests transfer this many bytes and are answered after this delay.
    func sample(of workload: Workload, bodyLength: Int = 0, delay: Double = 0) -> Sample {
        let figures: [Figure: Double] = [
            .requestsPerSecond: requestsPerSecond, .cpuPerRequest: cpuSeconds * 1e6 / Double(max(requests, 1)),
            .p50us: p50us, .p95us: p95us, .p99us: p99us, .maxRSSkB: Double(maxRSSkB), .threads: Double(threads),
            .overBodykB: Double(maxRSSkB - bodyLength / 1024),
            .gigabytesPerSecond: Double(bodyLength) * requestsPerSecond / 1e9, .cpuSeconds: cpuSeconds,
            .secondsOverDelay: seconds - delay,
        ]
        return Sample(figures: figures.filter { workload.figures.contains($0.key) }, errors: errors)
    }
}

/// The line of JSON that a client prints after a long run.
struct SoakMeasurement: Decodable {
    var errors: Int
    var earlyRSSkB: Int
    var finalRSSkB: Int
    var earlyDescriptors: Int
    var finalDescriptors: Int

    var sample: Sample {
        Sample(
            figures: [
                .grownRSSkB: Double(finalRSSkB - earlyRSSkB),
                .grownDescriptors: Double(finalDescriptors - earlyDescriptors),
            ], errors: errors)
    }
}
