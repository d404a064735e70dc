import Synchronization

/// What a server answered, and how.
///
/// ```swift
/// let response = try await transport.send(request)
/// print(response.status.code, response.headerFields[.contentType] ?? "-", response.body.data?.count ?? 0)
/// ```
public struct TransportResponse: Sendable {
    /// All but the body, which stages replace.
    private final class Content: Sendable {
        enum Connection: Sendable {
            case raw(UnreadConnection)
            case read(ConnectionFacts)
        }

        let status: HTTPResponse.Status
        let fields: Mutex<UnreadFields>
        let metrics: TransportMetrics
        let connection: Connection
        /// Nil for none, which most have: even empty fields are an allocation.
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
    /// Times and byte counts of this exchange; of a streamed one as they were when its head had come: those of the whole
    /// are ``ResponseBody/ending``'s.
    public var metrics: TransportMetrics { content.metrics }
    /// The connection that carried it. Made at each access: keep it where you read several of its facts.
    public var connection: ConnectionFacts {
        switch content.connection {
        case .raw(let connection): connection.read()
        case .read(let facts): facts
        }
    }

    /// The fields after a collected body (RFC 9110, 6.5); those after a stream are ``ResponseBody/ending``'s.
    public var trailerFields: HTTPFields { content.trailerFields ?? [:] }

    /// The informational responses before this one (RFC 9110, 15.2), such as `103 Early Hints`, in their order.
    public var informational: [HTTPResponse] { content.informational }

    /// Makes a response, for doubles and stages.
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

    /// - Parameter block: The head's lines as they came.
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

    /// The status' code, without its phrase.
    package var statusCode: Int { content.status.code }
    /// The status.
    public var status: HTTPResponse.Status { content.status }
    /// The header fields in the order in which they came. The first access reads them; later ones are cheap.
    public var headerFields: HTTPFields { content.fields.withLock { $0.read() } }
    /// Status and fields as HTTPTypes' value.
    public var head: HTTPResponse { HTTPResponse(status: status, headerFields: headerFields) }
}

extension TransportResponse: CustomReflectable {
    /// The properties above, for debuggers and `dump`: the names of fields, without the body's bytes.
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
