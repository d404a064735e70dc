#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension FailedResponse {
    /// The delay before the next attempt that the server requests with `Retry-After` (RFC 9110, section 10.2.3). `nil`
    /// if the field is missing or invalid. A date in the past gives zero.
    ///
    /// - Parameter now: The time to which a date is compared.
    public func retryAfter(now: Date = Date()) -> Duration? {
        guard let text = head.headerFields[.retryAfter] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) {
            // A number that does not fit is longer than any practical delay.
            return .seconds(min(Int64(text) ?? .max, 10_000_000_000))
        }
        guard let date = HTTPDate.date(from: text, now: now) else { return nil }
        return .seconds(max(0, date.timeIntervalSince(now)))
    }
}
