/// A file that was downloaded to its destination.
///
/// ```swift
/// let file = try await transport.download(request, to: "/srv/films/1.mp4")
/// print(file.path, file.bytes, file.headerFields[.lastModified] ?? "-")
/// ```
public struct DownloadedFile: Sendable {
    /// The absolute path of the file: the destination, or the unused name that ``DownloadOptions/Existing/uniqueName``
    /// chose.
    public let path: String
    /// The size of the file in bytes.
    public let bytes: Int64
    /// The number of bytes that earlier attempts had received; 0 if the download was not resumed.
    public let resumedFrom: Int64
    /// The response's status and fields. The status is 200, 206 if the download was resumed, or 416 if the partial file
    /// was already complete.
    public let head: HTTPResponse
    /// The times and byte counts of the last exchange.
    public let metrics: TransportMetrics
    /// The connection of the last exchange.
    public let connection: ConnectionFacts

    /// The response's status.
    public var status: HTTPResponse.Status { head.status }
    /// The response's header fields.
    public var headerFields: HTTPFields { head.headerFields }

    /// Creates a value for a test double.
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

extension DownloadedFile: CustomReflectable {
    /// The properties for debuggers, `print` and `dump`, with the names of header fields only.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "path": path, "bytes": bytes, "resumedFrom": resumedFrom, "status": status,
                "headerFields": RedactedText.names(of: headerFields), "metrics": metrics, "connection": connection,
            ])
    }
}
