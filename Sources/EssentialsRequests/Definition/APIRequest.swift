public import EssentialsHTTP

/// The definition of a request and of what its response is read as.
///
/// ```swift
/// enum Users: Endpoint {
///     typealias Parent = Shop
///     static let path: RequestPath = "users"
///
///     static let getAll: APIRequest<[User]> = request(.get)
///     static func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
///     static func find(role: String, page: Int?) -> APIRequest<[User]> {
///         request(.get) {
///             RequestQuery { ("role", role); ("page", page) }
///             RequestHeaders { RequestHeader.accept(.json) }
///         }
///     }
/// }
/// let users = try await requests.send(Users.find(role: "admin", page: 2))
/// ```
///
/// A definition is a value: it sends nothing, and can be stored, changed, compared and sent any number of times. Two
/// definitions are equal if they send the same request: method, URL, header fields, body and options. Creating one never
/// fails. If a part is invalid, ``BuildableRequest/build()`` and sending throw `invalidRequest` or `file`.
/// The path, the query, the header fields and the body are changed by functions that return a copy, such as
/// `settingQuery("page", 2)` and `adding(headers)`.
public struct APIRequest<Response: Sendable>: TypedRequest {
    /// The method.
    public var method: HTTPRequest.Method
    /// What the request inherits.
    var context: APIContext
    /// The request's own properties.
    var own: RequestProperties
    /// The key that was set for this request; `nil` for that of the configuration.
    var ownKey: IdempotencyKey?
    /// Why the definition is invalid, in addition to its parts; `nil` if it is valid.
    var failure: RequestFailure?

    /// Creates a definition.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the component.
    ///   - parent: The component that the request inherits from.
    ///   - type: What the response is read as.
    ///   - properties: Path components, query items, header fields and a body.
    public init<Parent: APIComponent>(
        _ method: HTTPRequest.Method, _ path: RequestPath = RequestPath(), parent: Parent.Type,
        as type: Response.Type = Response.self,
        @RequestPropertiesBuilder _ properties: () -> RequestProperties = { RequestProperties() }
    ) {
        self.init(method, path, in: Parent.context, properties())
    }

    /// Creates a definition below the environment of the service that sends it.
    public init(
        _ method: HTTPRequest.Method, _ path: RequestPath = RequestPath(), as type: Response.Type = Response.self,
        @RequestPropertiesBuilder _ properties: () -> RequestProperties = { RequestProperties() }
    ) {
        self.init(method, path, in: EnvironmentAPI.context, properties())
    }

    /// Creates a definition for a whole URL, which belongs to no component.
    ///
    /// ```swift
    /// let feed = APIRequest<Feed>(.get, url: "https://news.example.com/feed.json")
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL. Its query is kept. A URL on another server than the environment's is a foreign server; see
    ///     ``RequestBase``.
    ///   - type: What the response is read as.
    ///   - properties: Path components, query items, header fields and a body.
    public init(
        _ method: HTTPRequest.Method, url: RequestBase, as type: Response.Type = Response.self,
        @RequestPropertiesBuilder _ properties: () -> RequestProperties = { RequestProperties() }
    ) {
        self.init(method, in: APIContext(base: url), properties())
    }

    /// Creates a definition that inherits a context.
    public init(
        _ method: HTTPRequest.Method, _ path: RequestPath = RequestPath(), in context: consuming APIContext,
        _ properties: consuming RequestProperties = RequestProperties()
    ) {
        self.method = method
        self.context = context
        own = properties
        own.insert(path)
    }

    /// The definition itself.
    public var definition: APIRequest<Response> { self }

    /// The request as the service sends it.
    func request() throws(RequestFailure) -> DataRequest {
        var request: DataRequest
        do throws(RequestFailure) {
            if let failure { throw failure }
            let body = body
            if let failure = body.failure { throw failure }
            request = DataRequest(
                method, try encodedPath(), query: query.items, headerFields: try headers.fields, body: body.body,
                expecting: configuration.expectedStatus, options: configuration.options)
            request.settings = configuration.settings
            let key = idempotencyKey
            if key != request.settings.idempotencyKey { request.settings.idempotencyKey = key }
            // An invalid text fails now, and not when the request is sent.
            if key != nil { _ = try keyField(beside: request.headerFields) }
        } catch {
            throw error.naming(method, wholePath.encoded)
        }
        request.template = template(of: request.path)
        request.base = base
        request.isDefined = true
        request.codecs = codecs
        request.errorModel = errorModel
        return request
    }

    // MARK: Parts

    /// The base URL.
    public var base: RequestBase {
        get { context.base }
        set { context.base = newValue }
    }
    /// The paths of the endpoints that define the request.
    public var endpointPath: RequestPath { context.path }
    /// The path below ``endpointPath``. Shared path components belong to every request, so they come before its own.
    public var path: RequestPath {
        context.inherited.joined(to: own.path, { $0.path }, { $0.append($1) })
    }
    /// The whole path with its values replaced, such as `/users/{}`; see ``RequestPath/urlTemplate``. `nil` if the definition is
    /// invalid, and for a whole URL, whose path is not known to have values or not.
    public var urlTemplate: String? { (try? encodedPath()).flatMap { template(of: $0).text } }
    /// The query items, including the inherited ones.
    public var query: RequestQuery {
        context.inherited.joined(to: own.query, { $0.query }, { $0.append($1) })
    }
    /// The header fields, including the inherited ones.
    public var headers: RequestHeaders {
        context.inherited.joined(to: own.headers, { $0.headers }, { $0.append($1) })
    }
    /// The body.
    public var body: RequestContent {
        context.inherited.joined(to: own.body, { $0.body }, { $0 = $0.joined(with: $1) })
    }
    /// How the request is sent.
    public var configuration: APIConfiguration {
        get { context.configuration }
        set { context.configuration = newValue }
    }
    /// The codecs of the body and the model; `nil` for those of the service that sends the request.
    public var codecs: CodecRegistry? {
        get { context.codecs }
        set { context.codecs = newValue }
    }
    /// The model type for the body of an unexpected response; `nil` for that of the service that sends the request.
    public var errorModel: (any (Decodable & Sendable).Type)? {
        get { context.errorModel }
        set { context.errorModel = newValue }
    }

    /// The key by which the server recognizes the request if it is sent again: the request's own, or that of the
    /// configuration unless the method is safe. Setting `nil` removes both.
    public var idempotencyKey: IdempotencyKey? {
        get {
            if let ownKey { return ownKey }
            switch method {
            case .get, .head, .options, .trace: return nil
            default: return configuration.idempotencyKey
            }
        }
        set {
            ownKey = newValue
            if newValue == nil, configuration.idempotencyKey != nil { configuration.idempotencyKey = nil }
        }
    }

    /// The URL of the request.
    ///
    /// - Parameter environment: The base URL of the environment. It is needed only if the definition has no base of its
    ///   own.
    /// - Throws: `invalidRequest` if the URL cannot be built, or if there is no base URL.
    public func url(under environment: RequestURL? = nil) throws(RequestFailure) -> RequestURL {
        guard let base = try base.url ?? environment else {
            throw RequestFailure(
                .invalidRequest, "The definition of \(description) has no base URL of its own.",
                remedy: "Pass the base URL of the environment, or give its API a base URL.")
        }
        let query = query.items.encodedQuery
        // Most paths are a few plain words, which are joined in one step. Further steps would copy path and query.
        let path = path
        if endpointPath.failure == nil, path.failure == nil,
            let url = base.joining(
                plainPath: endpointPath.encoded, path.encoded, endsWithSlash: configuration.appendsTrailingSlash,
                query: query)
        {
            return url
        }
        var target = try encodedPath(reserving: query.utf8.count + 1)
        if !query.isEmpty {
            target += "?"
            target += query
        }
        return try PathRules.join(target, to: base).keepingQuery(of: base)
    }

    /// The header fields of the definition, with an idempotency key that is a text. The service adds those that it sends
    /// with every request, and an `automatic` key.
    ///
    /// - Throws: `invalidRequest` for the first invalid name or value.
    public var headerFields: HTTPFields {
        get throws(RequestFailure) {
            var fields = try headers.fields
            if let field = try keyField(beside: fields) { fields.append(field) }
            return fields
        }
    }

    /// The field of an idempotency key that is a text; `nil` if there is none, or if the fields have one already.
    ///
    /// - Throws: `invalidRequest` if the text is empty, or not allowed in a field.
    func keyField(beside fields: HTTPFields) throws(RequestFailure) -> HTTPField? {
        guard case .text? = idempotencyKey, let name = HTTPField.Name.idempotencyKey, !fields.contains(name) else {
            return nil
        }
        return try idempotencyKey?.field(name, random: { 0 })
    }

    /// The template of the whole path; none for a whole URL without a further path.
    ///
    /// - Parameter encoded: The whole path, encoded.
    private func template(of encoded: String) -> RequestTemplate {
        let path = path
        guard base.isEnvironment || !endpointPath.isEmpty || !path.isEmpty else { return .none }
        var template = endpointPath.template
        template.append(path.template)
        return .path(template, encoded)
    }

    private var wholePath: RequestPath {
        var whole = endpointPath
        whole.append(path)
        return whole
    }

    /// The percent-encoded path below the base URL.
    ///
    /// - Parameter size: The number of bytes that the caller will append.
    /// - Throws: `invalidRequest` if a part of it is invalid.
    func encodedPath(reserving size: Int = 0) throws(RequestFailure) -> String {
        let path = path
        if let failure = endpointPath.failure ?? path.failure { throw failure }
        var text = ""
        text.reserveCapacity(endpointPath.encoded.utf8.count + path.encoded.utf8.count + 2 + size)
        text += endpointPath.encoded
        if !text.isEmpty, !path.isEmpty { text += "/" }
        text += path.encoded
        // Without a path, the slash is that of the base URL's path: the reference to its directory (RFC 3986, 5.2.4).
        if configuration.appendsTrailingSlash { text += text.isEmpty ? "./" : "/" }
        return text
    }
}

extension APIRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method, the path and the names of the query items, such as `GET users/7?role`.
    public var description: String {
        let names = query.items.items.map(\.name).joined(separator: "&")
        return "\(method.rawValue) \(wholePath.encoded)\(names.isEmpty ? "" : "?" + names)"
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// The parts without values that can be secret.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "definition": description, "base": base, "headers": headers.shownNames,
                "body": body.description,
            ])
    }
}

/// Definitions are equal if they send the same request.
extension APIRequest: Hashable {
    /// Compares method, URL, header fields, idempotency key, body and options. Bodies are encoded for the comparison.
    public static func == (one: APIRequest, other: APIRequest) -> Bool { one.key == other.key }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }

    private struct Key: Hashable {
        let method: HTTPRequest.Method
        let base: RequestBase
        let path: Result<String, RequestFailure>
        let query: QueryItems
        let fields: Result<HTTPFields, RequestFailure>
        let hasAutomaticKey: Bool
        let body: ContentKey
        let options: TransportOptions
        let failure: RequestFailure?
    }

    private var key: Key {
        Key(
            method: method, base: base, path: Result { () throws(RequestFailure) in try encodedPath() },
            query: query.items, fields: Result { () throws(RequestFailure) in try headerFields },
            hasAutomaticKey: idempotencyKey == .automatic,
            body: body.key(codecs ?? .standard, (try? headers.fields)?[.contentType]), options: configuration.options,
            failure: failure)
    }
}
