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
    /// The method.
    public var method: HTTPRequest.Method
    /// The path below the base URL; it may have a query. A leading slash makes no difference.
    public var path: String
    /// Added to the query, in this order.
    public var query: QueryItems
    /// Added to the query of GET, HEAD, DELETE and OPTIONS; the body of other methods, which then may have no other
    /// body. A preparation may add to them.
    public var parameters: FormParameters
    /// How ``parameters`` are written that are the body. JSON, unless a `Content-Type` among the fields says otherwise.
    public var parameterEncoding: MediaType?
    /// The request's own fields; they win over the preparation's, the environment's and the service's. `Content-Type`
    /// names the type of a body that has none of its own; `Content-Length` is the service's.
    public var headerFields: HTTPFields
    /// The body.
    public var body: Body
    /// Which statuses are a success; others are the failure `status`. 200 to 299.
    public var expectedStatus: StatusExpectation = .success
    /// What the body of an unexpected answer is read as, for `FailedResponse.model`. Nothing.
    public var errorModel: (any (Decodable & Sendable).Type)?
    /// Deadlines, limits, protocol and trust.
    public var options = TransportOptions()
    /// Which redirects are followed; nil leaves it to the service.
    public var redirects: RedirectPolicy?
    /// Told of the body's bytes as they are sent.
    public var uploadProgress: ProgressReport?
    /// What the answer is wanted as, for the `Accept` of a request that has none.
    var answer = AnswerKind.response
    /// Whether a service that shuts down with a grace period lets this one finish. No.
    public var finishesOnShutdown = false

    /// Makes a request.
    public init(
        _ method: HTTPRequest.Method, _ path: String, parameters: FormParameters = [:], query: QueryItems = [:],
        headerFields: HTTPFields = [:], body: Body = .none
    ) {
        self.method = method
        self.path = path
        self.parameters = parameters
        self.query = query
        self.headerFields = headerFields
        self.body = body
    }

    /// Whether ``parameters`` belong to the query, whatever body there is.
    var hasParametersInQuery: Bool {
        switch method {
        case .get, .head, .delete, .options: true
        default: false
        }
    }
}
