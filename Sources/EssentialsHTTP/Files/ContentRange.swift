/// The value of `Content-Range`: which bytes a partial response contains, or how many bytes the whole has (RFC 9110,
/// 14.4).
struct ContentRange: Sendable, Hashable {
    /// The first and the last byte; `nil` for an unsatisfiable range.
    let bytes: ClosedRange<Int64>?
    /// The number of bytes of the whole; `nil` if it is not known.
    let total: Int64?

    /// Parses a value such as `bytes 5-9/10`, `bytes 5-9/*` or `bytes */10`; `nil` if it is malformed.
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

    /// A number that consists of digits only and fits 63 bits.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int64(text)
    }
}
