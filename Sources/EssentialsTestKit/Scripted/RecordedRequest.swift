public import EssentialsHTTP
public import FoundationEssentials

/// A request that reached a ``ScriptedTransport``.
///
/// ```swift
/// let request = try await transport.request(number: 1)
/// #expect(request.method == .post)
/// try request.expect(json: ["name": "Ann"])
/// ```
public struct RecordedRequest: Sendable {
    /// The method.
    public let method: HTTPRequest.Method
    /// Where it went.
    public let url: RequestURL
    /// Its header fields as they were given to the transport.
    public let headerFields: HTTPFields
    /// Its body, read to the end where it was a stream; at most as many bytes as the transport keeps.
    public let body: Data
    /// How many bytes the body had, kept or not.
    public let bodyByteCount: Int
    /// Its deadlines and limits.
    public let options: TransportOptions
    /// When it was whole, on the transport's clock.
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

    /// Whether ``body`` is all that there was.
    public var isBodyComplete: Bool { body.count == bodyByteCount }
    /// The body as UTF-8; bytes that are none become U+FFFD.
    public var bodyText: String { String(decoding: body, as: UTF8.self) }
    /// The query's items in their order, percent-decoded; a plus sign stays one. One without `=` has an empty value.
    public var queryItems: [(name: String, value: String)] {
        QueryPattern.items(in: url.query ?? "").map { ($0.name, $0.value) }
    }

    /// The body as a model; dates are read as ISO 8601.
    ///
    /// - Throws: ``RequestMismatch`` when it is none.
    public func decoded<Model: Decodable>(as type: Model.Type) throws(RequestMismatch) -> Model {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
            return try decoder.decode(type, from: body)
        } catch {
            throw RequestMismatch(["body: expected a \(type), was \(shownBody): \(error)"])
        }
    }

    /// The body's beginning, for messages.
    var shownBody: String { ShownText.body(body, count: bodyByteCount) }

    /// The request as the first lines of a difference show it.
    var lines: [String] {
        ["\(method.rawValue) \(url)"] + headerFields.map { ShownText.field($0) } + ["body: \(shownBody)"]
    }
}

extension RecordedRequest: CustomReflectable {
    /// The properties above, for debuggers and `dump`: the names of fields, without the query and the body's bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "url": url.redacted, "headerFields": RedactedText.names(of: headerFields),
                "body": RedactedText.size(of: body), "bodyByteCount": bodyByteCount, "options": options, "time": time,
            ])
    }
}
