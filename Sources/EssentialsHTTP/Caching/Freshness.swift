#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// How long a response is fresh in a private cache, and how old it was when it was received
/// ([RFC 9111, 4.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.2)).
///
/// A response is fresh as long as its age is not above its lifetime. There are no heuristics: who needs a lifetime that the
/// server has not given has one of its own.
///
/// ```swift
/// let freshness = Freshness(of: response.headerFields, at: clock.date, delay: delay)
/// let left = (freshness.lifetime ?? .seconds(30)) - freshness.age
/// ```
package struct Freshness: Sendable, Hashable {
    /// How long the response is fresh, counted from when the server created it; `nil` if the server says nothing. It is
    /// zero if the server wants to be asked for each use.
    package let lifetime: Duration?
    /// The age of the response when it was received (RFC 9111, 4.2.3).
    package let age: Duration

    /// Computes both from header fields.
    ///
    /// - Parameters:
    ///   - fields: The fields of the response, or those of a stored one into which the fields of a 304 were merged.
    ///   - confirmation: The fields of that 304. Its times count, because a field that it does not have says nothing about
    ///     it; `nil` means that `fields` are those of one response.
    ///   - now: The date at which the response was received, which counts where `Date` is missing or malformed.
    ///   - delay: The time since the request was sent.
    package init(
        of fields: HTTPFields, confirmedBy confirmation: HTTPFields? = nil, at now: Date, delay: Duration = .zero
    ) {
        let received = confirmation ?? fields
        let date = received[.date].flatMap { HTTPDate.strictDate(from: $0, now: now) }
        let apparent = date.map { Self.bounded(now.timeIntervalSince($0)) } ?? .zero
        age = max(apparent, .seconds(Self.ageField(of: received)) + max(delay, .zero))
        lifetime = Self.lifetime(of: fields, sentAt: date, now)
    }

    /// How long a response is fresh; see ``lifetime``.
    ///
    /// - Parameter now: The date at which it was received.
    package static func lifetime(of fields: HTTPFields, receivedAt now: Date) -> Duration? {
        lifetime(of: fields, sentAt: fields[.date].flatMap { HTTPDate.strictDate(from: $0, now: now) }, now)
    }

    /// `max-age` has precedence over `Expires` (RFC 9111, 4.2.1).
    private static func lifetime(of fields: HTTPFields, sentAt date: Date?, _ now: Date) -> Duration? {
        let directives = CacheDirectives(of: fields)
        if directives.requiresValidation || directives.forbidsStoring { return .zero }
        if let maximumAge = directives.maximumAge { return .seconds(maximumAge) }
        guard let text = fields[.expires] else { return nil }
        // An invalid date, especially “0”, lies in the past (RFC 9111, 5.3).
        guard let expires = HTTPDate.strictDate(from: text, now: now) else { return .zero }
        return bounded(expires.timeIntervalSince(date ?? now))
    }

    /// The seconds that a cache on the way has written into the response (RFC 9111, 5.1). Of several the first counts, and
    /// text that is no number counts as zero.
    package static func ageField(of fields: HTTPFields) -> Int64 {
        guard let field = fields.first(where: { $0.name == .age }) else { return 0 }
        var member = field.value.utf8.prefix { $0 != UInt8(ascii: ",") }
        while let last = member.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { member.removeLast() }
        return CacheDirectives.seconds(member) ?? 0
    }

    /// An interval between zero and the largest number of seconds that counts. What is no number is zero.
    private static func bounded(_ interval: TimeInterval) -> Duration {
        interval > 0 ? .seconds(min(interval, Double(CacheDirectives.maximumSeconds))) : .zero
    }
}
