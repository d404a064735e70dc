public import HTTPTypes

/// What is known of a streamed response when the last piece of its body has been read.
///
/// ```swift
/// for try await chunk in response.body { digest.update(chunk) }
/// let announced = response.body.ending?.trailerFields[.contentDigest]
/// ```
public struct ResponseEnding: Sendable {
    /// The fields after the body (RFC 9110, 6.5).
    public let trailerFields: HTTPFields
    /// Times and byte counts of the whole exchange.
    public let metrics: TransportMetrics

    /// Makes one, for doubles.
    public init(trailerFields: HTTPFields = [:], metrics: TransportMetrics = TransportMetrics()) {
        self.trailerFields = trailerFields
        self.metrics = metrics
    }
}

extension ResponseEnding: CustomReflectable {
    /// The properties above, for debuggers and `dump`: the names of fields only.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["trailerFields": RedactedText.names(of: trailerFields), "metrics": metrics])
    }
}
