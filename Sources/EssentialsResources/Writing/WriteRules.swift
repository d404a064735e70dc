import EssentialsHTTP

/// Decides how the response to a write changes the content of the resource.
struct WriteRules: Sendable {
    /// The effect on the content.
    enum Effect: Sendable, Equatable {
        /// The body of the response is the new content.
        case representation
        /// The body of the request is the new content.
        ///
        /// - Parameter isFresh: Whether a validator has confirmed it (RFC 9110, 9.3.4).
        case sent(isFresh: Bool)
        /// The optimistic change becomes part of the content, which is invalid.
        case outdated
        /// The resource does not exist any more.
        case deleted
        /// The server has not carried out the write.
        case failed
    }

    /// The method that was sent.
    var method: HTTPRequest.Method
    /// Whether the write went to the URL of the resource. A write to another URL changes the resource in an unknown
    /// way.
    var isOfResource = true
    /// Whether the new representation was requested.
    var asksForContent = false
    /// Whether the request contains only a part of the representation (RFC 9110, 14.5).
    var isPartial = false

    /// The effect of a response.
    ///
    /// - Parameters:
    ///   - head: The status and the header fields.
    ///   - hasBody: Whether the response has a body.
    ///   - isRedirected: Whether the response comes from another URL than the resource's. Its validators and its body
    ///     then describe something else.
    ///   - namesTarget: Whether a reference leads to the URL of the resource.
    func effect(
        _ head: HTTPResponse, hasBody: Bool, isRedirected: () -> Bool, namesTarget: (String) -> Bool
    ) -> Effect {
        let status = head.status.code
        if method == .delete, isOfResource, status == 404 || status == 410 { return .deleted }
        guard (200...299).contains(status) else { return .failed }
        // 202 means that the server will act later, and 207 that parts may have failed.
        guard isOfResource, status != 202, status != 207 else { return .outdated }
        switch method {
        case .delete: return .deleted
        case .put, .patch:
            if hasBody, status == 200 || status == 201,
                isRepresentation(head.headerFields, isRedirected, namesTarget)
            {
                return .representation
            }
            guard method == .put, !isPartial else { return .outdated }
            return .sent(isFresh: Self.hasValidator(head.headerFields) && !isRedirected())
        default: return .outdated
        }
    }

    /// Whether the body of a response is the new representation: the response says so (RFC 9110, 8.7), or it was
    /// requested (RFC 7240, 4.2).
    private func isRepresentation(
        _ fields: HTTPFields, _ isRedirected: () -> Bool, _ namesTarget: (String) -> Bool
    ) -> Bool {
        if let location = fields[.contentLocation] { return namesTarget(location) }
        guard asksForContent, !isRedirected() else { return false }
        return !(Self.preferenceApplied.flatMap { fields[$0] }.map(Self.isMinimal) ?? false)
    }

    /// Whether a `Preference-Applied` field says that the response does not contain the representation.
    private static func isMinimal(_ value: String) -> Bool {
        value.split(separator: ",").contains { preference in
            let text = preference.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
            return text.lowercased() == "return=minimal"
        }
    }

    static func hasValidator(_ fields: HTTPFields) -> Bool {
        fields[.eTag] != nil || fields[.lastModified] != nil
    }

    private static let preferenceApplied = HTTPField.Name("Preference-Applied")
    static let prefer = HTTPField.Name("Prefer")
    static let returnsRepresentation = "return=representation"
}
