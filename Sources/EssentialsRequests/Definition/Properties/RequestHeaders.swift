public import EssentialsHTTP

/// The header fields of a definition: fields to set, to add, and to remove.
///
/// ```swift
/// RequestHeaders {
///     RequestHeader.accept(.json)
///     ("X-Tenant", "acme")
///     RequestHeader.removing("X-Debug")        // that a parent has set
/// }
/// ```
///
/// Names are compared without case. A field replaces the fields of its name that a parent has set, unless it is
/// ``RequestHeader/adding(_:_:)``, which sends one more. An invalid name or value fails as `invalidRequest` when the
/// request is built.
public struct RequestHeaders: Sendable, Hashable {
    private(set) var headers: [RequestHeader] = []

    /// Creates no header fields.
    public init() {}

    /// Creates header fields; see ``RequestHeadersBuilder``.
    public init(@RequestHeadersBuilder _ content: () -> RequestHeaders) { self = content() }

    /// Creates fields that replace those of a parent.
    public init(_ fields: HTTPFields) { self.init(fields.map { RequestHeader(.add($0)) }, replacing: fields) }

    /// Creates fields from names and values, sorted by name. They replace those of a parent.
    public init(_ values: [String: String]) {
        headers = values.sorted { $0.key < $1.key }.map { RequestHeader($0.key, $0.value) }
    }

    /// Creates one header field.
    public init(_ header: RequestHeader) { headers = [header] }

    private init(_ added: [RequestHeader], replacing fields: HTTPFields) {
        headers = Set(fields.map(\.name)).sorted { $0.canonicalName < $1.canonicalName }
            .map { RequestHeader(.remove($0)) }
        headers += added
    }

    /// Adds a change after the others.
    public mutating func append(_ header: RequestHeader) { headers.append(header) }

    /// Adds the changes of other fields after these.
    public mutating func append(_ other: RequestHeaders) {
        if headers.isEmpty { headers = other.headers } else { headers += other.headers }
    }

    /// Adds changes after a beginning, or before all others if these do not begin with it.
    mutating func insert(_ other: RequestHeaders, after beginning: RequestHeaders) {
        headers.insert(
            contentsOf: other.headers, at: headers.starts(with: beginning.headers) ? beginning.headers.count : 0)
    }

    /// Whether nothing is changed.
    var isEmpty: Bool { headers.isEmpty }

    /// The fields that are sent.
    ///
    /// - Throws: `invalidRequest` for the first invalid name or value.
    public var fields: HTTPFields {
        get throws(RequestFailure) {
            var fields = HTTPFields()
            for header in headers {
                switch header.change {
                case .set(let field):
                    if fields.contains(field.name) {
                        fields[field.name] = field.value
                    } else {
                        fields.append(field)
                    }
                case .add(let field): fields.append(field)
                case .remove(let name): if fields.contains(name) { fields[name] = nil }
                case .invalid(let failure): throw failure
                }
            }
            return fields
        }
    }
}

extension RequestHeaders: ExpressibleByDictionaryLiteral {
    /// Creates fields that replace those of a parent. `nil` removes a field.
    public init(dictionaryLiteral elements: (String, String?)...) {
        headers = elements.map { name, value in value.map { RequestHeader(name, $0) } ?? .removing(name) }
    }
}

/// Builds ``RequestHeaders``.
///
/// ```swift
/// Headers {
///     RequestHeader.accept(.json)
///     ("X-Tenant", tenant)                     // nil removes the field
///     if isDebug { ("X-Debug", "1") }
/// }
/// ```
@resultBuilder
public enum RequestHeadersBuilder {
    /// A header field, or a change of one.
    public static func buildExpression(_ header: RequestHeader) -> RequestHeaders { RequestHeaders(header) }
    /// A header field; `nil` adds nothing.
    public static func buildExpression(_ header: RequestHeader?) -> RequestHeaders {
        header.map { RequestHeaders($0) } ?? RequestHeaders()
    }
    /// A name and a value. `nil` removes the field.
    public static func buildExpression(_ pair: (String, String?)) -> RequestHeaders {
        RequestHeaders(pair.1.map { RequestHeader(pair.0, $0) } ?? .removing(pair.0))
    }
    /// Names and values, sorted by name.
    public static func buildExpression(_ values: [String: String]) -> RequestHeaders { RequestHeaders(values) }
    /// A field.
    public static func buildExpression(_ field: HTTPField) -> RequestHeaders {
        RequestHeaders(RequestHeader(.set(field)))
    }
    /// Fields that replace those of a parent.
    public static func buildExpression(_ fields: HTTPFields) -> RequestHeaders { RequestHeaders(fields) }
    /// Changes of header fields.
    public static func buildExpression(_ headers: RequestHeaders) -> RequestHeaders { headers }
    /// No field.
    public static func buildBlock() -> RequestHeaders { RequestHeaders() }
    /// The first statement.
    public static func buildPartialBlock(first: RequestHeaders) -> RequestHeaders { first }
    /// The statements so far and the next one.
    public static func buildPartialBlock(accumulated: RequestHeaders, next: RequestHeaders) -> RequestHeaders {
        var headers = accumulated
        headers.append(next)
        return headers
    }
    /// An `if` without `else`.
    public static func buildOptional(_ headers: RequestHeaders?) -> RequestHeaders { headers ?? RequestHeaders() }
    /// The first branch.
    public static func buildEither(first headers: RequestHeaders) -> RequestHeaders { headers }
    /// The second branch.
    public static func buildEither(second headers: RequestHeaders) -> RequestHeaders { headers }
    /// A loop.
    public static func buildArray(_ headers: [RequestHeaders]) -> RequestHeaders {
        headers.reduce(into: RequestHeaders()) { $0.append($1) }
    }
    /// An `if #available`.
    public static func buildLimitedAvailability(_ headers: RequestHeaders) -> RequestHeaders { headers }
}

extension RequestHeaders: CustomReflectable {
    /// The names of the fields, without their values.
    public var customMirror: Mirror { Mirror(self, children: ["headers": headers.map(\.description)]) }
}
