public import EssentialsHTTP

/// A request below a base URL, usually that of the service's environment.
///
/// ```swift
/// var request = DataRequest(.get, "users", parameters: ["role": "admin"])
/// request.headerFields[.ifNoneMatch] = etag
/// request.headerFields["X-Tenant"] = "acme"
/// request.expectedStatus = [200...200, 304...304]
/// let response = try await requests.send(request)
/// ```
///
/// A request is a value: changing a copy does not change the original, and it can be sent any number of times.
/// ``RequestBuilder`` builds a request step by step and finds settings that exclude each other. The ``settings`` can be set
/// as if they were properties of the request: `request.retry = .never`.
@dynamicMemberLookup
public struct DataRequest: Sendable {
    /// The method.
    public var method: HTTPRequest.Method
    /// The path below the base URL; it may have a query. A leading slash makes no difference.
    public var path: String
    /// The base of the path. The default is the environment of the service that sends the request.
    public var base = RequestBase.environment
    /// Items that are added to the query in this order.
    public var query: QueryItems
    /// Named values, to which interceptors may add more.
    ///
    /// They are added to the query of GET, HEAD, DELETE and OPTIONS requests. For other methods they are the body, as
    /// JSON or in the type of the `Content-Type` field, and there can be no other body. To choose another type, use
    /// ``Body/parameters(_:as:)`` instead.
    public var parameters: FormParameters
    /// The request's own header fields, which win over those of interceptors, the environment and the service.
    ///
    /// `Content-Type` is the type of a body without an explicit one. The service sets `Content-Length`.
    public var headerFields: HTTPFields
    /// The body.
    public var body: Body
    /// The statuses that are a success. Others fail as `status`. The default is 200 to 299.
    public var expectedStatus: StatusExpectation
    /// The model type for the body of an unexpected response; see `RequestFailure.errorModel(as:)`. The default is
    /// `nil`, which means the error model of the service's configuration.
    public var errorModel: (any (Decodable & Sendable).Type)?
    /// The codecs for the body, the model and the error model. The default is `nil`, which means the codecs of the
    /// service.
    public var codecs: CodecRegistry?
    /// Deadlines, limits, protocol and trust.
    public var options: TransportOptions
    /// How the request is sent, such as its retry policy. What is not set is left to the environment and the service.
    public var settings = RequestSettings()
    /// Receives the progress of the body each time that the request is sent. The default is `nil`.
    ///
    /// If the request value is used for several operations, a stream ends with the first one, and a callback receives
    /// the progress of all of them.
    public var uploadProgress: ProgressReport?
    /// Receives the progress of the response's body while it is collected. The default is `nil`.
    ///
    /// Each attempt reports its bytes from 0, as ``uploadProgress`` does. They count after decompression, and the total
    /// is unknown if the response is compressed or has no `Content-Length`. Bodies of redirects that are followed, and of
    /// responses after which the request is sent again, are not reported. The callback runs in the task that sends the
    /// request, or in one that sends it for this task, at most once per interval of the report; the body waits for it.
    ///
    /// A request with a report does not share its response with equal ones. A streamed response and a download have no
    /// report here: count the bytes of the stream, or pass the report to `download`.
    ///
    /// ```swift
    /// request.downloadProgress = ProgressReport(every: .milliseconds(50)) { bar.show($0.fraction ?? 0) }
    /// let film: Film = try await requests.model(of: request)
    /// ```
    public var downloadProgress: ProgressReport?
    /// What stands for the URL in metrics and traces; see ``urlTemplate``.
    var template = RequestTemplate.none
    /// What few requests have; `nil` for most.
    private var companions: RequestCompanions?
    /// The kind of value that will be read from the response, for the `Accept` field.
    var responseKind = ResponseKind.response
    /// Whether the request comes from a definition: its path is always joined to the base, and the query of the base is
    /// kept.
    var isDefined = false
    /// Whether the path is a link of a server or a whole URL, to whose query nothing of the base's is added.
    var hasWholeQuery = false
    /// For whom the request is sent, if it belongs to an operation; `nil` means whoever is logged in when it is sent.
    package var scope: CredentialScope?

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the environment's base URL.
    ///   - parameters: Named values; see ``parameters``.
    ///   - query: Items that are added to the query in this order.
    ///   - headerFields: The request's own header fields.
    ///   - body: The body.
    ///   - expecting: The statuses that are a success.
    ///   - options: Deadlines, limits, protocol and trust.
    public init(
        _ method: HTTPRequest.Method, _ path: String, parameters: FormParameters = FormParameters(),
        query: QueryItems = QueryItems(), headerFields: HTTPFields = HTTPFields(), body: Body = .none,
        expecting: StatusExpectation = .success, options: TransportOptions = TransportOptions()
    ) {
        self.method = method
        self.path = path
        self.parameters = parameters
        self.query = query
        self.headerFields = headerFields
        self.body = body
        expectedStatus = expecting
        self.options = options
    }

    /// A setting of the request.
    public subscript<Value>(dynamicMember setting: WritableKeyPath<RequestSettings, Value>) -> Value {
        get { settings[keyPath: setting] }
        set { settings[keyPath: setting] = newValue }
    }

    /// The path with its values replaced, such as `/users/{id}`, by which metrics and traces put requests together:
    /// OpenTelemetry's `url.template`. It is below the base URL, and begins with a slash.
    ///
    /// A request of a definition has that of its path; see ``RequestPath/urlTemplate``. Others have none unless it is set. It
    /// changes nothing that is sent. Backends keep each text that they receive, so it must not contain values that vary without
    /// bound.
    ///
    /// ```swift
    /// var request = DataRequest(.get, "users/\(id)")
    /// request.urlTemplate = "/users/{id}"
    /// ```
    public var urlTemplate: String? {
        get { template.text }
        set { template = newValue.map { .text($0.hasPrefix("/") ? $0 : "/" + $0) } ?? .none }
    }

    /// Receives the progress for the handler and the token of one call, in addition to ``uploadProgress``.
    var handlerProgress: ProgressReport? {
        get { companions?.values.handlerProgress }
        set { change { $0.handlerProgress = newValue } }
    }
    /// Raises the priority of ``options`` while the request waits for its turn; `nil` if nobody does.
    package var raisablePriority: RaisablePriority? {
        get { companions?.values.raisablePriority }
        set { change { $0.raisablePriority = newValue } }
    }
    /// What the request looks for in a response cache that it brings along; `nil` without one.
    package var boundContent: BoundContent? {
        get { companions?.values.boundContent }
        set { change { $0.boundContent = newValue } }
    }

    private mutating func change(_ change: (inout RequestCompanions.Values) -> Void) {
        var values = companions?.values ?? RequestCompanions.Values()
        change(&values)
        companions = RequestCompanions(values)
    }

    /// Whether ``parameters`` belong to the query, with or without a body.
    var hasParametersInQuery: Bool {
        switch method {
        case .get, .head, .delete, .options: true
        default: false
        }
    }
}

/// What few requests have. It is an object, so that the others do not carry it through each copy.
private final class RequestCompanions: Sendable {
    struct Values: Sendable {
        var handlerProgress: ProgressReport?
        var raisablePriority: RaisablePriority?
        var boundContent: BoundContent?
    }

    let values: Values

    init(_ values: Values) { self.values = values }
}

extension DataRequest: CustomReflectable {
    /// The path without its query. A whole URL on any server may be invalid text, so no part of it is shown that could be a
    /// secret.
    private var shownPath: String {
        base.isAnyServer
            ? RequestFailure.shown(path) : String(Substring(path.utf8.prefix { $0 != UInt8(ascii: "?") }))
    }

    /// The properties for debuggers and `dump`: only the names of fields, query items and parameters, no bytes of the
    /// body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "path": shownPath,
                "base": base, "query": query.items.map(\.name), "parameters": parameters.values.keys.sorted(),
                "headerFields": RedactedText.names(of: headerFields), "body": body,
                "expectedStatus": expectedStatus, "errorModel": errorModel as Any, "options": options,
                "uploadProgress": uploadProgress as Any, "downloadProgress": downloadProgress as Any,
                "settings": settings,
            ])
    }
}
