import EssentialsHTTP

/// Decides what may be stored in an entity cache.
package enum EntityCacheRules {
    /// Why an entity is not stored.
    package enum Refusal: Sendable, Hashable {
        /// It is no whole entity.
        case unfit
        /// The server forbids it (RFC 9111, 5.2.2.5).
        case noStore
        /// It may be for one account only, and no partition was entered.
        case personal
        /// It depends on more than the request, so that it is no response to a later one (RFC 9111, 4.1).
        case varies
    }

    /// The statuses whose responses are whole entities of their URL.
    package static let statuses: Set<Int> = [200, 203, 204]

    /// The header fields that are not kept, because they are about one account, one connection or one transfer.
    private static let dropped: Set<HTTPField.Name> = [
        .setCookie, .connection, .transferEncoding, .trailer, .upgrade, .age, .authenticationInfo, .wwwAuthenticate,
        .proxyAuthenticate, .contentEncoding, .contentLength,
    ]

    /// Whether a request had credentials, as far as is known.
    ///
    /// Credentials are header fields whose names sound secret, and whatever led to a response of another origin, because
    /// a redirect may have been personal.
    package static func isPersonal(_ response: DataResponse, to request: DataRequest) -> Bool {
        if hasSecrets(request.headerFields) { return true }
        if let facts = response.cacheFacts, facts.use.isFromCache {
            // Nothing was sent for a stored response. What counts is how it was fetched.
            if facts.isPersonal { return true }
        } else {
            // A double sends nothing.
            guard let sent = response.sentFields else { return false }
            if sent.isEmpty || hasSecrets(sent) { return true }
        }
        return response.redirects.contains { $0.leavesOrigin }
    }

    /// Whether a response that the response cache has received in the background may be for one account only.
    package static func isPersonal(update response: DataResponse) -> Bool {
        // A double does not say what it has sent.
        response.cacheFacts.map(\.isPersonal) ?? true
    }

    /// Whether the name of a query item sounds secret.
    package static func hasSecrets(query: Substring?) -> Bool {
        guard let query else { return false }
        return query.utf8.split(separator: UInt8(ascii: "&")).contains { item in
            SecretName.isSecret(encoded: Substring(item.prefix { $0 != UInt8(ascii: "=") }), .stored)
        }
    }

    private static func hasSecrets(_ fields: HTTPFields) -> Bool {
        fields.contains { SecretName.isSecret($0.name.canonicalName, .stored) }
    }

    /// Why an entity is not stored; `nil` if it is.
    ///
    /// - Parameters:
    ///   - isPersonal: Whether the request had credentials, or the response is `private`.
    ///   - isPersistent: Whether the cache outlives the process.
    ///   - allowsSensitive: Whether the application wants sensitive responses to be stored.
    package static func refusal(
        ofStatus status: Int, _ headerFields: HTTPFields, isPersonal: Bool, partition: EntityPartition,
        isPersistent: Bool, allowsSensitive: Bool
    ) -> Refusal? {
        guard statuses.contains(status) else { return .unfit }
        if VaryRules.names(in: headerFields) == nil { return .varies }
        guard isPersistent, !allowsSensitive else { return nil }
        if forbidsStoring(headerFields) { return .noStore }
        return isPersonal && partition.isShared ? .personal : nil
    }

    /// Whether the server forbids to store a response (RFC 9111, 5.2.2.5).
    package static func forbidsStoring(_ fields: HTTPFields) -> Bool { CacheDirectives(of: fields).forbidsStoring }

    /// Whether the model of a response may be for one account only, because its request had credentials.
    ///
    /// A response that is `private` is one too (RFC 9111, 5.2.2.7).
    ///
    /// - Parameter hasIdentity: Whether the environment has a client certificate.
    package static func isPersonalModel(_ response: DataResponse, to request: DataRequest, hasIdentity: Bool) -> Bool {
        if CacheDirectives(of: response.headerFields).isPrivate { return true }
        // A redirect may have removed what the first URL contained.
        return hasIdentity || isPersonal(response, to: request) || hasSecrets(query: response.url?.query)
            || hasSecrets(query: response.redirects.first?.from.query)
    }

    /// The header fields that are stored.
    package static func kept(_ fields: HTTPFields) -> HTTPFields {
        var kept = HTTPFields()
        for field in fields where !dropped.contains(field.name) { kept.append(field) }
        return kept
    }
}
