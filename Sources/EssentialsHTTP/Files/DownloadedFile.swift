/// A file that a download has put in its place.
///
/// ```swift
/// let file = try await transport.download(request, to: "/srv/films/1.mp4")
/// print(file.path, file.bytes, file.headerFields[.lastModified] ?? "-")
/// ```
public struct DownloadedFile: Sendable {
    /// Where it is: the destination as an absolute path, or the name that was found for
    /// ``DownloadOptions/Existing/uniqueName``.
    public let path: String
    /// How many bytes it has.
    public let bytes: Int64
    /// How many of them were there from earlier attempts; 0 when it was loaded at once.
    public let resumedFrom: Int64
    /// The answer's status and fields: 200, 206 when the rest was loaded, 416 when nothing was missing any more.
    public let head: HTTPResponse
    /// Times and byte counts of the exchange that brought the last of it.
    public let metrics: TransportMetrics
    /// The connection that carried it.
    public let connection: ConnectionFacts

    /// The answer's status.
    public var status: HTTPResponse.Status { head.status }
    /// The answer's header fields.
    public var headerFields: HTTPFields { head.headerFields }

    /// Makes one, for doubles.
    public init(
        path: String, bytes: Int64, resumedFrom: Int64 = 0, head: HTTPResponse,
        metrics: TransportMetrics = TransportMetrics(), connection: ConnectionFacts = ConnectionFacts()
    ) {
        self.path = path
        self.bytes = bytes
        self.resumedFrom = resumedFrom
        self.head = head
        self.metrics = metrics
        self.connection = connection
    }
}
