/// The directives of a `Cache-Control` field that matter to a cache: those of a response
/// ([RFC 9111, 5.2.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.2), RFC 5861 and RFC 8246), and those of a request
/// (RFC 9111, 5.2.1).
///
/// Unknown directives are skipped. Of repeated numbers the stricter counts. Malformed text never makes a response fresh for
/// longer, and never allows more. Reading takes time linear in the length of the fields.
///
/// ```swift
/// let directives = CacheDirectives(of: response.headerFields)
/// if directives.forbidsStoring { return }
/// ```
package struct CacheDirectives: Sendable, Hashable {
    /// The largest number of seconds that counts: some decades (RFC 9111, 1.2.2).
    package static let maximumSeconds: Int64 = 1 << 31

    // MARK: Of responses and requests

    /// The seconds of `max-age`; `nil` without the directive. A value that is no number is zero (RFC 9111, 4.2.1), and the
    /// smallest of several counts.
    package private(set) var maximumAge: Int64?
    /// Whether the server is to be asked before each use (`no-cache`). The qualified form counts like the plain one, which
    /// is stricter; ``requiresFullValidation`` tells them apart.
    package private(set) var requiresValidation = false
    /// Whether storing is forbidden (`no-store`).
    package private(set) var forbidsStoring = false

    // MARK: Of responses

    /// Whether there is a plain `no-cache`, or one whose list of names is malformed.
    package private(set) var requiresFullValidation = false
    /// The fields that are served only after a validation (`no-cache="name, name"`, RFC 9111, 5.2.2.4).
    package private(set) var validatedFields: [HTTPField.Name] = []
    /// Whether a stale response must not be used without the server (`must-revalidate`).
    package private(set) var requiresValidationWhenStale = false
    /// Whether the same holds for shared caches (`proxy-revalidate`).
    package private(set) var requiresValidationWhenShared = false
    /// Whether only a cache that knows the status may store the response, which may then have `no-store`
    /// (`must-understand`, RFC 9111, 5.2.2.3).
    package private(set) var requiresUnderstanding = false
    /// Whether the response is for one user only (`private`). The qualified form counts like the plain one, which is stricter.
    package private(set) var isPrivate = false
    /// Whether any cache may store the response (`public`).
    package private(set) var isPublic = false
    /// Whether the response does not change as long as it is fresh (`immutable`, RFC 8246).
    package private(set) var isImmutable = false
    /// The seconds of `s-maxage`, which counts for shared caches only.
    package private(set) var sharedMaximumAge: Int64?
    /// The seconds after the end of freshness in which a stale response may be used while it is validated
    /// (`stale-while-revalidate`, RFC 5861, 3).
    package private(set) var staleWhileRevalidate: Int64?
    /// The seconds after the end of freshness in which a stale response may be used instead of an error (`stale-if-error`,
    /// RFC 5861, 4).
    package private(set) var staleIfError: Int64?

    // MARK: Of requests

    /// By how many seconds a response may be stale (`max-stale`). Without a value it is the largest number.
    package private(set) var maximumStaleness: Int64?
    /// For how many seconds a response has to stay fresh (`min-fresh`). A value that is no number is as large as possible.
    package private(set) var minimumFreshness: Int64?
    /// Whether a request accepts only a stored response (`only-if-cached`, RFC 9111, 5.2.1.7).
    package private(set) var requiresStored = false

    /// No directives.
    package init() {}

    /// Reads all lines of the field.
    package init(of fields: HTTPFields) {
        for field in fields where field.name == .cacheControl {
            var reader = CacheDirectiveReader(Array(field.value.utf8))
            while let directive = reader.next() { add(directive) }
        }
    }

    /// Reads the fields of a request, whose `Pragma: no-cache` counts if there is no `Cache-Control` (RFC 9111, 5.4).
    package init(ofRequest fields: HTTPFields) {
        self.init(of: fields)
        guard Self.hasPragmaNoCache(fields), !fields.contains(.cacheControl) else { return }
        (requiresValidation, requiresFullValidation) = (true, true)
    }

    /// Whether the directives of a request ask for more, or for less, than a fresh response.
    package var restrictsUse: Bool {
        requiresValidation || maximumAge != nil || minimumFreshness != nil || maximumStaleness != nil
    }

    /// Whether there is `Pragma: no-cache`.
    static func hasPragmaNoCache(_ fields: HTTPFields) -> Bool {
        fields.contains { field in
            guard field.name.canonicalName == "pragma" else { return false }
            var reader = CacheDirectiveReader(Array(field.value.utf8))
            while let directive = reader.next() {
                if directive.name == "no-cache" { return true }
            }
            return false
        }
    }

    private mutating func add(_ directive: CacheDirectiveReader.Directive) {
        switch directive.name {
        case "max-age": Self.lower(&maximumAge, to: directive.seconds)
        case "s-maxage": Self.lower(&sharedMaximumAge, to: directive.seconds)
        case "stale-while-revalidate": Self.lower(&staleWhileRevalidate, to: directive.seconds)
        case "stale-if-error": Self.lower(&staleIfError, to: directive.seconds)
        case "max-stale": Self.lower(&maximumStaleness, to: directive.isBare ? .max : directive.seconds)
        case "min-fresh":
            minimumFreshness = max(minimumFreshness ?? 0, directive.seconds ?? Self.maximumSeconds)
        case "no-cache": addValidation(of: directive.value)
        case "no-store": forbidsStoring = true
        case "private": isPrivate = true
        case "public": isPublic = true
        case "immutable": isImmutable = true
        case "must-revalidate": requiresValidationWhenStale = true
        case "proxy-revalidate": requiresValidationWhenShared = true
        case "must-understand": requiresUnderstanding = true
        case "only-if-cached": requiresStored = true
        default: break
        }
    }

    /// Of several numbers the smallest counts, and text that is no number is zero.
    private static func lower(_ number: inout Int64?, to seconds: Int64?) {
        number = min(number ?? .max, seconds ?? 0)
    }

    private mutating func addValidation(of list: [UInt8]?) {
        requiresValidation = true
        let members = FieldList.members(of: list ?? [])
        let names = members.compactMap { HTTPField.Name($0) }
        if names.isEmpty || names.count < members.count { requiresFullValidation = true }
        validatedFields += names
    }

    /// A number of seconds (RFC 9111, 1.2.2), at most ``maximumSeconds``; `nil` if the bytes are not digits only.
    static func seconds(_ digits: some Collection<UInt8>) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var seconds: Int64 = 0
        for digit in digits {
            guard digit.isASCIIDigit else { return nil }
            // Ten times the limit is far from an overflow.
            seconds = min(seconds * 10 + Int64(digit & 0x0f), maximumSeconds)
        }
        return seconds
    }
}
