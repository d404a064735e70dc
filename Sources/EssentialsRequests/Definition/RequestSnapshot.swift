public import EssentialsHTTP
import FoundationEssentials

/// A definition as plain data, for comparisons in tests and for files beside them.
///
/// ```swift
/// let snapshot = try Users.find(role: "admin").snapshot()
/// #expect(snapshot == RequestSnapshot(method: "GET", url: "users?role=admin"))
/// let data = try JSONEncoder().encode(snapshot)
/// ```
///
/// Secret values are hidden unless `showsSecrets` is true: those of header fields, query items, items of a form and members
/// of JSON whose names sound secret; see ``Redaction``.
public struct RequestSnapshot: Sendable, Hashable, Codable {
    /// The method.
    public var method: String
    /// The URL, or the path and query below the environment if the definition has no base URL of its own.
    public var url: String
    /// Pairs of name and value, in the order in which they are sent.
    public var headerFields: [Field]
    /// The body as text. Bytes that are not UTF-8 are in Base64 after `base64:`. `nil` without a body and for a body
    /// that is read while it is sent.
    public var body: String?

    /// A header field.
    public struct Field: Sendable, Hashable, Codable {
        /// The name as it is sent.
        public var name: String
        /// The value, or `…` if it is hidden.
        public var value: String

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a snapshot.
    public init(
        method: String, url: String, headerFields: KeyValuePairs<String, String> = [:], body: String? = nil
    ) {
        self.method = method
        self.url = url
        self.headerFields = headerFields.map { Field(name: $0.key, value: $0.value) }
        self.body = body
    }
}

extension APIRequest {
    /// The definition as plain data, with its body encoded.
    ///
    /// - Parameters:
    ///   - environment: The base URL of the environment. Without it, a definition without a base URL of its own has the
    ///     path and the query as its URL.
    ///   - codecs: The codecs of the service that sends the definition. They encode the body unless the definition has
    ///     its own.
    ///   - showsSecrets: Whether secret values are shown. The default is `false`.
    /// - Throws: `invalidRequest`, `encoding` or `file` if the definition is invalid.
    public func snapshot(
        under environment: RequestURL? = nil, codecs: CodecRegistry = .standard, showsSecrets: Bool = false
    ) throws(RequestFailure) -> RequestSnapshot {
        let encoded = try encoded(under: environment, codecs, showsSecrets: showsSecrets)
        var snapshot = RequestSnapshot(method: method.rawValue, url: encoded.url)
        snapshot.headerFields = encoded.fields.map { RequestSnapshot.Field(name: $0.name.rawName, value: $0.value) }
        snapshot.body = encoded.body.map { body in
            // Text that looks like Base64 bytes is shown as bytes, so that the two cannot be confused.
            let text = String(validating: body, as: UTF8.self).flatMap { $0.hasPrefix("base64:") ? nil : $0 }
            return text ?? "base64:" + body.base64EncodedString()
        }
        return snapshot
    }

    /// A command line for a shell that sends the same request with curl; see
    /// ``DataRequest/curlCommand(under:codecs:showsSecrets:)``.
    ///
    /// ```swift
    /// print(try Users.get(id: 7).curlCommand())
    /// // curl -X 'GET' --globoff 'https://shop.example.com/v1/users/7'
    /// ```
    ///
    /// - Parameters:
    ///   - environment: The base URL of the environment, for a definition without a base URL of its own.
    ///   - codecs: The codecs of the service that sends the definition. They encode the body unless the definition has
    ///     its own.
    ///   - showsSecrets: Whether secrets are shown. The default is `false`.
    /// - Throws: `invalidRequest`, `encoding` or `file` if the definition is invalid, and `invalidRequest` if there is
    ///   no base URL.
    public func curlCommand(
        under environment: RequestURL? = nil, codecs: CodecRegistry = .standard, showsSecrets: Bool = false
    ) throws(RequestFailure) -> String {
        _ = try url(under: environment)
        return try request().curlCommand(under: environment, codecs: codecs, showsSecrets: showsSecrets)
    }

    private func encoded(
        under environment: RequestURL?, _ standardCodecs: CodecRegistry, showsSecrets: Bool
    ) throws(RequestFailure) -> EncodedDefinition {
        let redaction = showsSecrets ? nil : Redaction.named
        var request = try request()
        if let field = try keyField(beside: request.headerFields) { request.headerFields.append(field) }
        // The service sets the length of the body itself.
        request.headerFields[.contentLength] = nil
        let codecs = codecs ?? standardCodecs
        var body: Data?
        switch try self.body.checkedKey(codecs, request.headerFields[.contentType]) {
        case .none, .stream, .invalid: break
        case .bytes(let data, let type):
            body = redaction?.shown(body: data, type: type) ?? data
            if let type { request.headerFields[.contentType] = type }
        }
        let fields = redaction?.shown(request.headerFields) ?? request.headerFields
        return EncodedDefinition(url: try shownURL(under: environment, redaction), fields: fields, body: body)
    }

    /// The URL as text, or the path and query if there is no base.
    private func shownURL(
        under environment: RequestURL?, _ redaction: Redaction?
    ) throws(RequestFailure) -> String {
        let hasBase = try base.url != nil || environment != nil
        let url = try hasBase ? url(under: environment) : url(under: RequestURL("http://localhost/"))
        let text = redaction?.text(of: url) ?? url.description
        guard !hasBase else { return text }
        return String(text.dropFirst(url.origin.description.count + 1))
    }
}

/// The parts of a definition that are shown.
private struct EncodedDefinition {
    let url: String
    let fields: HTTPFields
    let body: Data?
}
