import ArgumentParser

/// Reads times such as `300ms`, `5s`, `2m` and `1.5`.
enum DurationArgument {
    private static let maximumSeconds = 1_000_000_000.0

    static func read(_ text: String) throws -> Duration {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let milliseconds: Double? =
            switch text.dropFirst(number.count) {
            case "ms": 1
            case "s", "": 1000
            case "m": 60_000
            default: nil
            }
        guard let milliseconds, let value = Double(number), value * milliseconds >= 1,
            value * milliseconds <= maximumSeconds * 1000
        else { throw ValidationError("Write a time as 300ms, 5s, 2m or a number of seconds, at least 1ms.") }
        return .milliseconds(Int64((value * milliseconds).rounded(.up)))
    }
}
