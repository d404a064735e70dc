/// One range of bytes that a request wants ([RFC 9110, 14.1.2](https://www.rfc-editor.org/rfc/rfc9110#section-14.1.2)).
///
/// ```swift
/// let bytes = ByteRange("bytes=-500")?.resolved(length: 1_000)     // 500..<1000
/// ```
package enum ByteRange: Sendable, Hashable {
    /// From an offset to another, which belongs to the range, or to the end.
    case from(Int64, through: Int64?)
    /// The last bytes.
    case last(Int64)

    /// Parses the value of a `Range` field; `nil` if it is malformed, in another unit, or if it has several ranges.
    package init?(_ value: String) {
        let parts = value.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, String(Substring(parts[0])).lowercased() == "bytes" else { return nil }
        let ends = FieldList.trimmed(Array(parts[1])[...]).split(
            separator: UInt8(ascii: "-"), omittingEmptySubsequences: false
        ).map { String(decoding: $0, as: UTF8.self) }
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let count = ContentRange.number(ends[1]) else { return nil }
            self = .last(count)
        } else {
            guard let first = ContentRange.number(ends[0]) else { return nil }
            let last = ContentRange.number(ends[1])
            guard ends[1].isEmpty || last.map({ $0 >= first }) == true else { return nil }
            self = .from(first, through: last)
        }
    }

    /// The bytes of a body of a length; `nil` if it has none of the range, so that the response is 416.
    package func resolved(length: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            guard first < length else { return nil }
            return first..<min(last ?? .max, length - 1) + 1
        case .last(let count):
            return count > 0 && length > 0 ? max(0, length - count)..<length : nil
        }
    }
}
