#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// How long a response is fresh in a private cache, and how old it was when it was received
/// ([RFC 9111, 4.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.2)).
///
/// The lifetime of a value is the server's. Heuristics are a function of their own, because not every cache wants them.
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
        age = Self.age(of: received, receivedAt: now, delay: delay)
        lifetime = Self.standardLifetime(of: fields, sentAt: Self.date(.date, of: received, now), now)
    }

    /// How old a response was when it was received (RFC 9111, 4.2.3).
    ///
    /// - Parameters:
    ///   - now: The date at which it was received.
    ///   - delay: The time since the request was sent.
    package static func age(of fields: HTTPFields, receivedAt now: Date, delay: Duration) -> Duration {
        let apparent = date(.date, of: fields, now).map { bounded(now.timeIntervalSince($0)) } ?? .zero
        return max(apparent, .seconds(ageField(of: fields)) + max(delay, .zero))
    }

    /// How long a response is fresh; see ``lifetime``.
    ///
    /// - Parameter now: The date at which it was received.
    package static func lifetime(of fields: HTTPFields, receivedAt now: Date) -> Duration? {
        standardLifetime(of: fields, sentAt: date(.date, of: fields, now), now)
    }

    private static func standardLifetime(of fields: HTTPFields, sentAt date: Date?, _ now: Date) -> Duration? {
        let directives = CacheDirectives(of: fields)
        if directives.requiresValidation || directives.forbidsStoring { return .zero }
        return explicitLifetime(of: fields, directives, sentAt: date ?? now)
    }

    /// The lifetime that the server has given: `max-age`, or else the time from `Date` to `Expires` (RFC 9111, 4.2.1).
    ///
    /// - Parameters:
    ///   - directives: The directives of the fields.
    ///   - date: The `Date` of the response, or the date at which it was received.
    ///   - isShared: Whether `s-maxage` counts first.
    package static func explicitLifetime(
        of fields: HTTPFields, _ directives: CacheDirectives, sentAt date: Date, isShared: Bool = false
    ) -> Duration? {
        if isShared, let seconds = directives.sharedMaximumAge { return .seconds(seconds) }
        if let maximumAge = directives.maximumAge { return .seconds(maximumAge) }
        guard fields.contains(.expires) else { return nil }
        // An invalid date, especially “0”, lies in the past (RFC 9111, 5.3).
        guard let expires = Self.date(.expires, of: fields, date) else { return .zero }
        return bounded(expires.timeIntervalSince(date))
    }

    /// The lifetime of a response whose server has given none: a tenth of the time since its last change, at most a day
    /// (RFC 9111, 4.2.2). `nil` without a last change, and with `Pragma: no-cache`.
    ///
    /// - Parameter date: The `Date` of the response, or the date at which it was received.
    package static func heuristicLifetime(of fields: HTTPFields, sentAt date: Date) -> Duration? {
        guard let modified = Self.date(.lastModified, of: fields, date), !CacheDirectives.hasPragmaNoCache(fields)
        else { return nil }
        let lifetime = bounded(date.timeIntervalSince(modified) / 10)
        return lifetime > .zero ? min(lifetime, .seconds(86_400)) : nil
    }

    /// The date of a field; `nil` without one, and with one that has none of the three forms.
    package static func date(_ name: HTTPField.Name, of fields: HTTPFields, _ now: Date) -> Date? {
        fields.joined(name).flatMap { HTTPDate.strictDate(from: $0, now: now) }
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
