import EssentialsHTTP
import FoundationEssentials

/// Assembles the request that the transport sends from a request, its environment and the changes of interceptors.
///
/// Header fields have this precedence: the request's own, the interceptors', the credentials, the environment's, the
/// service's. `Content-Type` depends on the body.
///
/// The steps are functions of the request, because a value that holds request and environment would copy both.
extension DataRequest {
    /// The parts that interceptors may change.
    func parts(
        in environment: EnvironmentSnapshot, _ settings: ServiceSettings
    ) throws(RequestFailure) -> RequestParts {
        try check()
        if base.isAnyServer { try checkForAnyServer(host: environment.baseURL.origin.host.text) }
        var joined = try url(in: environment, settings)
        if !query.items.isEmpty {
            let query = query.encodedQuery
            if !query.isEmpty { joined = joined.appending(encodedQuery: query) }
        }
        let (parameters, place) = placedParameters(settings)
        return RequestParts(
            headerFields: headerFields, parameters: parameters, place: place, joined: joined,
            formEncoding: settings.configuration.formEncoding)
    }

    /// The URL without the query items and the parameters.
    func url(
        in environment: EnvironmentSnapshot, _ settings: ServiceSettings
    ) throws(RequestFailure) -> RequestURL {
        if base.isAnyServer { return environment.baseURL }
        let place = place(under: environment.baseURL, settings)
        if let url = base.knownURL(of: path) { return try PathRules.url(url, under: place.base, place.resolution) }
        return try place.url
    }

    /// Where the path leads, unless the request has a known URL.
    func place(under base: RequestURL, _ settings: ServiceSettings) -> PathPlace {
        PathPlace(
            path: path, base: base, resolution: isDefined ? .join : settings.configuration.pathResolution,
            keepsQuery: (isDefined || !self.base.isEnvironment) && !hasWholeQuery)
    }

    private func check() throws(RequestFailure) {
        if expectedStatus.isEmpty { throw .expectsNothing }
        if !parameters.isEmpty, !hasParametersInQuery, !body.isNone {
            throw RequestFailure(
                .invalidRequest,
                "The \(method.rawValue) request has a body, and parameters that would be its body too.",
                remedy: "Move the parameters to “query”, or remove one of the two.",
                underlying: SettingConflict("parameters", "body"))
        }
    }

    /// The parameters that interceptors may change, and where they are sent.
    private func placedParameters(_ settings: ServiceSettings) -> (FormParameters, RequestParts.ParameterPlace) {
        if hasParametersInQuery { return (parameters, .query) }
        switch body.content {
        case .none:
            return !parameters.isEmpty && mergesParameters(settings) ? (parameters, .body) : ([:], .query)
        case .parameters(let parameters):
            return mergesParameters(settings) ? (parameters, .body) : ([:], .query)
        case .raw(let body, _) where body.isEmpty: return ([:], .query)
        case .raw, .encoded: return ([:], .queryBesideBody)
        }
    }

    /// Whether the codec of a parameter body accepts further parameters from interceptors. A type without a codec fails
    /// later, when the body is encoded.
    private func mergesParameters(_ settings: ServiceSettings) -> Bool {
        guard let type = try? mediaType(headerFields) else { return true }
        return codecs(settings).codec(for: type)?.mergesParameters ?? true
    }

    private func codecs(_ settings: ServiceSettings) -> CodecRegistry { codecs ?? settings.configuration.codecs }
}

/// A path and its base, of which the URL is made when somebody needs it.
struct PathPlace: Sendable {
    let path: String
    let base: RequestURL
    let resolution: PathResolution
    /// Whether the URL has the query of the base too.
    let keepsQuery: Bool

    /// - Throws: `invalidRequest` if the path leads to another origin or out of the base's path.
    var url: RequestURL {
        get throws(RequestFailure) {
            let url = try PathRules.url(path, under: base, resolution)
            return keepsQuery ? try url.keepingQuery(of: base) : url
        }
    }
}

// MARK: The request that is sent

extension DataRequest {
    /// The record with the request that is sent, and the rules for the stages that send it.
    ///
    /// - Parameters:
    ///   - parts: The parts with the changes of the interceptors.
    ///   - scope: Whose credentials the request has; `nil` for a request to any server.
    func record(
        _ parts: RequestParts, in environment: EnvironmentSnapshot, isForeign: Bool, _ scope: CredentialScope?,
        _ submitted: SubmittedRequest, _ settings: ServiceSettings
    ) throws(RequestFailure) -> ExchangeRecord {
        try parts.headerFields.checkNothingRefused()
        try environment.headerFields.checkNothingRefused()
        var (fields, passedOver) = (parts.headerFields, parts.passedOver)
        if !fields.isEmpty, fields[.contentLength] != nil {
            fields[.contentLength] = nil
            passedOver.append(.contentLength)
        }
        let body = try encodedBody(parts, settings, fields: &fields, passedOver: &passedOver)
        let (digest, tokens) = authorize(&fields, in: scope, &passedOver)
        fields.fill(from: environment.headerFields, isAuthorized: digest != nil || tokens != nil, &passedOver)
        let own = self.settings.merging(over: environment.settings.forRequests(with: method))
        let isIdempotent = try identify(&fields, own, settings)
        settings.complete(&fields, of: self)
        submitted.reporter.passedOver(passedOver)
        return ExchangeRecord(
            sent(try parts.url, fields, body, isIdempotent, environment),
            ExchangeRules(
                expectedStatus: expectedStatus, errorModel: errorModel ?? settings.configuration.errorModel,
                codecs: codecs(settings), redirects: redirects(own.redirects, of: parts, in: environment, settings),
                body: body,
                downloadProgress: downloadProgress,
                everywhere: settings.hops.rules(self.settings, isOfRequest: true),
                ownOrigin: environment.settings.isEmpty
                    ? nil
                    : OwnOriginRules(
                        environment.baseURL.origin, settings.hops.rules(own, isOfRequest: false)),
                isIdempotent: isIdempotent, usesCookies: !base.isAnyServer, joins: settings.joins(own.joins),
                cachePolicy: own.cachePolicy ?? settings.cachePolicy, boundContent: boundContent,
                digest: digest, tokens: tokens),
            id: submitted.place.id, environment: isForeign ? nil : environment,
            submission: Submission(begun: submitted.begun, scope: scope), cancellation: submitted.place.cancellation)
    }

    /// The request as it and its interceptors have made it, with the fields of its environment, but without credentials and
    /// what the service adds.
    func ownRequest(
        _ parts: RequestParts, in environment: EnvironmentSnapshot, _ settings: ServiceSettings
    ) throws(RequestFailure) -> TransportRequest {
        var (fields, passedOver) = (parts.headerFields, parts.passedOver)
        // The service sets the length of the body itself.
        fields[.contentLength] = nil
        let body = try encodedBody(parts, settings, fields: &fields, passedOver: &passedOver)
        fields.fill(from: environment.headerFields, isAuthorized: false, &passedOver)
        if case .text? = self.settings.idempotencyKey { _ = try identify(&fields, self.settings, settings) }
        return TransportRequest(method, try parts.url, headerFields: fields, body: body, options: options)
    }

    /// The request as it is sent.
    private func sent(
        _ url: RequestURL, _ fields: HTTPFields, _ body: RequestBody, _ isIdempotent: Bool?,
        _ environment: EnvironmentSnapshot
    ) -> TransportRequest {
        var request = TransportRequest(method, url, headerFields: fields, body: reported(body), options: options)
        if let trust = environment.trust, options.trust == nil { request.options.trust = trust }
        request.isIdempotent = isIdempotent
        request.isForAnyServer = base.isAnyServer
        request.raisablePriority = raisablePriority
        return request
    }

    /// The body with the reports of its progress.
    private func reported(_ body: RequestBody) -> RequestBody {
        guard !body.isEmpty else { return body }
        var sent = body
        if let progress = uploadProgress { sent = sent.reporting(to: progress.forOperation()) }
        if let progress = handlerProgress { sent = sent.reporting(to: progress) }
        return sent
    }

    /// Adds the credentials of a scope, unless the request has its own.
    ///
    /// - Returns: The credentials that a stage adds to each attempt.
    private func authorize(
        _ fields: inout HTTPFields, in scope: CredentialScope?, _ passedOver: inout [HTTPField.Name]
    ) -> (digest: DigestSession?, tokens: TokenSession?) {
        guard let authorization = scope?.content else { return (nil, nil) }
        guard !fields.contains(.authorization) else {
            passedOver.append(.authorization)
            return (nil, nil)
        }
        switch authorization {
        case .field(let value):
            fields.append(HTTPField(name: .authorization, value: value))
            return (nil, nil)
        case .digest(let session): return (session, nil)
        case .tokens(let session): return (nil, session)
        }
    }

    /// Adds the request's idempotency key, and returns whether the server may process the request twice; `nil` means that
    /// the method decides.
    private func identify(
        _ fields: inout HTTPFields, _ own: RequestSettings, _ settings: ServiceSettings
    ) throws(RequestFailure) -> Bool? {
        let isIdempotent = own.isIdempotent ?? settings.configuration.settings.isIdempotent
        let key = own.idempotencyKey ?? (method.isSafe ? nil : settings.configuration.settings.idempotencyKey)
        guard key != nil || !fields.isEmpty, let name = HTTPField.Name.idempotencyKey else { return isIdempotent }
        if let key, !fields.contains(name) {
            fields.append(try key.field(name, random: settings.configuration.clock.random))
        }
        return isIdempotent ?? (fields.contains(name) ? true : nil)
    }

    /// The redirect policy, extended with the fields that only the environment's servers may receive.
    private func redirects(
        _ own: RedirectPolicy?, of parts: RequestParts, in environment: EnvironmentSnapshot, _ settings: ServiceSettings
    ) -> RedirectPolicy {
        var policy = own ?? settings.configuration.redirects
        if !parts.headerFields.isEmpty, !parts.headerFields.elementsEqual(headerFields) {
            // Fields that an interceptor has added or replaced.
            for name in Set(parts.headerFields.map(\.name))
            where parts.headerFields[values: name] != headerFields[values: name] {
                policy.sensitiveFields.insert(name)
            }
        }
        for field in environment.headerFields where !headerFields.contains(field.name) {
            policy.sensitiveFields.insert(field.name)
        }
        if hasChangedBody(parts) { policy.keepsBodyInOrigin = true }
        return policy
    }

    /// Whether an interceptor has changed the parameters in the body.
    private func hasChangedBody(_ parts: RequestParts) -> Bool {
        guard parts.place == .body, let ownParameters else { return false }
        return parts.parameters != ownParameters
    }

    /// The parameters that the request sends as its body; `nil` if its body is another one.
    private var ownParameters: FormParameters? {
        switch body.content {
        case .none: hasParametersInQuery || parameters.isEmpty ? nil : parameters
        case .parameters(let parameters): parameters
        case .raw, .encoded: nil
        }
    }

    /// The encoded body. Its `Content-Type` is set in the fields.
    private func encodedBody(
        _ parts: RequestParts, _ settings: ServiceSettings, fields: inout HTTPFields,
        passedOver: inout [HTTPField.Name]
    ) throws(RequestFailure) -> RequestBody {
        switch body.content {
        case .none, .parameters:
            guard let own = ownParameters else { return .none }
            let parameters = parts.place == .body ? parts.parameters : own
            let encoded = try codecs(settings).encode(parameters, as: try mediaType(fields))
            set(encoded.contentType.description, in: &fields, &passedOver)
            return .bytes(encoded.body)
        case .encoded(let encode):
            let (bytes, type) = try encode(codecs(settings), try mediaType(fields))
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

extension HTTPFields {
    /// Adds the fields of an environment that a request does not have itself.
    ///
    /// - Parameter isAuthorized: Whether a stage adds credentials to each attempt, so that there may be no others.
    fileprivate mutating func fill(
        from environment: HTTPFields, isAuthorized: Bool, _ passedOver: inout [HTTPField.Name]
    ) {
        guard !environment.isEmpty else { return }
        let specific = self
        for field in environment {
            if specific.contains(field.name) || field.name == .authorization && isAuthorized {
                passedOver.append(field.name)
            } else {
                append(field)
            }
        }
    }
}
