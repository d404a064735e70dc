public import EssentialsHTTP

/// A request below an environment's base URL.
///
/// ```swift
/// var request = DataRequest(.get, "users", parameters: ["role": "admin"])
/// request.headerFields[.ifNoneMatch] = etag
/// request.headerFields["X-Tenant"] = "acme"
/// request.expectedStatus = [200...200, 304...304]
/// let response = try await requests.send(request)
/// ```
///
/// A value: changing a copy changes nothing else, and it can be sent any number of times. ``RequestBuilder`` makes one
/// step by step and finds what does not go together.
public struct DataRequest: Sendable {
    private struct Parts {
        var method: HTTPRequest.Method
        var path: String
        var query: QueryItems
        var parameters: FormParameters
        var parameterEncoding: MediaType?
        var headerFields: HTTPFields
        var body: Body
        var expectedStatus: StatusExpectation
        var errorModel: (any (Decodable & Sendable).Type)?
        var options: TransportOptions
        var redirects: RedirectPolicy?
        var uploadProgress: ProgressReport?
        var handlerProgress: ProgressReport?
        var answer = AnswerKind.response
        var finishesOnShutdown: Bool?
    }

    /// Every step of a request copies it, so that copies share what it is made of.
    private var parts: CopyOnWrite<Parts>

    /// The method.
    public var method: HTTPRequest.Method {
        get { parts.value.method }
        _modify { yield &parts.value.method }
    }

    /// The path below the base URL; it may have a query. A leading slash makes no difference.
    public var path: String {
        get { parts.value.path }
        _modify { yield &parts.value.path }
    }

    /// Added to the query, in this order.
    public var query: QueryItems {
        get { parts.value.query }
        _modify { yield &parts.value.query }
    }

    /// Added to the query of GET, HEAD, DELETE and OPTIONS; the body of other methods, which then may have no other
    /// body. A preparation may add to them.
    public var parameters: FormParameters {
        get { parts.value.parameters }
        _modify { yield &parts.value.parameters }
    }

    /// How ``parameters`` are written that are the body. JSON, unless a `Content-Type` among the fields says otherwise.
    public var parameterEncoding: MediaType? {
        get { parts.value.parameterEncoding }
        _modify { yield &parts.value.parameterEncoding }
    }

    /// The request's own fields; they win over the preparation's, the environment's and the service's. `Content-Type`
    /// names the type of a body that has none of its own; `Content-Length` is the service's.
    public var headerFields: HTTPFields {
        get { parts.value.headerFields }
        _modify { yield &parts.value.headerFields }
    }

    /// The body.
    public var body: Body {
        get { parts.value.body }
        _modify { yield &parts.value.body }
    }

    /// Which statuses are a success; others are the failure `status`. 200 to 299.
    public var expectedStatus: StatusExpectation {
        get { parts.value.expectedStatus }
        _modify { yield &parts.value.expectedStatus }
    }

    /// The model type for the body of an unexpected response; see `RequestFailure.errorModel(as:)`. The default is
    /// `nil`, which means the error model of the service's configuration.
    public var errorModel: (any (Decodable & Sendable).Type)? {
        get { parts.value.errorModel }
        _modify { yield &parts.value.errorModel }
    }

    /// Deadlines, limits, protocol and trust.
    public var options: TransportOptions {
        get { parts.value.options }
        _modify { yield &parts.value.options }
    }

    /// Which redirects are followed; nil leaves it to the service.
    public var redirects: RedirectPolicy? {
        get { parts.value.redirects }
        _modify { yield &parts.value.redirects }
    }

    /// Receives the progress of the body while it is sent, each time that the request is sent.
    ///
    /// If the request value is sent in several operations, a stream ends with the first, and a callback reports them
    /// all.
    public var uploadProgress: ProgressReport? {
        get { parts.value.uploadProgress }
        _modify { yield &parts.value.uploadProgress }
    }

    /// The same for the handler and the token of one call, beside ``uploadProgress``.
    var handlerProgress: ProgressReport? {
        get { parts.value.handlerProgress }
        _modify { yield &parts.value.handlerProgress }
    }

    /// What the answer is wanted as, for the `Accept` of a request that has none.
    var answer: AnswerKind {
        get { parts.value.answer }
        _modify { yield &parts.value.answer }
    }

    /// Whether a graceful shutdown waits for this request. The default is `nil`: the service's configuration decides, see
    /// ``HTTPDataRequestService/Configuration/finishesOnShutdown``.
    public var finishesOnShutdown: Bool? {
        get { parts.value.finishesOnShutdown }
        _modify { yield &parts.value.finishesOnShutdown }
    }

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the environment's base URL.
    ///   - parameters: Named values; see ``parameters``.
    ///   - query: Items that are added to the query in this order.
    ///   - headerFields: The request's own header fields.
    ///   - body: The body.
    ///   - encoding: The media type in which parameters that are the body are written. The default is JSON.
    ///   - expecting: The statuses that are a success.
    ///   - options: Deadlines, limits, protocol and trust.
    public init(
        _ method: HTTPRequest.Method, _ path: String, parameters: FormParameters = FormParameters(),
        query: QueryItems = QueryItems(), headerFields: HTTPFields = HTTPFields(), body: Body = .none,
        encoding: MediaType? = nil, expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) {
        parts = CopyOnWrite(
            Parts(
                method: method, path: path, query: query, parameters: parameters, parameterEncoding: encoding,
                headerFields: headerFields, body: body, expectedStatus: expecting, options: options))
    }

    /// Whether it has neither parameters nor fields nor a body.
    @inline(__always)
    var isPlain: Bool {
        parts.value.query.isEmpty && parts.value.parameters.isEmpty && parts.value.headerFields.isEmpty
            && parts.value.body.isNone
    }

    /// Whether a status is a success.
    func expects(_ statusCode: Int) -> Bool { parts.value.expectedStatus.contains(statusCode) }

    /// Whether ``parameters`` belong to the query, whatever body there is.
    var hasParametersInQuery: Bool {
        switch method {
        case .get, .head, .delete, .options: true
        default: false
        }
    }
}

extension DataRequest: CustomReflectable {
    /// The properties above, for debuggers and `dump`: of fields, query and parameters the names, and not the body's bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "path": String(Substring(path.utf8.prefix { $0 != UInt8(ascii: "?") })),
                "query": query.items.map(\.name), "parameters": parameters.values.keys.sorted(),
                "parameterEncoding": parameterEncoding as Any,
                "headerFields": RedactedText.names(of: headerFields), "body": body,
                "expectedStatus": expectedStatus, "errorModel": errorModel as Any, "options": options,
                "redirects": redirects as Any, "uploadProgress": uploadProgress as Any,
                "finishesOnShutdown": finishesOnShutdown as Any,
            ])
    }
}
