public import EssentialsHTTP
public import FoundationEssentials

/// The response to a request, with its URL and redirects.
///
/// ```swift
/// let response = try await requests.send(DataRequest(.get, "report"))
/// print(response.status.code, response.url?.redacted ?? "-", response.body.data?.count ?? 0)
/// ```
public struct DataResponse: Sendable {
    /// The status, header fields and body from the transport.
    public var transportResponse: TransportResponse
    /// The URL of the response after all redirects; `nil` if a test double gives none.
    public let url: RequestURL?
    /// The redirects that were followed, oldest first.
    public let redirects: [RedirectHop]
    /// The number of attempts. It is above 1 if the request was retried. Redirects do not count.
    public let attempts: Int
    /// The header fields of the last attempt, as the transport received them; `nil` if a test double gives none. They
    /// contain credentials.
    package var sentFields: HTTPFields?
    /// What the response cache says about the response of the last hop.
    var cacheFacts: CacheFacts?
    /// What the response cache of the service has done for the response of the last hop; `nil` without a cache.
    public var cache: CacheUse? { cacheFacts?.use }
    /// The text of the field `Cache-Status` ([RFC 9211](https://www.rfc-editor.org/rfc/rfc9211)) with which the cache
    /// describes that, such as `ServiceEssentials; hit; ttl=376`; `nil` without a cache. The field itself is not added.
    public var cacheStatus: String? { cacheFacts?.use.status.text }
    /// The file of a stored response, if the request has a ``CacheBinding``. The response has no body then.
    package var storedFile: StoredFile? { cacheFacts?.file }
    /// What the response would change in the cache of the ``CacheBinding`` of its request; `nil` for nothing.
    package var offer: OfferedChange? { cacheFacts?.offer }
    /// What another cache or a test double says, which counts alone then; `nil` for most responses.
    private var foreignFacts: ForeignCacheFacts?
    /// How a response cache has served the response; `nil` if the server has sent or confirmed it just now.
    package var storedUse: StoredResponseUse? {
        get { if let foreignFacts { foreignFacts.use } else { cacheFacts?.use.ofStoredResponse } }
        set { foreignFacts = ForeignCacheFacts(newValue, identity) }
    }
    /// By which numbers a response cache knows the response, whether it is stored or not; `nil` if there is no cache.
    public package(set) var identity: ResponseIdentity? {
        get { if let foreignFacts { foreignFacts.identity } else { cacheFacts?.identity } }
        set { foreignFacts = ForeignCacheFacts(storedUse, newValue) }
    }

    /// Creates a response from the response of a transport.
    public init(
        _ response: TransportResponse, url: RequestURL? = nil, redirects: [RedirectHop] = [], attempts: Int = 1
    ) {
        self.attempts = attempts
        transportResponse = response
        self.url = url
        self.redirects = redirects
    }

    /// Creates a response from its parts, for test doubles.
    public init(_ status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], body: Data = Data()) {
        self.init(
            TransportResponse(HTTPResponse(status: status, headerFields: headerFields), body: ResponseBody(body)))
    }

    /// The status.
    public var status: HTTPResponse.Status { transportResponse.status }
    /// The header fields in order of arrival.
    public var headerFields: HTTPFields { transportResponse.headerFields }
    /// The body.
    public var body: ResponseBody {
        get { transportResponse.body }
        set { transportResponse.body = newValue }
    }
    /// The trailer fields of a collected body. Those of a streamed body are in `body.ending`.
    public var trailerFields: HTTPFields { transportResponse.trailerFields }
    /// Times and byte counts of the last hop.
    public var metrics: TransportMetrics { transportResponse.metrics }
    /// The connection of the last hop.
    public var connection: ConnectionFacts { transportResponse.connection }
    /// The status and the header fields as the type of HTTPTypes.
    public var head: HTTPResponse { transportResponse.head }
}

/// What another cache than that of the chain says about a response. It is an object, because few responses have it.
private final class ForeignCacheFacts: Sendable {
    let use: StoredResponseUse?
    let identity: ResponseIdentity?

    init(_ use: StoredResponseUse?, _ identity: ResponseIdentity?) { (self.use, self.identity) = (use, identity) }
}

extension DataResponse: CustomReflectable {
    /// The properties for debuggers and `dump`, with field names instead of values, without queries and body bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "transportResponse": transportResponse, "url": url?.redacted as Any, "redirects": redirects,
                "attempts": attempts,
            ])
    }
}

/// A model and the response from which it was decoded.
///
/// ```swift
/// let users = try await requests.response(to: DataRequest(.get, "users"), as: [User].self)
/// print(users.model.count, users.response.headerFields[.eTag] ?? "-")
/// ```
public struct ModelResponse<Model: Sendable>: Sendable {
    /// The decoded body.
    public let model: Model
    /// The whole response.
    public let response: DataResponse

    /// Creates a response, for test doubles.
    public init(model: Model, response: DataResponse) {
        self.model = model
        self.response = response
    }
}
