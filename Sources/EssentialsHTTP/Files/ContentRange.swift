/// The field that says which bytes a part is, or how many there are altogether (RFC 9110, 14.4).
struct ContentRange: Sendable, Hashable {
    /// The first and the last byte, or nil for a range that could not be given.
    let bytes: ClosedRange<Int64>?
    /// How many bytes the whole has, or nil when that is not known.
    let total: Int64?

    /// Reads a value such as `bytes 5-9/10`, `bytes 5-9/*` or `bytes */10`; nil for anything else.
    init?(_ value: some StringProtocol) {
        let words = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        total = Self.number(parts[1])
        guard total != nil || parts[1] == "*" else { return nil }
        if parts[0] == "*" {
            guard total != nil else { return nil }
            bytes = nil
        } else {
            let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
                last < total ?? .max
            else { return nil }
            bytes = first...last
        }
    }

    /// A number of digits alone, within 63 bits.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
