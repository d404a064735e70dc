import EssentialsHTTP
import EssentialsRequests

/// Decides what happens to the response for a blob, and to a failure.
enum BlobRules {
    /// Whether a stale blob may be used if the server cannot be reached (RFC 9111, 4.2.4).
    static func allowsStale(_ fields: HTTPFields) -> Bool {
        let directives = CacheDirectives(of: fields)
        return !directives.requiresValidation && !directives.requiresValidationWhenStale
    }

    /// Whether a failure means that the URL has no resource any more.
    static func isGone(_ failure: RequestFailure) -> Bool {
        failure.reason == .status && [404, 410].contains(failure.status?.code)
    }

    /// Whether a response may be stored; see `EntityCacheRules`.
    static func allowsStoring(
        _ status: Int, _ fields: HTTPFields, isPersonal: Bool, partition: EntityPartition, allowsSensitive: Bool
    ) -> Bool {
        guard status == 200 || status == 203 else { return false }
        guard !allowsSensitive else { return true }
        return !CacheDirectives(of: fields).forbidsStoring && (!isPersonal || !partition.isShared)
    }
}
