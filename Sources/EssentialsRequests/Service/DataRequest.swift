public import EssentialsHTTP

/// A request below an environment's base URL.
///
/// ```swift
/// var request = DataRequest(.get, "users", parameters: ["role": "admin"])
/// request.headerFields[.ifNoneMatch] = etag
/// request.expectedStatus = [200...200, 304...304]
/// let response = try await requests.send(request)
/// ```
public struct DataRequest: Sendable {
    /// The method.
    public var method: HTTPRequest.Method
    /// The path below the base URL; it may have a query. A leading slash makes no difference.
    public var path: String
    /// Added to the query.
    public var parameters: Parameters
    /// The request's own fields; they win over the environment's and the service's.
    public var headerFields: HTTPFields
    /// The body.
    public var body: RequestBody
    /// Which statuses are a success; others are the failure `status`. 200 to 299.
    public var expectedStatus: [ClosedRange<Int>] = [200...299]
    /// Deadlines, limits and protocol.
    public var options = TransportOptions()

    /// Makes a request.
    public init(
        _ method: HTTPRequest.Method, _ path: String, parameters: Parameters = [:], headerFields: HTTPFields = [:],
        body: RequestBody = .none
    ) {
        self.method = method
        self.path = path
        self.parameters = parameters
        self.headerFields = headerFields
        self.body = body
    }

    /// A request whose body is a model as JSON.
    ///
    /// - Throws: `encoding` when the model has no JSON form.
    public init(
        _ method: HTTPRequest.Method, _ path: String, parameters: Parameters = [:], headerFields: HTTPFields = [:],
        json model: some Encodable
    ) throws(RequestFailure) {
        self.init(
            method, path, parameters: parameters, headerFields: headerFields,
            body: .bytes(try JSONCoding.encode(model)))
        if self.headerFields[.contentType] == nil { self.headerFields[.contentType] = "application/json" }
    }
}
