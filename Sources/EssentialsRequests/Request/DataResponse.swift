public import EssentialsHTTP
public import FoundationEssentials

/// What came back for a request, and from where.
///
/// ```swift
/// let response = try await requests.send(DataRequest(.get, "report"))
/// print(response.status.code, response.url?.redacted ?? "-", response.body.data?.count ?? 0)
/// ```
public struct DataResponse: Sendable {
    /// Status, fields and body as the transport delivered them.
    public var transportResponse: TransportResponse
    /// Where it came from, after all redirects; nil from a double that names none.
    public let url: RequestURL?
    /// The redirects that were followed, oldest first.
    public let redirects: [RedirectHop]

    /// Makes one from a transport's response.
    public init(_ response: TransportResponse, url: RequestURL? = nil, redirects: [RedirectHop] = []) {
        transportResponse = response
        self.url = url
        self.redirects = redirects
    }

    /// Makes one from its parts, for doubles.
    public init(_ status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], body: Data = Data()) {
        self.init(
            TransportResponse(HTTPResponse(status: status, headerFields: headerFields), body: ResponseBody(body)))
    }

    /// The status.
    public var status: HTTPResponse.Status { transportResponse.status }
    /// The header fields in the order in which they came.
    public var headerFields: HTTPFields { transportResponse.headerFields }
    /// The body.
    public var body: ResponseBody {
        get { transportResponse.body }
        set { transportResponse.body = newValue }
    }
    /// The fields after a collected body; those after a stream are in `body.ending`.
    public var trailerFields: HTTPFields { transportResponse.trailerFields }
    /// Times and byte counts of the last hop.
    public var metrics: TransportMetrics { transportResponse.metrics }
    /// The connection of the last hop.
    public var connection: ConnectionFacts { transportResponse.connection }
    /// Status and fields as HTTPTypes' value.
    public var head: HTTPResponse { transportResponse.head }
}

extension DataResponse: CustomReflectable {
    /// The properties above, for debuggers and `dump`: the names of fields, without queries and the body's bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "transportResponse": transportResponse, "url": url?.redacted as Any, "redirects": redirects,
            ])
    }
}

/// A model, and the response that it was read from.
///
/// ```swift
/// let users = try await requests.response(to: DataRequest(.get, "users"), as: [User].self)
/// print(users.model.count, users.response.headerFields[.eTag] ?? "-")
/// ```
public struct ModelResponse<Model: Sendable>: Sendable {
    /// What the body was read as.
    public let model: Model
    /// The whole response.
    public let response: DataResponse

    /// Makes one, for doubles.
    public init(model: Model, response: DataResponse) {
        self.model = model
        self.response = response
    }
}
