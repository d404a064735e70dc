#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension FailedResponse {
    /// How long the server asks to wait before the next attempt (`Retry-After`: RFC 9110, 10.2.3), or nil when it says
    /// nothing that can be read. Never less than nothing; a date that has passed is zero.
    ///
    /// - Parameter now: From when a date counts.
    public func retryAfter(now: Date = Date()) -> Duration? {
        guard let text = head.headerFields[.retryAfter] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) {
            // More than a number holds is longer than anybody waits.
            return .seconds(min(Int64(text) ?? .max, 10_000_000_000))
        }
        guard let date = HTTPDate.date(from: text, now: now) else { return nil }
        return .seconds(max(0, date.timeIntervalSince(now)))
    }
}
