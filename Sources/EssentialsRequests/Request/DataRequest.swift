public import EssentialsHTTP

/// A request below an environment's base URL.
///
/// ```swift
/// var request = DataRequest(.get, "users", parameters: ["role": "admin"])
/// request.headerFields[.ifNoneMatch] = etag
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
        var expectedStatus: StatusExpectation = .success
        var errorModel: (any (Decodable & Sendable).Type)?
        var options = TransportOptions()
        var redirects: RedirectPolicy?
        var uploadProgress: ProgressReport?
        var answer = AnswerKind.response
        var finishesOnShutdown = false
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

    /// What the body of an unexpected response is read as, for `RequestFailure.errorModel(as:)`. The default is `nil`: the
    /// error model of the service's configuration.
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

    /// Told of the body's bytes as they are sent.
    public var uploadProgress: ProgressReport? {
        get { parts.value.uploadProgress }
        _modify { yield &parts.value.uploadProgress }
    }

    /// What the answer is wanted as, for the `Accept` of a request that has none.
    var answer: AnswerKind {
        get { parts.value.answer }
        _modify { yield &parts.value.answer }
    }

    /// Whether a service that shuts down with a grace period lets this one finish. No.
    public var finishesOnShutdown: Bool {
        get { parts.value.finishesOnShutdown }
        _modify { yield &parts.value.finishesOnShutdown }
    }

    /// Makes a request.
    public init(
        _ method: HTTPRequest.Method, _ path: String, parameters: FormParameters = FormParameters(),
        query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), body: Body = .none
    ) {
        parts = CopyOnWrite(
            Parts(
                method: method, path: path, query: query, parameters: parameters, headerFields: headerFields, body: body
            ))
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
                "finishesOnShutdown": finishesOnShutdown,
            ])
    }
}
