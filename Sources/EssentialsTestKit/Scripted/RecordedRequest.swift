public import EssentialsHTTP
public import FoundationEssentials

/// A request that was sent over a ``ScriptedTransport``.
///
/// ```swift
/// let request = try await transport.request(number: 1)
/// #expect(request.method == .post)
/// try request.expect(json: ["name": "Ann"])
/// ```
public struct RecordedRequest: Sendable {
    /// The method.
    public let method: HTTPRequest.Method
    /// The URL.
    public let url: RequestURL
    /// The header fields as they were passed to the transport.
    public let headerFields: HTTPFields
    /// The body; a stream is read to its end. Bytes above the transport's limit are not kept.
    public let body: Data
    /// The size of the body in bytes, kept or not.
    public let bodyByteCount: Int
    /// The request's timeouts and limits.
    public let options: TransportOptions
    /// When the body was complete, on the transport's clock.
    public let time: ManualClock.Instant

    init(_ request: TransportRequest, body: Data, bodyByteCount: Int, time: ManualClock.Instant) {
        method = request.method
        url = request.url
        headerFields = request.headerFields
        self.body = body
        self.bodyByteCount = bodyByteCount
        options = request.options
        self.time = time
    }

    /// Whether ``body`` contains the whole body.
    public var isBodyComplete: Bool { body.count == bodyByteCount }
    /// The body as UTF-8; invalid bytes become U+FFFD.
    public var bodyText: String { String(decoding: body, as: UTF8.self) }
    /// The query items in order, percent-decoded; plus signs are kept. An item without `=` has an empty value.
    public var queryItems: [(name: String, value: String)] {
        QueryPattern.items(in: url.query ?? "").map { ($0.name, $0.value) }
    }

    /// Decodes the body as JSON; dates are decoded as ISO 8601.
    ///
    /// - Throws: ``RequestMismatch`` if the body cannot be decoded.
    public func decoded<Model: Decodable>(as type: Model.Type) throws(RequestMismatch) -> Model {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
            return try decoder.decode(type, from: body)
        } catch {
            throw RequestMismatch(["body: expected a \(type), was \(shownBody): \(error)"])
        }
    }

    /// The start of the body, for messages.
    var shownBody: String { ShownText.body(body, count: bodyByteCount) }

    /// The request as lines of text, for the description of an unexpected request.
    var lines: [String] {
        ["\(method.rawValue) \(url)"] + headerFields.map { ShownText.field($0) } + ["body: \(shownBody)"]
    }
}

extension RecordedRequest: CustomReflectable {
    /// The properties for debuggers and `dump`: only the names of header fields, no query, and no bytes of the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "url": url.redacted, "headerFields": RedactedText.names(of: headerFields),
                "body": RedactedText.size(of: body), "bodyByteCount": bodyByteCount, "options": options, "time": time,
            ])
    }
}
