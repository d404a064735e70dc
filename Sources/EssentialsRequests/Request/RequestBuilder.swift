public import EssentialsHTTP
public import FoundationEssentials

/// Makes a request step by step, and says what does not go together.
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
/// A value: each step gives a changed copy. What is wrong is kept until ``build()``, which throws the first of it: a body
/// or its type that is set twice, a header that is none, an empty set of statuses.
public struct RequestBuilder: BuildableRequest {
    private var request: DataRequest
    /// Which step has set the body.
    private var bodySetting: String?
    private var contentType: MediaType?
    private var failure: RequestFailure?

    /// Begins with a method and a path below the base URL.
    public init(_ method: HTTPRequest.Method, _ path: String) { request = DataRequest(method, path) }

    /// Begins with a request that there is.
    public init(_ request: DataRequest) {
        self.request = request
        if !request.body.isNone { bodySetting = "body" }
    }

    /// The request.
    ///
    /// - Throws: `invalidRequest` with the first fault, such as two settings that exclude each other.
    public func build() throws(RequestFailure) -> DataRequest {
        if let failure { throw failure }
        guard let contentType, bodySetting != nil else { return request }
        var request = request
        request.headerFields[.contentType] = contentType.description
        return request
    }

    // MARK: Fields

    /// Sets a field; its earlier values go.
    public func header(_ name: String, _ value: String) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            let field = try HTTPField.checked(name: name, value: value)
            builder.request.headerFields[field.name] = field.value
        }
    }

    /// Adds a value to a field's others.
    public func appendingHeader(_ name: String, _ value: String) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            builder.request.headerFields.append(try HTTPField.checked(name: name, value: value))
        }
    }

    /// Sets several fields; their earlier values go.
    public func headers(_ fields: [String: String]) -> RequestBuilder {
        fields.sorted { $0.key < $1.key }.reduce(self) { $0.header($1.key, $1.value) }
    }

    /// Removes a field with all of its values.
    public func removingHeader(_ name: String) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            let field = try HTTPField.checked(name: name, value: "")
            builder.request.headerFields[field.name] = nil
        }
    }

    /// Which media types the answer may have, the preferred first.
    public func accept(_ types: MediaType...) -> RequestBuilder {
        header("Accept", types.map(\.description).joined(separator: ", "))
    }

    // MARK: Query

    /// Adds an item to the query; nil gives the bare name.
    public func query(_ name: String, _ value: String?) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.query.append(name, value) }
    }

    /// Adds items to the query.
    public func query(_ items: QueryItems) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.query.items += items.items }
    }

    /// Named values: in the query of GET, HEAD, DELETE and OPTIONS, else the body. Set again, later values win.
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

    /// Named values as the body.
    public func body(parameters: FormParameters) -> RequestBuilder {
        body(.parameters(parameters), "body(parameters:)")
    }

    /// A model as the body: JSON, or `text/plain` for a `String`, unless ``contentEncoding(_:)`` names a type.
    public func body(model: some Encodable & Sendable) -> RequestBuilder { body(.model(model), "body(model:)") }

    /// Bytes as the body.
    public func body(data: Data, type: MediaType? = nil) -> RequestBuilder {
        body(.data(data, type: type), "body(data:)")
    }

    /// Text as the body.
    public func body(text: String, type: MediaType? = nil) -> RequestBuilder {
        body(.text(text, type: type), "body(text:)")
    }

    /// A file as the body, looked at now and read while it is sent.
    public func body(file path: String, range: Range<Int64>? = nil, type: MediaType? = nil) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            try builder.set(.file(path, range: range, type: type), "body(file:)")
        }
    }

    /// A stream as the body, which can be sent once.
    public func body<Pieces: AsyncSequence & Sendable>(
        stream pieces: Pieces, length: Int?, type: MediaType? = nil
    ) -> RequestBuilder where Pieces.Element == Data {
        body(.stream(pieces, length: length, type: type), "body(stream:)")
    }

    /// Several parts as the body.
    public func body(multipart: MultipartBody) -> RequestBuilder { body(.multipart(multipart), "body(multipart:)") }

    /// Which codec writes the body's parameters or model, and what `Content-Type` says. Not for a body that has a type of
    /// its own: one in parts, or one that was given its type. Without a body it has no effect, and no `Content-Type` is
    /// sent.
    public func contentEncoding(_ type: MediaType) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            if builder.contentType != nil { throw Self.conflict("contentEncoding", "contentEncoding") }
            if let setting = builder.bodySetting, builder.request.body.type != nil {
                throw Self.conflict(setting, "contentEncoding")
            }
            builder.contentType = type
        }
    }

    // MARK: The answer

    /// These statuses are a success, and no others.
    public func expecting(_ code: Int, _ others: Int...) -> RequestBuilder {
        expecting(.codes(Set(others).union([code])))
    }

    /// These statuses are a success, and no others.
    public func expecting(_ ranges: ClosedRange<Int>...) -> RequestBuilder { expecting(StatusExpectation(ranges)) }

    /// These statuses are a success, and no others.
    public func expecting(_ expectation: StatusExpectation) -> RequestBuilder {
        changed { builder throws(RequestFailure) in
            guard !expectation.isEmpty else {
                throw RequestFailure(
                    .invalidRequest, "The request expects no status at all, so that it could only fail.",
                    remedy: "Name at least one status.")
            }
            builder.request.expectedStatus = expectation
        }
    }

    /// The body of an unexpected answer is read as this model.
    public func errorModel<Model: Decodable & Sendable>(_ type: Model.Type) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.errorModel = type }
    }

    // MARK: The way

    /// The longest time for the whole exchange, redirects included.
    public func deadline(_ time: Duration) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.options.totalTimeout = time }
    }

    /// How urgent the request is beside others.
    public func priority(_ priority: RequestPriority) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.options.priority = priority }
    }

    /// By what the server is judged, instead of the environment's policy.
    public func trust(_ policy: TrustPolicy) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.options.trust = policy }
    }

    /// Which redirects are followed, instead of the service's policy.
    public func redirects(_ policy: RedirectPolicy) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.redirects = policy }
    }

    /// The body is delivered piece by piece, at the reader's pace.
    public func streaming() -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.options.delivery = .streamed }
    }

    /// Decides whether a graceful shutdown waits for the request, and overrides the service's configuration.
    public func finishingOnShutdown(_ finishes: Bool = true) -> RequestBuilder {
        changed { builder throws(RequestFailure) in builder.request.finishesOnShutdown = finishes }
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
            remedy: "A request has one body, of one kind; keep one of the two.",
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
    /// The request.
    ///
    /// - Throws: `invalidRequest` with the first thing that is wrong.
    func build() throws(RequestFailure) -> DataRequest
}

extension DataRequest: BuildableRequest {
    /// The request itself.
    public func build() -> DataRequest { self }
}

/// Two settings of a request that exclude each other: the error below an `invalidRequest`.
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
