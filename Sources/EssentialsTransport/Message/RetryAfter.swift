#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Reads the delay that a server requests before the next attempt (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// A number that does not fit is longer than any practical delay.
    package static let maximumSeconds: Int64 = 10_000_000_000

    /// The delay in seconds, or until a date; `nil` if the field is missing or invalid. A date in the past gives zero.
    ///
    /// - Parameters:
    ///   - fields: The response's fields. A date counts from their `Date`.
    ///   - now: The date to use if the fields have no valid `Date`.
    package static func delay(in fields: HTTPFields, now: @autoclosure () -> Date) -> Duration? {
        guard let text = fields[.retryAfter] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) {
            return .seconds(min(Int64(text) ?? .max, maximumSeconds))
        }
        let now = now()
        guard let date = HTTPDate.date(from: text, now: now) else { return nil }
        let sent = fields[.date].flatMap { HTTPDate.date(from: $0, now: now) } ?? now
        return .seconds(min(max(0, date.timeIntervalSince(sent)), Double(maximumSeconds)))
    }
}
