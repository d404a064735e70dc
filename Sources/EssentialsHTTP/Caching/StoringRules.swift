/// What may be stored (RFC 9111, 3).
package enum StoringRules {
    /// The statuses whose responses can be stored without explicit freshness (RFC 9110, 15.1), but 206.
    package static let heuristicStatuses: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    /// The statuses whose responses belong to one exchange.
    private static let neverStored: Set<Int> = [206, 304, 401, 407, 416]

    /// Why a response is not stored, whatever its freshness is; `nil` if it may be.
    ///
    /// - Parameters:
    ///   - hasAuthorization: Whether the request was sent with `Authorization`.
    static func refusal(
        of response: HTTPResponse, _ directives: CacheDirectives, hasAuthorization: Bool, _ options: CacheOptions
    ) -> NotStoredReason? {
        let status = response.status
        if neverStored.contains(status.code) { return .status(status.code) }
        if directives.requiresUnderstanding {
            if status.registeredPhrase == nil { return .notUnderstood }
        } else if directives.forbidsStoring, !options.storesForbidden {
            return .noStore
        }
        guard options.isShared else { return nil }
        if directives.isPrivate { return .privateResponse }
        let isForAll =
            directives.isPublic || directives.requiresValidationWhenStale || directives.sharedMaximumAge != nil
        return hasAuthorization && !isForAll ? .authorization : nil
    }

    /// Whether there is a use in storing a response: it is fresh for some time, or can be validated later.
    static func isUseful(_ head: StoredHead, isPublic: Bool, _ options: CacheOptions) -> Bool {
        if head.isExplicit, head.lifetime > head.age { return true }
        // An error without a time to come would replace a response that can still be used.
        guard heuristicStatuses.contains(head.status.code) || isPublic else { return false }
        return head.isExplicit || head.lifetime > .zero || head.fields.condition != nil
            || options.defaultLifetime != nil
    }
}

/// Why a response is not stored, in a few words for the tool and for `Cache-Status`.
package struct NotStoredReason: Sendable, Hashable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static let method = NotStoredReason("method")
    package static let bypass = NotStoredReason("bypass")
    package static let requestNoStore = NotStoredReason("no-store in the request")
    package static let noStore = NotStoredReason("no-store in the response")
    package static let notUnderstood = NotStoredReason("must-understand and an unknown status")
    package static let privateResponse = NotStoredReason("private in a shared cache")
    package static let authorization = NotStoredReason("Authorization in a shared cache")
    package static let varies = NotStoredReason("Vary with more than names of text fields")
    package static let noFreshness = NotStoredReason("no freshness and no validator")
    package static let unchanged = NotStoredReason("a HEAD response says nothing new")
    package static func status(_ code: Int) -> NotStoredReason { NotStoredReason("status \(code)") }
}
