public import HTTPTypes

/// The information that becomes available with the last piece of a streamed body.
///
/// ```swift
/// for try await chunk in response.body { hash.update(chunk) }
/// let announced = response.body.ending?.trailerFields["Content-Digest"]
/// ```
public struct ResponseEnding: Sendable {
    /// The trailer fields (RFC 9110, section 6.5).
    public let trailerFields: HTTPFields
    /// Times and byte counts of the whole exchange.
    public let metrics: TransportMetrics

    /// Creates an ending, for test doubles.
    public init(trailerFields: HTTPFields = [:], metrics: TransportMetrics = TransportMetrics()) {
        self.trailerFields = trailerFields
        self.metrics = metrics
    }
}

extension ResponseEnding: CustomReflectable {
    /// The properties for debuggers and `dump`, with only the names of fields.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["trailerFields": RedactedText.names(of: trailerFields), "metrics": metrics])
    }
}
