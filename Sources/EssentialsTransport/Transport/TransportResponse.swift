import EssentialsTools

/// The response to a request, with its connection and metrics.
///
/// ```swift
/// let response = try await transport.send(request)
/// print(response.status.code, response.headerFields[.contentType] ?? "-", response.body.data?.count ?? 0)
/// ```
public struct TransportResponse: Sendable {
    /// All parts except the body, which stages replace.
    private final class Content: Sendable {
        enum Connection: Sendable {
            case raw(UnreadConnection)
            case read(ConnectionFacts)
        }

        let status: HTTPResponse.Status
        let fields: Mutex<UnreadFields>
        let metrics: TransportMetrics
        let connection: Connection
        /// `nil` for no fields, the usual case, because even empty fields need an allocation.
        let trailerFields: HTTPFields?
        let informational: [HTTPResponse]

        init(
            status: HTTPResponse.Status, fields: consuming UnreadFields, metrics: TransportMetrics,
            connection: Connection, trailerFields: HTTPFields?, informational: [HTTPResponse]
        ) {
            self.status = status
            self.fields = Mutex(fields)
            self.metrics = metrics
            self.connection = connection
            self.trailerFields = trailerFields
            self.informational = informational
        }
    }

    private let content: Content

    /// The body.
    public var body: ResponseBody
    /// Times and byte counts of this exchange. For a streamed response they are those at the arrival of the head; the
    /// final ones are in ``ResponseBody/ending``.
    public var metrics: TransportMetrics { content.metrics }
    /// The connection of the exchange. It is created at each access, so store it to read several of its properties.
    public var connection: ConnectionFacts {
        switch content.connection {
        case .raw(let connection): connection.read()
        case .read(let facts): facts
        }
    }

    /// The trailer fields of a collected body (RFC 9110, section 6.5). Those of a stream are in
    /// ``ResponseBody/ending``.
    public var trailerFields: HTTPFields { content.trailerFields ?? [:] }

    /// The interim responses before this one (RFC 9110, section 15.2), such as `103 Early Hints`, in order.
    public var informational: [HTTPResponse] { content.informational }

    /// Creates a response, for test doubles and stages.
    public init(
        _ head: HTTPResponse, body: ResponseBody, metrics: TransportMetrics = TransportMetrics(),
        connection: ConnectionFacts = ConnectionFacts(), trailerFields: HTTPFields = [:],
        informational: [HTTPResponse] = []
    ) {
        content = Content(
            status: head.status, fields: .read(head.headerFields), metrics: metrics,
            connection: .read(connection),
            trailerFields: trailerFields, informational: informational)
        self.body = body
    }

    /// - Parameter block: The unparsed lines of the head.
    package init(
        status: Int, block: [UInt8], body: ResponseBody, metrics: TransportMetrics, connection: UnreadConnection,
        trailerFields: HTTPFields?, informational: [HTTPResponse]
    ) {
        content = Content(
            status: HTTPResponse.Status(code: status), fields: .raw(block), metrics: metrics,
            connection: .raw(connection),
            trailerFields: trailerFields, informational: informational)
        self.body = body
    }

    /// A stored response.
    ///
    /// - Parameter age: The value of its field `Age`, in seconds, which is added when the fields are read.
    package init(_ status: HTTPResponse.Status, stored fields: HTTPFields, age: Int64, body: ResponseBody) {
        content = Content(
            status: status, fields: .stored(fields, age: age), metrics: TransportMetrics(),
            connection: .read(ConnectionFacts()), trailerFields: nil, informational: [])
        self.body = body
    }

    /// The status code, without a reason phrase.
    package var statusCode: Int { content.status.code }
    /// The status.
    public var status: HTTPResponse.Status { content.status }
    /// The header fields in order of arrival. The first access parses them; later ones are cheap.
    public var headerFields: HTTPFields { content.fields.withLock { $0.read() } }
    /// Whether there is a `Set-Cookie` field. Unparsed header fields stay unparsed.
    package var hasSetCookie: Bool { content.fields.withLock { $0.hasSetCookie } }
    /// The status and the header fields as the type of HTTPTypes.
    public var head: HTTPResponse { HTTPResponse(status: status, headerFields: headerFields) }
}

extension TransportResponse: CustomReflectable {
    /// The properties for debuggers and `dump`, with only the names of fields and without the body's bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": status, "headerFields": RedactedText.names(of: headerFields), "body": body,
                "trailerFields": RedactedText.names(of: trailerFields), "metrics": metrics, "connection": connection,
                "informational": informational.map(\.status),
            ])
    }
}
