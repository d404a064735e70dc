/// Builds UUIDs of version 7 that ascend, whatever the clock does.
///
/// The twelve bits after the version are a counter (RFC 9562, section 6.2, method 1). It starts at a random number
/// below 2048 in each millisecond. When it overflows, the time is advanced beyond the clock's. The other 62 bits are
/// random.
package struct ModelIDMachine: Sendable {
    private static let latest: UInt64 = 1 << 48 - 1
    private static let counterEnd: UInt64 = 1 << 12

    private var milliseconds: UInt64 = 0
    private var counter: UInt64 = 0
    private var isFirst = true

    package init() {}

    package mutating func next(
        milliseconds clock: Int64, counterBits: UInt64, randomBits: UInt64
    ) -> (high: UInt64, low: UInt64) {
        let now = min(UInt64(max(clock, 0)), Self.latest)
        let start = counterBits & 0x7FF
        if isFirst || now > milliseconds {
            (milliseconds, counter) = (now, start)
        } else if counter + 1 < Self.counterEnd {
            counter += 1
        } else {
            // After the last millisecond of the format, only the random bits make ids unique.
            (milliseconds, counter) = (min(milliseconds + 1, Self.latest), start)
        }
        isFirst = false
        return (milliseconds << 16 | 7 << 12 | counter, 2 << 62 | randomBits & (1 << 62 - 1))
    }
}
