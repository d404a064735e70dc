public import EssentialsHTTP
public import FoundationEssentials

/// Builds a request step by step and detects settings that exclude each other.
///
/// ```swift
/// let request = try RequestBuilder(.post, "films")
///     .header("X-Tenant", "acme")
///     .query("draft", "1")
///     .body(file: "/srv/films/1.mp4", type: MediaType("video/mp4"))
///     .expecting(201)
///     .deadline(.seconds(300))
///     .build()
/// ```
///
/// A builder is a value: each step returns a changed copy. The first error is kept until ``build()``, which throws it:
/// a body or a media type that is set twice, an invalid header field, or an empty set of statuses.
public struct RequestBuilder: BuildableRequest {
    private var request: DataRequest
    /// The step that has set the body; `nil` if there is none.
    private var bodySetting: String?
    private var contentType: MediaType?
    private var failure: RequestFailure?

    /// Creates a builder for a method and a path below the base URL.
    public init(_ method: HTTPRequest.Method, _ path: String) { request = DataRequest(method, path) }

    /// Creates a builder for a method and a path from a template, which is the ``DataRequest/urlTemplate`` of the request too.
    ///
    /// ```swift
    /// RequestBuilder(.get, template: "users/{id}/posts", ["id": id])
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - template: The path below the base URL. A placeholder is a name in braces; see ``RequestPath/init(template:_:)``.
    ///   - values: The value for each placeholder, which is one segment, whatever it contains.
    public init(
        _ method: HTTPRequest.Method, template: String,
        _ values: KeyValuePairs<String, any CustomStringConvertible & Sendable>
    ) {
        let path = RequestPath(template: template, values)
        self.init(method, path.encoded)
        request.template = .path(path.template, path.encoded)
        failure = path.failure
    }

    /// Creates a builder that changes an existing request.
    public init(_ request: DataRequest) {
        self.request = request
        if !request.body.isNone { bodySetting = "body" }
    }

    /// Returns the request.
    ///
    /// - Throws: The first error of the steps: `invalidRequest`, such as for two settings that exclude each other, or
    ///   `file`.
    public func build() throws(RequestFailure) -> DataRequest {
        if let failure { throw failure }
        guard let contentType, bodySetting != nil else { return request }
        var request = request
        request.headerFields[.contentType] = contentType.description
        return request
    }

    // MARK: Fields

    /// Sets a header field and replaces its earlier values.
    public func header(_ name: String, _ value: String) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            let field = try HTTPField.checked(name: name, value: value)
            builder.request.headerFields[field.name] = field.value
        }
    }

    /// Sets a header field and replaces its earlier values.
    public func header(_ name: HTTPField.Name, _ value: String) -> RequestBuilder { header(name.rawName, value) }

    /// Adds a value to a header field and keeps its earlier values.
    public func appendingHeader(_ name: HTTPField.Name, _ value: String) -> RequestBuilder {
        appendingHeader(name.rawName, value)
    }

    /// Adds a value to a header field and keeps its earlier values.
    public func appendingHeader(_ name: String, _ value: String) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            builder.request.headerFields.append(try HTTPField.checked(name: name, value: value))
        }
    }

    /// Sets several header fields and replaces their earlier values.
    public func headers(_ fields: [String: String]) -> RequestBuilder {
        fields.sorted { $0.key < $1.key }.reduce(self) { $0.header($1.key, $1.value) }
    }

    /// Removes a header field with all its values.
    public func removingHeader(_ name: HTTPField.Name) -> RequestBuilder { removingHeader(name.rawName) }

    /// Removes a header field with all its values.
    public func removingHeader(_ name: String) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            let field = try HTTPField.checked(name: name, value: "")
            builder.request.headerFields[field.name] = nil
        }
    }

    /// Sets the media types that the response may have, the preferred one first.
    public func accept(_ types: MediaType...) -> RequestBuilder {
        header("Accept", types.map(\.description).joined(separator: ", "))
    }

    // MARK: Query

    /// Adds an item to the query. With the value `nil` the item is only its name.
    public func query(_ name: String, _ value: String?) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.query.append(name, value) }
    }

    /// Adds items to the query.
    public func query(_ items: QueryItems) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.query.items += items.items }
    }

    /// Adds named values: to the query of GET, HEAD, DELETE and OPTIONS requests, to the body of others. Later values
    /// win.
    public func parameters(_ parameters: FormParameters) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            if !builder.request.hasParametersInQuery {
                if let setting = builder.bodySetting, setting != "parameters" {
                    throw Self.conflict(setting, "parameters")
                }
                builder.bodySetting = "parameters"
            }
            builder.request.parameters = builder.request.parameters.merging(parameters)
        }
    }

    // MARK: Body

    /// Sets named values as the body.
    public func body(parameters: FormParameters) -> RequestBuilder {
        body(.parameters(parameters), "body(parameters:)")
    }

    /// Sets a model as the body. The default media type is that of ``DataRequest/Body/model(_:as:)``;
    /// ``contentEncoding(_:)`` changes it.
    public func body(model: some Encodable & Sendable) -> RequestBuilder { body(.model(model), "body(model:)") }

    /// Sets a JSON value as the body. It can be a literal: `["a": [1, nil, true]]`. See ``DataRequest/Body/json(_:as:)``.
    public func body(json value: JSONValue) -> RequestBuilder { body(.json(value), "body(json:)") }

    /// Sets bytes as the body.
    public func body(data: Data, type: MediaType? = nil) -> RequestBuilder {
        body(.data(data, type: type), "body(data:)")
    }

    /// Sets text as the body.
    public func body(text: String, type: MediaType? = nil) -> RequestBuilder {
        body(.text(text, type: type), "body(text:)")
    }

    /// Sets a file as the body. It is checked now and read while it is sent.
    public func body(file path: String, range: Range<Int64>? = nil, type: MediaType? = nil) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            try builder.set(.file(path, range: range, type: type), "body(file:)")
        }
    }

    /// Sets a stream of any collections of bytes as the body. It can be sent only once.
    public func body<Pieces: AsyncSequence & Sendable>(
        stream pieces: Pieces, length: Int?, type: MediaType? = nil
    ) -> RequestBuilder where Pieces.Element: Collection<UInt8> {
        body(.stream(pieces, length: length, type: type), "body(stream:)")
    }

    /// Sets a multipart body.
    public func body(multipart: MultipartBody) -> RequestBuilder { body(.multipart(multipart), "body(multipart:)") }

    /// Sets the media type of the body, which selects the codec for parameters and models.
    ///
    /// It excludes multipart bodies and bodies with an explicit type. Without a body it has no effect, and no
    /// `Content-Type` is sent.
    public func contentEncoding(_ type: MediaType) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            if builder.contentType != nil { throw Self.conflict("contentEncoding", "contentEncoding") }
            if let setting = builder.bodySetting, builder.request.body.type != nil {
                throw Self.conflict(setting, "contentEncoding")
            }
            builder.contentType = type
        }
    }

    // MARK: Response and metrics

    /// Sets the name of the request in metrics and traces; see ``DataRequest/urlTemplate``.
    public func urlTemplate(_ template: String?) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.urlTemplate = template }
    }

    /// Sets the statuses that are a success.
    public func expecting(_ code: Int, _ others: Int...) -> RequestBuilder {
        expecting(.codes(Set(others).union([code])))
    }

    /// Sets the statuses that are a success.
    public func expecting(_ ranges: ClosedRange<Int>...) -> RequestBuilder { expecting(StatusExpectation(ranges)) }

    /// Sets the statuses that are a success.
    public func expecting(_ expectation: StatusExpectation) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            guard !expectation.isEmpty else {
                throw RequestFailure(
                    .invalidRequest, "The request expects no status at all, so it could only fail.",
                    remedy: "Name at least one status.")
            }
            builder.request.expectedStatus = expectation
        }
    }

    /// Sets the model type for the body of an unexpected response.
    public func errorModel<Model: Decodable & Sendable>(_ type: Model.Type) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.errorModel = type }
    }

    // MARK: Options

    /// Sets `options.totalTimeout`: the maximum time for the whole exchange, including redirects.
    public func deadline(_ time: Duration) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.options.totalTimeout = time }
    }

    /// Sets the priority of the request.
    public func priority(_ priority: RequestPriority) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.options.priority = priority }
    }

    /// Sets the policy that verifies the servers, instead of the environment's.
    public func trust(_ policy: TrustPolicy) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.options.trust = policy }
    }

    /// Sets the redirects to follow, instead of the service's policy.
    public func redirects(_ policy: RedirectPolicy) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.settings.redirects = policy }
    }

    /// Delivers the response's body as a stream, at the reader's pace.
    public func streaming() -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.options.delivery = .streamed }
    }

    /// Sets whether a graceful shutdown waits for the request, instead of the service's configuration; see
    /// ``RequestSettings/finishesOnShutdown``.
    public func finishingOnShutdown(_ finishes: Bool = true) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.settings.finishesOnShutdown = finishes }
    }

    // MARK: Retries

    /// Sets how the request is sent again after a failure, instead of the policy of its environment or service.
    public func retry(_ policy: RetryPolicy) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.settings.retry = policy }
    }

    /// Sets whether the server may process the request twice; see ``RequestSettings/isIdempotent``.
    public func idempotent(_ isIdempotent: Bool = true) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.settings.isIdempotent = isIdempotent }
    }

    /// Sets the key by which the server recognizes the request if it is sent again.
    public func idempotencyKey(_ key: IdempotencyKey) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.settings.idempotencyKey = key }
    }

    /// Sets whether the request shares an exchange with equal requests, instead of the service's configuration; see
    /// ``RequestSettings/joins``.
    public func joining(_ joins: Bool = true) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.settings.joins = joins }
    }

    // MARK: Steps

    private func body(_ body: DataRequest.Body, _ setting: String) -> RequestBuilder {
        changed { builder throws(RequestFailure) in try builder.set(body, setting) }
    }

    private mutating func set(_ body: DataRequest.Body, _ setting: String) throws(RequestFailure) {
        if let bodySetting { throw Self.conflict(bodySetting, setting) }
        if body.type != nil, contentType != nil { throw Self.conflict("contentEncoding", setting) }
        request.body = body
        bodySetting = setting
    }

    private func changed(_ change: (inout RequestBuilder) throws(RequestFailure) -> Void) -> RequestBuilder {
        guard failure == nil else { return self }
        var builder = self
        do throws(RequestFailure) {
            try change(&builder)
        } catch {
            builder.failure = error
        }
        return builder
    }

    private static func conflict(_ first: String, _ second: String) -> RequestFailure {
        let isSame = first == second
        return RequestFailure(
            .invalidRequest,
            isSame ? "“\(first)” was set twice." : "“\(second)” was set, and “\(first)” before it.",
            remedy: "A request has only one body of one type. Keep one of the two settings.",
            underlying: SettingConflict(first, second))
    }
}

/// A request, or a value from which one is built: ``DataRequest`` or ``RequestBuilder``. The calls of
/// ``DataRequestService`` take either.
///
/// ```swift
/// let film = try await requests.response(to: RequestBuilder(.get, "films/1").header("X-Tenant", "acme"), as: Film.self)
/// ```
public protocol BuildableRequest: Sendable {
    /// Returns the request.
    ///
    /// - Throws: The first error in the settings, `invalidRequest` or `file`.
    func build() throws(RequestFailure) -> DataRequest
}

extension DataRequest: BuildableRequest {
    /// Returns the request itself.
    public func build() -> DataRequest { self }
}

/// Two settings of a request that exclude each other: the underlying error of an `invalidRequest`.
struct SettingConflict: Error, Sendable, Hashable, CustomStringConvertible {
    /// The setting that was made first.
    let first: String
    /// The setting that was made second.
    let second: String

    init(_ first: String, _ second: String) {
        self.first = first
        self.second = second
    }

    var description: String { "“\(first)” and “\(second)” exclude each other" }
}
