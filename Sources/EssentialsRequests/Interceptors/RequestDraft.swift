public import EssentialsHTTP

/// A request that interceptors prepare.
///
/// ```swift
/// func prepare(_ draft: inout RequestDraft) async throws {
///     try draft.add(.checked(name: "X-Signature", value: sign(draft.url)), onCollision: .replace)
/// }
/// ```
public struct RequestDraft: Sendable {
    /// How ``add(_:onCollision:)`` treats a field that the request or an earlier interceptor has already set.
    public enum Collision: Sendable, Hashable {
        /// The existing field is kept, and the collision is logged.
        case keepExisting
        /// The new field replaces the existing one.
        case replace
        /// The request fails as `invalidRequest`.
        case fail
    }

    /// The request as it was submitted.
    public let request: DataRequest
    /// The environment at the time when the request was submitted.
    public let environment: EnvironmentSnapshot
    /// What interceptors may change, with what they have changed.
    private(set) var parts: RequestParts

    init(request: DataRequest, environment: EnvironmentSnapshot, parts: RequestParts) {
        self.request = request
        self.environment = environment
        self.parts = parts
    }

    /// The fields of the request and of the interceptors so far. Missing fields are later filled in from the
    /// environment and the service.
    public var headerFields: HTTPFields {
        get { parts.headerFields }
        set { parts.headerFields = newValue }
    }
    /// The parameters of the request. Values that an interceptor sets win over the request's own.
    ///
    /// A value is a literal or a variable of any `FormParameterValue`: `draft.parameters["page"] = page`.
    ///
    /// The parameters are sent where the request sends its own. If the body is of another kind, or if the codec of its
    /// type does not merge parameters, this property is empty at first, and its values are added to the query.
    public var parameters: FormParameters {
        get { parts.parameters }
        set { parts.parameters = newValue }
    }

    /// Adds a field.
    ///
    /// - Parameters:
    ///   - field: The field to add.
    ///   - collision: How to treat an existing field of the same name. The default keeps it.
    /// - Throws: `invalidRequest` if a field of the same name exists and `collision` is ``Collision/fail``.
    public mutating func add(
        _ field: HTTPField, onCollision collision: Collision = .keepExisting
    ) throws(RequestFailure) {
        guard headerFields.contains(field.name) else { return headerFields.append(field) }
        switch collision {
        case .keepExisting: parts.passedOver.append(field.name)
        case .replace: headerFields[field.name] = field.value
        case .fail:
            throw RequestFailure(
                .invalidRequest, "The field \(field.name) is already set.",
                remedy: "Set it in one place only, or add it with another collision rule.",
                host: environment.baseURL.origin.host.text)
        }
    }

    /// The URL of the request, with its query so far.
    ///
    /// - Throws: `invalidRequest` if the parameters cannot be encoded as a query.
    public var url: RequestURL {
        get throws(RequestFailure) { try parts.url }
    }
}

extension RequestDraft: CustomReflectable {
    /// The properties for debuggers and `dump`, with only the names of fields and parameters.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "request": request, "environment": environment,
                "headerFields": RedactedText.names(of: headerFields), "parameters": parameters.values.keys.sorted(),
            ])
    }
}
