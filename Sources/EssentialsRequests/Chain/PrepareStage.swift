import EssentialsHTTP

/// The first stage: it runs the interceptors, encodes the body and sets the header fields.
///
/// It runs once for each request. A request that is sent again is not prepared again, so the same bytes are sent.
struct PrepareStage: Sendable {
    let settings: ServiceSettings
    let authorization: AuthorizationStore

    /// The credentials are those of the scope in which the request was submitted, however long the interceptors wait.
    ///
    /// - Throws: `invalidRequest`, `encoding`, `cancelled`, `authorization` if the credentials were cleared or replaced
    ///   meanwhile, and the failures of interceptors.
    func prepare(
        _ request: DataRequest, in environment: RequestEnvironment, _ log: RequestLog, _ cancellation: Cancellation
    ) async throws(RequestFailure) -> RequestAssembly.Result {
        let submitted = authorization.scope(for: environment.snapshot.baseURL.origin, of: request)
        let assembly = RequestAssembly(request: request, environment: environment.snapshot, settings: settings)
        var draft = try assembly.draft()
        // What interceptors add is meant for the servers of the service's environment.
        if !environment.isForeign { draft = try await intercepted(draft, cancellation) }
        let scope = try authorization.bound(submitted)
        let prepared = try assembly.result(of: draft, in: scope)
        log.passedOver(prepared.passedOver)
        return prepared
    }

    /// The draft with the changes of all interceptors. Their code runs in a task that the cancellation cancels.
    private func intercepted(
        _ draft: RequestDraft, _ cancellation: Cancellation
    ) async throws(RequestFailure) -> RequestDraft {
        let interceptors = settings.configuration.interceptors
        guard !interceptors.isEmpty else { return draft }
        let host = draft.environment.baseURL.origin.host.text
        return try await cancellation.runTask(host: host) { () throws(RequestFailure) in
            var draft = draft
            for interceptor in interceptors { try await interceptor.run(host: host) { try await $0.prepare(&draft) } }
            return draft
        }
    }
}

/// Assembles the request that the transport sends from a request, its environment and the changes of interceptors.
///
/// Header fields have this precedence: the request's own, the interceptors', the credentials, the environment's, the
/// service's. `Content-Type` depends on the body.
struct RequestAssembly {
    /// A request as it is sent, and the rules for the stages that send it.
    struct Result: Sendable {
        var request: TransportRequest
        var rules: ExchangeRules
        /// The names of fields that were set in several places. The less specific values were dropped.
        var passedOver: [HTTPField.Name]
        /// For whom the request is sent; `nil` if no scope is known.
        var scope: CredentialScope?
    }

    let request: DataRequest
    let environment: EnvironmentSnapshot
    let settings: ServiceSettings

    private var codecs: CodecRegistry { request.codecs ?? settings.configuration.codecs }

    private func options() -> TransportOptions {
        var options = request.options
        if let trust = environment.trust, options.trust == nil { options.trust = trust }
        return options
    }

    // MARK: The draft

    /// The draft that interceptors may change.
    func draft() throws(RequestFailure) -> RequestDraft {
        try check()
        var joined = try url()
        let query = request.query.encodedQuery
        if !query.isEmpty { joined = joined.appending(encodedQuery: query) }
        let (parameters, place) = try placed()
        return RequestDraft(
            request: request, environment: environment, joined: joined, parameters: parameters, place: place,
            formEncoding: settings.configuration.formEncoding)
    }

    /// The URL without the query items and the parameters.
    func url() throws(RequestFailure) -> RequestURL {
        let base = environment.baseURL
        let resolution = request.isDefined ? .join : settings.configuration.pathResolution
        if let url = request.base.knownURL(of: request.path) {
            return try PathRules.url(url, under: base, resolution)
        }
        let url = try PathRules.url(request.path, under: base, resolution)
        guard request.isDefined || !request.base.isEnvironment, !request.hasWholeQuery else { return url }
        return try url.keepingQuery(of: base)
    }

    private func check() throws(RequestFailure) {
        if request.expectedStatus.isEmpty { throw .expectsNothing }
        if !request.parameters.isEmpty, !request.hasParametersInQuery, !request.body.isNone {
            throw RequestFailure(
                .invalidRequest,
                "The \(request.method.rawValue) request has a body, and parameters that would be its body too.",
                remedy: "Move the parameters to “query”, or remove one of the two.",
                underlying: SettingConflict("parameters", "body"))
        }
    }

    /// The parameters that interceptors may change, and the part of the request to which they belong.
    private func placed() throws(RequestFailure) -> (FormParameters, RequestDraft.ParameterPlace) {
        if request.hasParametersInQuery { return (request.parameters, .query) }
        switch body.content {
        case .none: return ([:], .query)
        case .parameters(let parameters): return mergesParameters ? (parameters, .body) : ([:], .query)
        case .raw(let body, _) where body.isEmpty: return ([:], .query)
        case .raw, .encoded: return ([:], .queryBesideBody)
        }
    }

    /// The body of the request, or its parameters if it has no body and they do not belong to the query.
    private var body: DataRequest.Body {
        guard request.body.isNone, !request.hasParametersInQuery else { return request.body }
        return .parameters(request.parameters, standardType: nil)
    }

    /// Whether the codec of a parameter body accepts further parameters from interceptors. A type without a codec fails
    /// later, when the body is encoded.
    private var mergesParameters: Bool {
        guard let type = try? mediaType(request.headerFields), let codec = codecs.codec(for: type) else { return true }
        return codec.mergesParameters
    }

    // MARK: The request

    /// The request that is sent, with the credentials of the scope.
    func result(of draft: RequestDraft, in scope: CredentialScope?) throws(RequestFailure) -> Result {
        try draft.headerFields.checkNothingRefused()
        try environment.headerFields.checkNothingRefused()
        var fields = draft.headerFields
        var passedOver = draft.passedOver
        if fields[.contentLength] != nil {
            fields[.contentLength] = nil
            passedOver.append(.contentLength)
        }
        let body = try encoded(draft, fields: &fields, passedOver: &passedOver)
        var digest: DigestSession?
        var tokens: TokenSession?
        if let authorization = scope?.content {
            if fields.contains(.authorization) {
                passedOver.append(.authorization)
            } else {
                switch authorization {
                case .field(let value): fields.append(HTTPField(name: .authorization, value: value))
                case .digest(let session): digest = session
                case .tokens(let session): tokens = session
                }
            }
        }
        if !environment.headerFields.isEmpty {
            let specific = fields
            for field in environment.headerFields {
                if specific.contains(field.name) || field.name == .authorization && (digest != nil || tokens != nil) {
                    passedOver.append(field.name)
                } else {
                    fields.append(field)
                }
            }
        }
        settings.complete(&fields, of: request)
        let isIdempotent = try identify(&fields)
        var sent = body
        if !body.isEmpty {
            if let progress = request.uploadProgress { sent = sent.reporting(to: progress.forOperation()) }
            if let progress = request.handlerProgress { sent = sent.reporting(to: progress) }
        }
        var transportRequest = TransportRequest(
            request.method, try draft.url, headerFields: fields, body: sent, options: options())
        transportRequest.isIdempotent = isIdempotent
        transportRequest.raisablePriority = request.raisablePriority
        return Result(
            request: transportRequest,
            rules: ExchangeRules(
                expectedStatus: request.expectedStatus,
                errorModel: request.errorModel ?? settings.configuration.errorModel, codecs: codecs,
                redirects: redirects(of: draft), body: body, downloadProgress: request.downloadProgress,
                ownOrigin: environment.stages.isEmpty ? nil : OwnOriginRules(request, in: environment, settings),
                retries: settings.retries(request.retry), isIdempotent: isIdempotent,
                usesCookies: request.usesCookies, joins: settings.joins(request.joins), digest: digest, tokens: tokens),
            passedOver: passedOver, scope: scope)
    }

    /// Adds the request's idempotency key, and returns whether the server may process the request twice; `nil` means that
    /// the method decides.
    private func identify(_ fields: inout HTTPFields) throws(RequestFailure) -> Bool? {
        guard let name = HTTPField.Name.idempotencyKey else { return request.isIdempotent }
        if let key = request.idempotencyKey, !fields.contains(name) {
            fields.append(try key.field(name, random: settings.configuration.clock.random))
        }
        return request.isIdempotent ?? (fields.contains(name) ? true : nil)
    }

    /// The redirect policy, extended with the fields that only the environment's servers may receive.
    private func redirects(of draft: RequestDraft) -> RedirectPolicy {
        var policy = request.redirects ?? settings.configuration.redirects
        if !draft.headerFields.elementsEqual(request.headerFields) {
            // Fields that an interceptor has added or replaced.
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

    /// Whether an interceptor has changed the parameters in the body.
    private func hasChangedBody(_ draft: RequestDraft) -> Bool {
        guard draft.place == .body, case .parameters(let parameters) = body.content else { return false }
        return draft.parameters != parameters
    }

    /// The encoded body. Its `Content-Type` is set in the fields.
    private func encoded(
        _ draft: RequestDraft, fields: inout HTTPFields, passedOver: inout [HTTPField.Name]
    ) throws(RequestFailure) -> RequestBody {
        switch body.content {
        case .none: return .none
        case .parameters(let own):
            let parameters = draft.place == .body ? draft.parameters : own
            let encoded = try codecs.encode(parameters, as: try mediaType(fields))
            set(encoded.contentType.description, in: &fields, &passedOver)
            return .bytes(encoded.body)
        case .encoded(let encode):
            let (bytes, type) = try encode(codecs, try mediaType(fields))
            set(type.description, in: &fields, &passedOver)
            return .bytes(bytes)
        case .raw(let raw, let standard):
            if raw.isEmpty { return .none }
            if let type = body.type {
                set(type, in: &fields, &passedOver)
            } else if let standard, fields[.contentType] == nil {
                fields[.contentType] = standard
            }
            return raw
        }
    }

    /// The first of these that is set: the explicit type of the body, the type in the fields, the standard type of the
    /// body, and JSON.
    private func mediaType(_ fields: HTTPFields) throws(RequestFailure) -> MediaType {
        if let text = body.type ?? fields[.contentType] { return try MediaType(text) }
        return body.standardType ?? .json
    }

    private func set(_ type: String, in fields: inout HTTPFields, _ passedOver: inout [HTTPField.Name]) {
        if let present = fields[.contentType], present != type, body.type != nil {
            passedOver.append(.contentType)
        }
        fields[.contentType] = type
    }
}
