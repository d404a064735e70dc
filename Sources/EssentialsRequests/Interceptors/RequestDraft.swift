public import EssentialsHTTP

/// A request while it is being prepared.
///
/// ```swift
/// func prepare(_ draft: inout RequestDraft) async throws {
///     try draft.add(.checked(name: "X-Signature", value: sign(draft.url)), onCollision: .replace)
/// }
/// ```
public struct RequestDraft: Sendable {
    /// What becomes of a field that is there already, by the request's or an earlier interceptor's hand.
    public enum Collision: Sendable, Hashable {
        /// The one that is there stays, and the logger is told.
        case keepExisting
        /// The new one takes its place.
        case replace
        /// The request ends as `invalidRequest`.
        case fail
    }

    /// The request as it was submitted.
    public let request: DataRequest
    /// The environment that it goes to.
    public let environment: EnvironmentSnapshot
    /// The request's fields, with what interceptors have added; the environment's and the service's come later and fill
    /// in what is missing.
    public var headerFields: HTTPFields
    /// The request's parameters, for those whose parameters can be added to; else none. What is put in wins over the
    /// request's own. They go where the request's parameters go, and where it has a body of another kind, or of
    /// a type whose codec does not merge parameters, to the query.
    public var parameters: FormParameters
    /// Names of fields that were not put in because there was one.
    private(set) var passedOver: [HTTPField.Name] = []

    /// Where ``parameters`` go.
    enum ParameterPlace: Sendable {
        case query
        /// They are the body.
        case body
        /// To the query, although the request's body is of another kind.
        case queryBesideBody
    }

    let place: ParameterPlace
    private let joined: RequestURL
    private let formEncoding: FormEncoding

    init(
        request: DataRequest, environment: EnvironmentSnapshot, joined: RequestURL, parameters: FormParameters,
        place: ParameterPlace, formEncoding: FormEncoding
    ) {
        self.request = request
        self.environment = environment
        self.joined = joined
        self.parameters = parameters
        self.place = place
        self.formEncoding = formEncoding
        headerFields = request.headerFields
    }

    /// Puts a field in.
    ///
    /// - Throws: `invalidRequest` when there is one of that name and the collision is to fail.
    public mutating func add(
        _ field: HTTPField, onCollision collision: Collision = .keepExisting
    ) throws(RequestFailure) {
        guard headerFields.contains(field.name) else { return headerFields.append(field) }
        switch collision {
        case .keepExisting: passedOver.append(field.name)
        case .replace: headerFields[field.name] = field.value
        case .fail:
            throw RequestFailure(
                .invalidRequest, "The field \(field.name) was set before the preparation could set it.",
                remedy: "Set it in one place only.", host: environment.baseURL.origin.host.text)
        }
    }

    /// Where the request goes, with the query that it has so far.
    ///
    /// - Throws: `invalidRequest` when the parameters have no form as a query.
    public var url: RequestURL {
        get throws(RequestFailure) {
            guard place != .body, !parameters.isEmpty else { return joined }
            let query = try formEncoding.query(parameters)
            return query.isEmpty ? joined : joined.appending(encodedQuery: query)
        }
    }
}

extension RequestDraft: CustomReflectable {
    /// The properties above, for debuggers and `dump`: of fields and parameters the names.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "request": request, "environment": environment,
                "headerFields": RedactedText.names(of: headerFields), "parameters": parameters.values.keys.sorted(),
            ])
    }
}
