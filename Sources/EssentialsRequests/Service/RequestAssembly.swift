import EssentialsHTTP

/// Makes what the transport sends out of a request, the environment in force and what interceptors have added.
///
/// Fields, the more specific first: the request's own, the interceptors', the credentials, the environment's, the
/// service's. `Content-Type` follows the body.
struct RequestAssembly {
    /// A request as it is sent, and what goes with it.
    struct Result {
        var request: TransportRequest
        /// The request's body, before its progress was asked for.
        var body: RequestBody
        var redirects: RedirectPolicy
        /// What answers the server's challenges, if the credentials are of that kind.
        var digest: DigestSession?
        /// Fields that were set in a place that did not count.
        var passedOver: [HTTPField.Name]
    }

    let request: DataRequest
    let environment: EnvironmentSnapshot
    let settings: ServiceSettings

    private var codecs: CodecRegistry { settings.configuration.codecs }

    // MARK: Plain requests

    /// What draft and result come to where nobody has anything to add, as for most small requests; else nil.
    ///
    /// The way over a draft costs a small request as much as all other stages together.
    ///
    /// - Parameter authorization: The value of the field `Authorization`; nil without credentials.
    @inline(__always)
    func plain(authorization: String?) throws(RequestFailure) -> TransportRequest? {
        guard request.isPlain, environment.headerFields.isEmpty, !settings.configuration.sendsPriority,
            settings.configuration.pathResolution == .join,
            let url = environment.joining(plainPath: request.path)
        else { return nil }
        if request.expectedStatus.isEmpty { throw Self.expectsNothing }
        var fields = settings.standardFields(for: request.answer)
        if let authorization { fields = HTTPFields([HTTPField(name: .authorization, value: authorization)] + fields) }
        return TransportRequest(
            request.method, url, headerFields: fields, options: options(),
            unwantedBodies: request.redirects?.unwantedBodies ?? settings.configuration.redirects.unwantedBodies)
    }

    @inline(__always)
    private func options() -> TransportOptions {
        var options = request.options
        if let trust = environment.trust, options.trust == nil { options.trust = trust }
        return options
    }

    // MARK: The draft

    /// What interceptors get to see.
    func draft() throws(RequestFailure) -> RequestDraft {
        try check()
        var joined = try PathRules.url(request.path, under: environment.baseURL, settings.configuration.pathResolution)
        let query = request.query.encodedQuery
        if !query.isEmpty { joined = joined.appending(encodedQuery: query) }
        let (parameters, place) = try placed()
        return RequestDraft(
            request: request, environment: environment, joined: joined, parameters: parameters, place: place,
            formEncoding: settings.configuration.formEncoding)
    }

    private func check() throws(RequestFailure) {
        if request.expectedStatus.isEmpty { throw Self.expectsNothing }
        if !request.parameters.isEmpty, !request.hasParametersInQuery, !request.body.isNone {
            throw RequestFailure(
                .invalidRequest,
                "The \(request.method.rawValue) request has parameters, which would be its body, and a body.",
                remedy: "Put the parameters into “query”, or take one of them out.",
                underlying: SettingConflict("parameters", "body"))
        }
    }

    private static var expectsNothing: RequestFailure {
        RequestFailure(
            .invalidRequest, "The request expects no status at all, so that it could only fail.",
            remedy: "Name at least one status.")
    }

    private func placed() throws(RequestFailure) -> (FormParameters, RequestDraft.ParameterPlace) {
        if request.hasParametersInQuery { return (request.parameters, .query) }
        switch request.body.content {
        case .none:
            guard !request.parameters.isEmpty else { return ([:], .query) }
            return mergesParameters(standard: request.parameterEncoding)
                ? (request.parameters, .body) : ([:], .query)
        case .parameters(let parameters):
            guard request.parameters.isEmpty else { return (request.parameters, .query) }
            return mergesParameters(standard: request.parameterEncoding) ? (parameters, .body) : ([:], .query)
        case .raw(let body, _) where body.isEmpty: return ([:], .query)
        case .raw, .encoded: return ([:], .queryBesideBody)
        }
    }

    /// Whether the codec of a body of parameters takes those of interceptors too. A type without a codec fails later,
    /// when the body is written.
    private func mergesParameters(standard: MediaType?) -> Bool {
        guard let type = try? mediaType(request.headerFields, standard: standard), let codec = codecs.codec(for: type)
        else { return true }
        return codec.mergesParameters
    }

    // MARK: The request

    func result(
        of draft: RequestDraft, authorization: AuthorizationStore.Content?
    ) throws(RequestFailure) -> Result {
        try draft.headerFields.checkNothingRefused()
        try environment.headerFields.checkNothingRefused()
        var fields = draft.headerFields
        var passedOver = draft.passedOver
        if fields[.contentLength] != nil {
            fields[.contentLength] = nil
            passedOver.append(.contentLength)
        }
        let body = try body(of: draft, fields: &fields, passedOver: &passedOver)
        var digest: DigestSession?
        if let authorization {
            if fields.contains(.authorization) {
                passedOver.append(.authorization)
            } else {
                switch authorization {
                case .field(let value): fields.append(HTTPField(name: .authorization, value: value))
                case .digest(let session): digest = session
                }
            }
        }
        if !environment.headerFields.isEmpty {
            let specific = fields
            for field in environment.headerFields {
                if specific.contains(field.name) || digest != nil && field.name == .authorization {
                    passedOver.append(field.name)
                } else {
                    fields.append(field)
                }
            }
        }
        settings.complete(&fields, of: request)
        var sent = body
        if !body.isEmpty {
            if let progress = request.uploadProgress { sent = sent.reporting(to: progress.forOperation()) }
            if let progress = request.handlerProgress { sent = sent.reporting(to: progress) }
        }
        let prepared = TransportRequest(
            request.method, try draft.url, headerFields: fields, body: sent, options: options())
        return Result(
            request: prepared, body: body, redirects: redirects(of: draft), digest: digest, passedOver: passedOver)
    }

    /// The policy with the names of what belongs to this environment's servers and goes to no others.
    private func redirects(of draft: RequestDraft) -> RedirectPolicy {
        var policy = request.redirects ?? settings.configuration.redirects
        if !draft.headerFields.elementsEqual(request.headerFields) {
            // One that an interceptor has replaced is the interceptor's.
            for name in Set(draft.headerFields.map(\.name))
            where draft.headerFields[values: name] != request.headerFields[values: name] {
                policy.sensitiveFields.insert(name)
            }
        }
        for field in environment.headerFields where !request.headerFields.contains(field.name) {
            policy.sensitiveFields.insert(field.name)
        }
        if hasChangedBody(draft) { policy.keepsBodyInOrigin = true }
        return policy
    }

    /// Whether an interceptor has changed the parameters that are the body.
    private func hasChangedBody(_ draft: RequestDraft) -> Bool {
        guard draft.place == .body else { return false }
        if case .parameters(let parameters) = request.body.content, request.parameters.isEmpty {
            return draft.parameters != parameters
        }
        return draft.parameters != request.parameters
    }

    private func body(
        of draft: RequestDraft, fields: inout HTTPFields, passedOver: inout [HTTPField.Name]
    ) throws(RequestFailure) -> RequestBody {
        var body: RequestBody
        switch request.body.content {
        case .none, .parameters:
            guard let parameters = bodyParameters(of: draft) else { return .none }
            let encoded = try codecs.encode(
                parameters, as: try mediaType(fields, standard: request.parameterEncoding))
            body = .bytes(encoded.body)
            set(encoded.contentType.description, in: &fields, &passedOver)
        case .encoded(let encode):
            let encoded = try encode(codecs, try mediaType(fields, standard: request.body.standardType))
            body = .bytes(encoded.0)
            set(encoded.1.description, in: &fields, &passedOver)
        case .raw(let raw, let standard):
            if raw.isEmpty { return .none }
            body = raw
            if let type = request.body.type {
                set(type, in: &fields, &passedOver)
            } else if let standard, fields[.contentType] == nil {
                fields[.contentType] = standard
            }
        }
        return body
    }

    /// The type that the body was given, or the fields name, or else this one, or JSON.
    private func mediaType(_ fields: HTTPFields, standard: MediaType?) throws(RequestFailure) -> MediaType {
        if let text = request.body.type ?? fields[.contentType] { return try MediaType(text) }
        return standard ?? .json
    }

    private func bodyParameters(of draft: RequestDraft) -> FormParameters? {
        if draft.place == .body { return draft.parameters }
        switch request.body.content {
        case .parameters(let parameters): return parameters
        case .none where !request.parameters.isEmpty && !request.hasParametersInQuery: return request.parameters
        default: return nil
        }
    }

    private func set(_ type: String, in fields: inout HTTPFields, _ passedOver: inout [HTTPField.Name]) {
        if let present = fields[.contentType], present != type, request.body.type != nil {
            passedOver.append(.contentType)
        }
        fields[.contentType] = type
    }
}
