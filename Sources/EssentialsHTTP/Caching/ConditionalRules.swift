#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The conditions of requests: those with which a cache validates, those of the caller, and what a 304 confirms
/// (RFC 9111, 4.3, and RFC 9110, 13).
enum ConditionalRules {
    // MARK: Asking

    /// The fields that ask the server whether stored responses are still right. They are empty without a validator.
    ///
    /// All entity tags are sent, and the last change of the newest response.
    ///
    /// - Parameter indices: The stored responses that fit the request, the newest first.
    static func conditions(for indices: [Int], of stored: [StoredHead]) -> HTTPFields {
        // A condition is about the representation of the URL, which other statuses are not (RFC 9110, 13.2.1).
        let heads = indices.map { stored[$0] }.filter { $0.status.kind == .successful }
        var conditions = HTTPFields()
        let tags = heads.compactMap { $0.tag?.text }
        if !tags.isEmpty { conditions[.ifNoneMatch] = tags.joined(separator: ", ") }
        let modified = heads.first?.fields.joined(.lastModified)
        if let modified, !modified.utf8.contains(where: \.isFieldControl) { conditions[.ifModifiedSince] = modified }
        return conditions
    }

    // MARK: The caller's conditions

    /// Whether a stored response is the one that the caller has, so that the response to its condition is 304
    /// (RFC 9110, 13.2.2).
    static func isUnchanged(_ head: StoredHead, for fields: HTTPFields) -> Bool {
        guard head.status.kind == .successful else { return false }
        if let text = fields.joined(.ifNoneMatch) {
            let (isAny, tags) = EntityTag.list(text)
            return isAny || tags.contains { $0.matchesWeakly(head.tag) }
        }
        guard let since = Freshness.date(.ifModifiedSince, of: fields, head.moment.date),
            let modified = Freshness.date(.lastModified, of: head.fields, head.moment.date)
        else { return false }
        return modified <= since
    }

    // MARK: Confirmations

    /// The stored response that a 304 confirms; `nil` if that is not certain (RFC 9111, 4.3.4).
    ///
    /// - Parameters:
    ///   - response: The fields of the 304.
    ///   - conditions: The conditions that the cache has sent.
    ///   - indices: The stored responses that fit the request, the newest first.
    static func confirmed(
        by response: HTTPFields, _ conditions: HTTPFields, among indices: [Int], of stored: [StoredHead]
    ) -> Int? {
        let tags = conditions.joined(.ifNoneMatch).map { EntityTag.list($0).tags } ?? []
        if response.contains(.eTag) {
            guard let tag = EntityTag(response.joined(.eTag)) else { return nil }
            return indices.first { index in
                guard let own = stored[index].tag, tags.contains(own) else { return false }
                return tag.isWeak ? own.matchesWeakly(tag) : own.matchesStrongly(tag)
            }
        }
        // Without a tag, a 304 to several of them can be about any.
        let modified = conditions.joined(.ifModifiedSince)
        guard tags.count <= 1, !response.contains(.lastModified) || response.joined(.lastModified) == modified else {
            return nil
        }
        return indices.first { index in
            if let tag = tags.first { return stored[index].tag == tag }
            return modified != nil && stored[index].fields.joined(.lastModified) == modified
        }
    }

    /// The stored response that a 304 to the caller's own condition confirms: the newest with its strong tag.
    static func confirmed(by response: HTTPFields, among indices: [Int], of stored: [StoredHead]) -> Int? {
        let tag = EntityTag(response.joined(.eTag))
        return indices.first { stored[$0].tag?.matchesStrongly(tag) == true }
    }

    /// Whether a HEAD response shows that a stored response is still right, or that it is not; `nil` if it shows neither
    /// (RFC 9111, 4.3.5).
    static func isConfirmed(_ head: StoredHead, byHead response: HTTPFields) -> Bool? {
        var isConfirmed: Bool?
        for name in [HTTPField.Name.eTag, .lastModified] where response.contains(name) {
            guard response[name] == head.fields[name] else { return false }
            isConfirmed = true
        }
        if let length = response.joined(.contentLength), let known = head.fields.joined(.contentLength), length != known
        {
            return false
        }
        return isConfirmed
    }

    /// The fields that describe the stored body, which a confirmation does not have (RFC 9111, 3.2).
    private static let ofBody: Set<HTTPField.Name> = [.contentLength, .contentEncoding, .contentRange]

    /// The fields of a stored response after a confirmation: all of the confirmation's replace the stored ones, but those
    /// that describe the body.
    ///
    /// - Parameter now: When the confirmation was received. It is its date if it has none, because the stored one says
    ///   nothing about it.
    static func merged(_ fields: HTTPFields, with confirmation: HTTPFields, at now: Date) -> HTTPFields {
        fields.merged(with: dated(confirmation.withoutConnection, at: now)) { ofBody.contains($0) }
    }

    /// The fields with a `Date` that is one.
    static func dated(_ fields: HTTPFields, at now: Date) -> HTTPFields {
        guard Freshness.date(.date, of: fields, now) == nil else { return fields }
        var dated = fields
        dated[.date] = HTTPDate.text(of: now)
        return dated
    }
}

/// What a request that may change something makes invalid ([RFC 9111, 4.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.4)).
enum InvalidationRules {
    /// Methods that are registered as safe, beside those of RFC 9110.
    private static let otherSafeMethods: Set<String> = ["PROPFIND", "QUERY", "REPORT", "SEARCH"]

    /// Whether requests of a method change nothing. A method that is not known may change something.
    static func isSafe(_ method: HTTPRequest.Method) -> Bool {
        method.isSafe || otherSafeMethods.contains(method.rawValue)
    }

    /// The URLs whose stored responses are invalid after a response to an unsafe request: that of the request, and those of
    /// `Location` and `Content-Location` at its origin. They are empty after an error.
    static func invalidURLs(after response: HTTPResponse, to url: RequestURL) -> [RequestURL] {
        guard (200..<400).contains(response.status.code) else { return [] }
        var urls = [url]
        for field in response.headerFields where field.name == .location || field.name == .contentLocation {
            let reference = URLReference(field.withUnsafeBytesOfValue { Array($0) })
            guard let other = try? reference.resolved(against: url), other.origin == url.origin, !urls.contains(other)
            else { continue }
            urls.append(other)
        }
        return urls
    }
}
