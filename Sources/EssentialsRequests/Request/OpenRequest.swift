public import EssentialsHTTP

/// A request to a full URL on any server, which an ``OpenRequestService`` sends.
///
/// ```swift
/// var request = OpenRequest("https://pictures.example.com/7.png")
/// request.headerFields[.ifNoneMatch] = etag
/// request.expectedStatus = [200...200, 304...304]
/// let response = try await open.send(request)
/// ```
///
/// A request is a value, and can be sent any number of times. It carries no credentials: the fields `Authorization`,
/// `Proxy-Authorization` and `Cookie` fail as `invalidRequest`, and a trust policy with a client identity fails as
/// `invalidPolicy`.
public struct OpenRequest: Sendable {
    private enum Target: Sendable {
        case url(RequestURL)
        case text(String)
    }

    private let target: Target
    /// The method: GET, which is the default, or another safe one without a body (RFC 9110, 9.2.1). Others fail as
    /// `invalidRequest`.
    public var method = HTTPRequest.Method.get
    /// Named values that are added to the query, sorted by name.
    public var parameters: FormParameters
    /// The request's own header fields, such as conditions (RFC 9110, 13.1). They win over the service's `Accept` and
    /// `User-Agent`.
    public var headerFields: HTTPFields
    /// The statuses that are a success. Others fail as `status`. The default is 200 to 299.
    public var expectedStatus: StatusExpectation
    /// Deadlines, limits, protocol, trust and the delivery of the body.
    public var options: TransportOptions
    /// Which redirects are followed. The default is `nil`, which means the policy of the service's configuration.
    public var redirects: RedirectPolicy?
    /// How a failed request is sent again. The default is `nil`, which means the policy of the service's configuration.
    public var retry: RetryPolicy?
    /// Raises the priority of ``options`` while the request waits for its turn; `nil` if nobody does.
    package var raisablePriority: RaisablePriority?
    /// The model for the body of an unexpected response; `nil` means that of the service's configuration.
    package var errorModel: (any (Decodable & Sendable).Type)?
    /// Reports the progress of the response's body; `nil` if nobody needs it.
    package var downloadProgress: ProgressReport?
    /// The kind of value that will be read from the response, for the `Accept` field.
    var responseKind = ResponseKind.response

    private init(
        _ target: Target, parameters: FormParameters, headerFields: HTTPFields, expecting: StatusExpectation,
        options: TransportOptions
    ) {
        self.target = target
        self.parameters = parameters
        self.headerFields = headerFields
        expectedStatus = expecting
        self.options = options
    }

    /// Creates a GET request.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - parameters: Named values that are added to the query.
    ///   - headerFields: The request's own header fields.
    ///   - expecting: The statuses that are a success.
    ///   - options: Deadlines, limits, protocol, trust and the delivery of the body.
    public init(
        _ url: RequestURL, parameters: FormParameters = FormParameters(), headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) {
        self.init(
            .url(url), parameters: parameters, headerFields: headerFields, expecting: expecting, options: options)
    }

    /// Creates a GET request from a URL as text, with the scheme `http` or `https`. Invalid text fails as
    /// `invalidRequest` when the request is sent.
    public init(
        _ url: String, parameters: FormParameters = FormParameters(), headerFields: HTTPFields = HTTPFields(),
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) {
        self.init(
            .text(url), parameters: parameters, headerFields: headerFields, expecting: expecting, options: options)
    }

    /// The URL without the parameters.
    ///
    /// - Throws: `invalidRequest` if the request was created from invalid text.
    public var url: RequestURL {
        get throws(RequestFailure) {
            switch target {
            case .url(let url): url
            case .text(let text): try RequestURL(text)
            }
        }
    }

    /// The URL for messages, without its query.
    private var shownURL: String { (try? url)?.redacted ?? "an invalid URL" }
}

extension OpenRequest {
    private static let credentialFields: [HTTPField.Name] = [.authorization, .proxyAuthorization, .cookie]

    /// The request as the transport sends it.
    ///
    /// - Throws: `invalidRequest` and `invalidPolicy` for what a request to any server must not carry, and `encoding` for
    ///   parameters that cannot be encoded.
    func encoded(_ settings: ServiceSettings) throws(RequestFailure) -> TransportRequest {
        var target = try url
        try check(host: target.origin.host.text)
        let query = try settings.configuration.formEncoding.query(parameters)
        if !query.isEmpty { target = target.appending(encodedQuery: query) }
        var fields = headerFields
        fields[.contentLength] = nil
        if !fields.contains(.accept) {
            fields.append(HTTPField(name: .accept, value: responseKind == .model ? "application/json" : "*/*"))
        }
        if !fields.contains(.userAgent) {
            fields.append(HTTPField(name: .userAgent, value: settings.configuration.userAgent))
        }
        var request = TransportRequest(method, target, headerFields: fields, options: options)
        request.raisablePriority = raisablePriority
        return request
    }

    private func check(host: String) throws(RequestFailure) {
        try headerFields.checkNothingRefused()
        guard method.isSafe else {
            throw RequestFailure(
                .invalidRequest, "A request to any server cannot have the method \(method.rawValue).",
                remedy: "Use a data-request service for this server.", host: host)
        }
        for name in Self.credentialFields where headerFields.contains(name) {
            throw RequestFailure(
                .invalidRequest, "A request to any server carries no credentials, but it has the field \(name).",
                remedy: "Remove the field, or use a data-request service for this server.", host: host)
        }
        guard options.trust?.identity == nil else { throw .identityForAnyServer(host: host) }
        guard !expectedStatus.isEmpty else { throw .expectsNothing }
    }

    /// The rules by which the stages send the request.
    func rules(_ settings: ServiceSettings) -> ExchangeRules {
        ExchangeRules(
            expectedStatus: expectedStatus, errorModel: errorModel ?? settings.configuration.errorModel,
            codecs: settings.configuration.codecs, redirects: redirects ?? settings.configuration.redirects,
            downloadProgress: downloadProgress, retries: settings.retries(retry), joins: settings.joins(nil))
    }
}

extension RequestFailure {
    /// The failure of a service for any server that was given a client identity.
    package static func identityForAnyServer(host: String? = nil) -> RequestFailure {
        RequestFailure(
            .invalidPolicy, "A service for any server was given a client identity.",
            remedy: "Take the identity out of the policy, or use the data-request service.", host: host)
    }
}

extension OpenRequest: CustomReflectable {
    /// The properties for debuggers and `dump`, without the query of the URL, with only the names of fields and
    /// parameters.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "url": shownURL, "parameters": parameters.values.keys.sorted(),
                "headerFields": RedactedText.names(of: headerFields), "expectedStatus": expectedStatus,
                "options": options, "redirects": redirects as Any, "retry": retry as Any,
            ])
    }
}
