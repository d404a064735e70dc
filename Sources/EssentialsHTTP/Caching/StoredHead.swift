#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The head of a stored response, with everything that the rules need of it computed once. It never changes, and is an
/// object, so that a lookup copies references.
///
/// ```swift
/// let isFresh = head.timeLeft(at: clock.moment) > .zero && !head.requiresValidation
/// ```
package final class StoredHead: Sendable {
    package let status: HTTPResponse.Status
    /// The fields without those of the connection, and without `Age`.
    package let fields: HTTPFields
    /// What the request had in the fields that `Vary` names.
    package let selection: VarySelection
    /// The age at ``moment`` (RFC 9111, 4.2.3).
    package let age: Duration
    /// When the response was received, or confirmed last.
    package let moment: CacheMoment
    /// Whether the body is stored without the coding that `Content-Encoding` names.
    package let isUnpacked: Bool
    /// Whether something has shown that the response is out of date; see ``madeStale(_:)``.
    package let isOutdated: Bool

    // MARK: Computed from the fields

    /// How long the response is fresh: the server's time, or that of a heuristic.
    package let lifetime: Duration
    /// Whether the server has given the lifetime.
    package let isExplicit: Bool
    /// Whether the server is to be asked before each use.
    package let requiresValidation: Bool
    /// Whether the response may be used without the server when it is stale.
    package let allowsStale: Bool
    /// Whether the response does not change as long as it is fresh.
    package let isImmutable: Bool
    /// How long after the end of freshness it may be used while it is validated.
    package let staleWhileRevalidate: Duration
    /// How long after the end of freshness it may be used instead of an error.
    package let staleIfError: Duration
    /// The entity tag; `nil` without one, and with one that is malformed.
    package let tag: EntityTag?
    /// Whether the body is coded, or was before it was stored.
    package let hasCoding: Bool
    /// `Date`, or when the response was received.
    package let date: Date
    /// The bytes of the fields, as lines of a head.
    package let size: Int
    /// The fields that are served only after a validation.
    private let validatedFields: Set<HTTPField.Name>

    package init(
        status: HTTPResponse.Status, fields: HTTPFields, selection: VarySelection, age: Duration, moment: CacheMoment,
        isUnpacked: Bool, options: CacheOptions, isOutdated: Bool = false
    ) {
        (self.status, self.selection, self.moment, self.isUnpacked) = (status, selection, moment, isUnpacked)
        self.isOutdated = isOutdated
        let age = min(max(age, .zero), .seconds(1 << 34))
        var fields = fields
        if fields.contains(.age) { fields[.age] = nil }
        self.fields = fields
        size = fields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 }
        let directives = CacheDirectives(of: fields)
        date = Freshness.date(.date, of: fields, moment.date) ?? moment.date
        let explicit = Freshness.explicitLifetime(of: fields, directives, sentAt: date, isShared: options.isShared)
        isExplicit = explicit != nil
        let allowsHeuristics =
            options.usesHeuristics && (directives.isPublic || StoringRules.heuristicStatuses.contains(status.code))
        let otherwise = status.code == 200 || status.code == 203 ? options.defaultLifetime : nil
        let lifetime =
            explicit ?? (allowsHeuristics ? Freshness.heuristicLifetime(of: fields, sentAt: date) : nil) ?? otherwise
            ?? .zero
        (self.lifetime, self.age) = (lifetime, isOutdated ? max(age, lifetime) : age)
        // A confirmation can forbid to store the response, or to use it for later requests.
        let isForbidden =
            directives.forbidsStoring && !directives.requiresUnderstanding && !options.storesForbidden
        let isLast = isForbidden || VaryRules.names(in: fields) == nil
        requiresValidation = directives.requiresFullValidation || isLast
        // A time for shared caches requires a validation after it (RFC 9111, 5.2.2.10).
        let requiresShared = directives.requiresValidationWhenShared || directives.sharedMaximumAge != nil
        allowsStale =
            !requiresValidation && !directives.requiresValidationWhenStale && !(options.isShared && requiresShared)
            && !isOutdated
        isImmutable = directives.isImmutable
        staleWhileRevalidate = directives.staleWhileRevalidate.map { .seconds($0) } ?? options.staleWhileRevalidate
        staleIfError =
            options.refusesStale ? .zero : directives.staleIfError.map { .seconds($0) } ?? options.staleIfError
        tag = EntityTag(fields.joined(.eTag))
        hasCoding = fields.contains(.contentEncoding)
        validatedFields = Set(directives.validatedFields)
    }

    /// Whether both are responses to the same requests: they were selected by the same fields, and are coded alike.
    package func isVariant(like other: StoredHead) -> Bool {
        selection == other.selection && isUnpacked == other.isUnpacked && hasCoding == other.hasCoding
    }

    /// The age at a moment; `nil` if it is unknown.
    package func age(at now: CacheMoment) -> Duration? { now.elapsed(since: moment).map { age + $0 } }

    /// How long the response stays fresh. It is stale at zero and below, and far below zero if its age is unknown.
    package func timeLeft(at now: CacheMoment) -> Duration {
        age(at: now).map { lifetime - $0 } ?? Self.unknownTimeLeft
    }

    /// More than any time that a request or a server can allow.
    private static let unknownTimeLeft = Duration.seconds(-(1 << 40))

    /// What a use of the response at a moment is. Its age is the least that it can be if it is unknown.
    package func use(at now: CacheMoment) -> StoredUse {
        let age = age(at: now)
        let left = age.map { lifetime - $0 } ?? Self.unknownTimeLeft
        return StoredUse(
            age: age ?? self.age, timeLeft: left, kind: left > .zero && !requiresValidation ? .fresh : .staleAllowed)
    }

    /// The fields that are served beside `Age`: those that the server wants to be validated first are left out.
    ///
    /// - Parameter isValidated: Whether the server has confirmed the response for this request.
    package func fields(isValidated: Bool) -> HTTPFields {
        if isValidated || validatedFields.isEmpty { return fields }
        return HTTPFields(fields.filter { !validatedFields.contains($0.name) })
    }

    /// The head of a response that is stale at once, but may be used as its directives allow it.
    package func agedOut(_ options: CacheOptions) -> StoredHead {
        StoredHead(
            status: status, fields: fields, selection: selection, age: max(age, lifetime), moment: moment,
            isUnpacked: isUnpacked, options: options)
    }

    /// The head after something has shown that the response is out of date: its time is over, and it is no longer used
    /// without the server. A confirmation makes it usable again.
    package func madeStale(_ options: CacheOptions) -> StoredHead {
        StoredHead(
            status: status, fields: fields, selection: selection, age: age, moment: moment,
            isUnpacked: isUnpacked, options: options, isOutdated: true)
    }
}

extension StoredHead: Hashable {
    /// Whether both say the same about the same response.
    package static func == (one: StoredHead, other: StoredHead) -> Bool {
        one === other
            || one.status == other.status && one.fields == other.fields && one.selection == other.selection
                && one.age == other.age && one.moment == other.moment && one.isUnpacked == other.isUnpacked
                && one.lifetime == other.lifetime && one.requiresValidation == other.requiresValidation
                && one.allowsStale == other.allowsStale
                && one.staleWhileRevalidate == other.staleWhileRevalidate && one.staleIfError == other.staleIfError
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(age)
    }
}

/// What a use of a stored response is.
package struct StoredUse: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The response is fresh.
        case fresh
        /// It is stale, and the server, the caller or the owner of the cache allows that.
        case staleAllowed
    }

    /// The time since the server created or confirmed the response.
    package let age: Duration
    /// How long it stays fresh. It is stale at zero and below.
    package let timeLeft: Duration
    package let kind: Kind

    /// The value of `Age` with which the response is served, in whole seconds.
    package var servedAge: Int64 { age.components.seconds }

    package init(age: Duration, timeLeft: Duration, kind: Kind) {
        (self.age, self.timeLeft, self.kind) = (age, timeLeft, kind)
    }
}
