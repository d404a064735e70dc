/// Reads quantities as people write them in options and settings.
package enum WrittenQuantity {
    private static let maximumSeconds = 1_000_000_000.0

    /// A time such as `300ms`, `5s`, `2m`, `1h` or `1.5`; a plain number means seconds. `nil` for any other text, and for less than a
    /// millisecond.
    package static func duration(_ text: String) -> Duration? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let milliseconds: Double? =
            switch text.dropFirst(number.count) {
            case "ms": 1
            case "s", "": 1000
            case "m": 60_000
            case "h": 3_600_000
            default: nil
            }
        guard let milliseconds, let value = Double(number), value * milliseconds >= 1,
            value * milliseconds <= maximumSeconds * 1000
        else { return nil }
        return .milliseconds(Int64((value * milliseconds).rounded(.up)))
    }

    /// A number of bytes such as `4096`, `64k`, `10M` or `1G`; the suffixes are powers of 1024. `nil` for any other text.
    package static func bytes(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let shift: Int? =
            switch text.dropFirst(digits.count) {
            case "": 0
            case "k", "K": 10
            case "m", "M": 20
            case "g", "G": 30
            default: nil
            }
        guard let shift, let value = Int(digits), value <= Int.max >> shift else { return nil }
        return value << shift
    }
}
