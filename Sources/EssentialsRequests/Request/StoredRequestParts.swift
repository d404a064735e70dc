package import EssentialsHTTP
package import FoundationEssentials

/// The parts of a request that can be stored as bytes, so that it can be sent later, also by another process.
///
/// A body that an encoder makes is encoded now, and parameters too if the request has codecs of its own. Timeouts,
/// priority, progress, retries, codecs and the error model are left out: they belong to the program that sends the request.
package struct StoredRequestParts: Sendable {
    /// The body.
    package enum Body: Sendable {
        case none
        /// Values to which interceptors may add more.
        case parameters(FormParameters)
        case bytes(Data)
        /// A body that is read while it is sent, and that can be read more than once.
        case pieces(RequestBody)
    }

    /// The statuses that are a success.
    package enum Statuses: Sendable, Hashable {
        case success
        case any
        case ranges([ClosedRange<Int>])
    }

    package var method: HTTPRequest.Method
    package var path: String
    /// The base of the path; `nil` if it is the environment.
    package var base: RequestURL?
    /// Whether the request comes from a definition.
    package var isDefined: Bool
    /// Whether nothing of the base's query is added.
    package var hasWholeQuery: Bool
    package var query: QueryItems
    package var parameters: FormParameters
    /// The header fields, with the `Content-Type` of the body.
    package var headerFields: HTTPFields
    package var body: Body
    package var statuses: Statuses
    package var usesCookies: Bool
    /// What stands for the URL in metrics and traces.
    package var urlTemplate: String?

    package init(
        method: HTTPRequest.Method, path: String, base: RequestURL? = nil, isDefined: Bool = false,
        hasWholeQuery: Bool = false, query: QueryItems = QueryItems(), parameters: FormParameters = FormParameters(),
        headerFields: HTTPFields = [:], body: Body = .none, statuses: Statuses = .success, usesCookies: Bool = true,
        urlTemplate: String? = nil
    ) {
        (self.method, self.path, self.base) = (method, path, base)
        (self.isDefined, self.hasWholeQuery) = (isDefined, hasWholeQuery)
        (self.query, self.parameters, self.headerFields) = (query, parameters, headerFields)
        (self.body, self.statuses, self.usesCookies) = (body, statuses, usesCookies)
        self.urlTemplate = urlTemplate
    }

    /// Takes a request apart.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - codecs: The codecs of the service, for a request without its own.
    ///   - encodesParameters: Whether parameters in the body are encoded now, because the service that sends the request
    ///     has other codecs. Its interceptors then add none to them.
    /// - Throws: `invalidRequest` for what cannot be stored: a trust policy, a redirect policy, an environment of the
    ///   request's own; `notReplayable` for a body that can be read only once; `encoding`.
    package init(
        of request: DataRequest, codecs: CodecRegistry, encodesParameters: Bool = false
    ) throws(RequestFailure) {
        if request.options.trust != nil { throw Self.cannotStore("trust policy") }
        if request.settings.redirects != nil { throw Self.cannotStore("redirect policy") }
        if let cookies = request.settings.cookies, cookies != .off { throw Self.cannotStore("cookie storage") }
        guard request.body.isReplayable else {
            throw RequestFailure(
                .notReplayable, "The body of the request is a stream, which can be read only once.",
                remedy: "Use bytes or a file as the body.")
        }
        if !request.parameters.isEmpty, !request.hasParametersInQuery, !request.body.isNone {
            throw RequestFailure(
                .invalidRequest, "The request has a body, and parameters that would be its body too.",
                remedy: "Move the parameters to “query”, or remove one of the two.")
        }
        self.init(
            method: request.method, path: request.path, isDefined: request.isDefined,
            hasWholeQuery: request.hasWholeQuery, query: request.query, parameters: request.parameters,
            headerFields: request.headerFields, statuses: try request.expectedStatus.stored(),
            usesCookies: request.settings.cookies == nil, urlTemplate: request.urlTemplate)
        if request.base.isAnyServer { throw Self.cannotStore("URL on any server") }
        if !request.base.isEnvironment, let url = try request.base.url {
            guard request.base == RequestBase(url) else { throw Self.cannotStore("environment of its own") }
            base = url
        }
        headerFields[.contentLength] = nil
        let own = request.codecs ?? (encodesParameters ? codecs : nil)
        if let own, try encodeParameters(of: request, own) { return }
        try setBody(of: request, codecs)
    }

    /// Encodes the parameters that are the body of the request.
    ///
    /// - Returns: Whether there are any.
    private mutating func encodeParameters(
        of request: DataRequest, _ codecs: CodecRegistry
    ) throws(RequestFailure) -> Bool {
        let own: FormParameters
        if case .parameters(let parameters) = request.body.content {
            own = parameters
        } else if !request.parameters.isEmpty, !request.hasParametersInQuery {
            own = request.parameters
            parameters = FormParameters()
        } else {
            return false
        }
        let type = request.body.type ?? headerFields[.contentType]
        let encoded = try codecs.encode(
            own,
            as: try type.map { (text) throws(RequestFailure) in try MediaType(text) }
                ?? request.body.standardType ?? .json)
        body = .bytes(encoded.body)
        headerFields[.contentType] = encoded.contentType.description
        return true
    }

    private mutating func setBody(of request: DataRequest, _ codecs: CodecRegistry) throws(RequestFailure) {
        switch request.body.content {
        case .none: return
        case .parameters(let parameters):
            body = .parameters(parameters)
            let type = request.body.type ?? headerFields[.contentType] ?? request.body.standardType?.description
            if let type { headerFields[.contentType] = type }
        case .raw(let raw, _) where raw.isEmpty: return
        case .raw(let raw, _) where raw.isStream:
            body = .pieces(raw)
            headerFields[.contentType] = request.bodyContentType
        case .raw, .encoded:
            guard let (bytes, type) = try request.bodyBytes(codecs) else { return }
            body = .bytes(bytes)
            headerFields[.contentType] = type
        }
    }

    private static func cannotStore(_ part: String) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "A request with a \(part) cannot be stored.",
            remedy: "Remove it, and set it for the service that sends the stored requests.")
    }

    /// The request.
    ///
    /// - Parameters:
    ///   - environment: The environment that must be the current one when the request is sent.
    ///   - file: The body, if it was stored apart.
    package func request(in environment: EnvironmentSnapshot, file: StoredBody? = nil) -> DataRequest {
        var request = DataRequest(
            method, path, parameters: parameters, query: query, headerFields: headerFields)
        request.base = base.map { RequestBase($0) } ?? .pinned(to: environment)
        request.isDefined = isDefined
        request.hasWholeQuery = hasWholeQuery
        switch body {
        case .none: request.body = file.map { .raw($0.body) } ?? .none
        case .parameters(let parameters): request.body = .parameters(parameters)
        case .bytes(let bytes): request.body = .raw(.bytes(bytes))
        case .pieces(let body): request.body = .raw(file?.body ?? body)
        }
        switch statuses {
        case .success: request.expectedStatus = .success
        case .any: request.expectedStatus = .any
        case .ranges(let ranges): request.expectedStatus = StatusExpectation(ranges)
        }
        if !usesCookies { request.settings.cookies = .off }
        request.urlTemplate = urlTemplate
        return request
    }
}

/// A body that was stored apart from its request.
package struct StoredBody: Sendable {
    package let body: RequestBody

    package init(_ body: RequestBody) { self.body = body }
}

extension StatusExpectation {
    /// The statuses without a closure. A closure is asked about each status now.
    fileprivate func stored() throws(RequestFailure) -> StoredRequestParts.Statuses {
        if isStandard { return .success }
        if contains(200), !declares(200) { return .any }
        if isEmpty { throw .expectsNothing }
        if let ranges { return .ranges(ranges) }
        var ranges: [ClosedRange<Int>] = []
        for code in 100...999 where contains(code) {
            if let last = ranges.last, last.upperBound == code - 1 {
                ranges[ranges.count - 1] = last.lowerBound...code
            } else {
                ranges.append(code...code)
            }
        }
        guard !ranges.isEmpty else { throw .expectsNothing }
        return .ranges(ranges)
    }
}
