public import EssentialsHTTP
import EssentialsTools
public import FoundationEssentials

/// The response to a request, with its URL and redirects.
///
/// ```swift
/// let response = try await requests.send(DataRequest(.get, "report"))
/// print(response.status.code, response.url?.redacted ?? "-", response.body.data?.count ?? 0)
/// ```
public struct DataResponse: Sendable {
    /// All parts but the transport's response. They lie behind one reference, because a response is passed through many
    /// calls.
    private struct Content: Sendable {
        let url: RequestURL?
        let redirects: [RedirectHop]
        let attempts: Int
        var sentFields: HTTPFields?
        var storedUse: StoredResponseUse?
        var identity: ResponseIdentity?
    }

    private var content: CopyOnWrite<Content>

    /// The status, header fields and body from the transport.
    public var transportResponse: TransportResponse
    /// The URL of the response after all redirects; `nil` if a test double gives none.
    public var url: RequestURL? { content.value.url }
    /// The redirects that were followed, oldest first.
    public var redirects: [RedirectHop] { content.value.redirects }
    /// The number of attempts. It is above 1 if the request was retried. Redirects do not count.
    public var attempts: Int { content.value.attempts }
    /// The header fields of the last attempt, as the transport received them; `nil` if a test double gives none. They
    /// contain credentials.
    package var sentFields: HTTPFields? {
        _read { yield content.value.sentFields }
        _modify { yield &content.value.sentFields }
    }
    /// How a response cache has served the response; `nil` if it came from the server.
    package var storedUse: StoredResponseUse? {
        _read { yield content.value.storedUse }
        _modify { yield &content.value.storedUse }
    }
    /// What a response cache says about the response, whether stored or not; `nil` if there is no cache.
    package var identity: ResponseIdentity? {
        _read { yield content.value.identity }
        _modify { yield &content.value.identity }
    }

    /// Creates a response from the response of a transport.
    public init(
        _ response: TransportResponse, url: RequestURL? = nil, redirects: [RedirectHop] = [], attempts: Int = 1
    ) {
        content = CopyOnWrite(Content(url: url, redirects: redirects, attempts: attempts))
        transportResponse = response
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
