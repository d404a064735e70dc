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
/// ``RequestHeader/adding(_:_:)-(String,_)``, which sends one more. An invalid name or value fails as `invalidRequest` when the
/// request is built.
public struct RequestHeaders: Sendable, Hashable {
    private var kept = HTTPFields()
    /// The names whose fields replace or remove those of a parent; `nil` for all names in the fields.
    private var replaced: [HTTPField.Name]?
    /// The first invalid name or value; `nil` if there is none. It is thrown when the request is built.
    private var failure: RequestFailure?

    /// Creates no header fields.
    public init() {}

    /// Creates header fields; see ``RequestHeadersBuilder``.
    public init(@RequestHeadersBuilder _ content: () -> RequestHeaders) { self = content() }

    /// Creates fields that replace those of a parent.
    public init(_ fields: HTTPFields) {
        kept = fields
        do throws(RequestFailure) { try fields.checkNothingRefused() } catch { failure = error }
    }

    /// Creates fields from names and values, sorted by name. They replace those of a parent.
    public init(_ values: [String: String]) {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { append(RequestHeader(name, value)) }
    }

    /// Creates one header field.
    public init(_ header: RequestHeader) { append(header) }

    /// Creates the first field of several.
    @usableFromInline init(beginningWith header: RequestHeader) {
        // Most definitions have at most four fields, and the array would grow three times.
        kept.reserveCapacity(4)
        append(header)
    }

    /// The maximum number of header fields of a definition. More fail as `tooLarge` when the request is built.
    public static var maximum: Int { 1_000 }

    /// Adds a change after the others.
    public mutating func append(_ header: consuming RequestHeader) {
        switch header.change {
        case .set(let field):
            guard hasRoom(for: 1) else { return }
            if kept.contains(field.name) { kept[fields: field.name] = [field] } else { kept.append(field) }
            replaced?.append(field.name)
        case .add(let field):
            guard hasRoom(for: 1) else { return }
            listNames()
            kept.append(field)
        case .remove(let name):
            listNames()
            kept[name] = nil
            replaced?.append(name)
        case .invalid(let problem): refuse(problem)
        }
    }

    /// Whether there are neither fields nor removed names.
    var changesNothing: Bool { kept.isEmpty && replaced == nil && failure == nil }

    /// Adds the changes of other fields after these.
    public mutating func append(_ other: RequestHeaders) {
        if changesNothing {
            self = other
            return
        }
        if failure == nil { failure = other.failure }
        guard hasRoom(for: other.kept.count) else { return }
        let names = other.replaced ?? other.names
        if replaced != nil || other.replaced != nil {
            listNames()
            replaced?.append(contentsOf: names)
        }
        var added = other.kept
        var done: Set<HTTPField.Name> = []
        for name in names where kept.contains(name) && done.insert(name).inserted {
            kept[values: name] = added[values: name]
            added[name] = nil
        }
        kept.append(contentsOf: added)
    }

    private mutating func hasRoom(for count: Int) -> Bool {
        guard kept.count + count > Self.maximum else { return true }
        refuse(
            RequestFailure(
                .tooLarge, "The definition has more than \(Self.maximum) header fields.",
                remedy: "Send the values in the body."))
        return false
    }

    private mutating func refuse(_ problem: RequestFailure) {
        if failure == nil { failure = problem }
    }

    private var names: [HTTPField.Name] { kept.map(\.name) }

    /// Lists the names that replace a parent's, because not all fields do so any longer.
    private mutating func listNames() {
        if replaced == nil { replaced = names }
    }

    /// The fields that are sent.
    ///
    /// - Throws: `invalidRequest` for the first invalid name or value.
    public var fields: HTTPFields {
        get throws(RequestFailure) {
            if let failure { throw failure }
            return kept
        }
    }

    /// The names of the fields, for descriptions.
    var shownNames: [String] { kept.map(\.name.rawName) }
}

extension RequestHeaders: ExpressibleByDictionaryLiteral {
    /// Creates fields that replace those of a parent. `nil` removes a field.
    public init(dictionaryLiteral elements: (String, String?)...) {
        for (name, value) in elements { append(value.map { RequestHeader(name, $0) } ?? .removing(name)) }
    }
}

/// Builds ``RequestHeaders``.
///
/// ```swift
/// RequestHeaders {
///     RequestHeader.accept(.json)
///     ("X-Tenant", tenant)                     // nil removes the field
///     if isDebug { ("X-Debug", "1") }
/// }
/// ```
@resultBuilder
public enum RequestHeadersBuilder {
    /// A header field, or a change of one.
    public static func buildExpression(_ header: RequestHeader) -> RequestHeader { header }
    /// A header field; `nil` adds nothing.
    public static func buildExpression(_ header: RequestHeader?) -> RequestHeaders {
        header.map { RequestHeaders($0) } ?? RequestHeaders()
    }
    /// A name and a value. `nil` removes the field.
    public static func buildExpression(_ pair: (String, String?)) -> RequestHeader {
        pair.1.map { RequestHeader(pair.0, $0) } ?? .removing(pair.0)
    }
    /// A name and a value. `nil` removes the field.
    public static func buildExpression(_ pair: (HTTPField.Name, String?)) -> RequestHeader {
        pair.1.map { RequestHeader(pair.0, $0) } ?? .removing(pair.0)
    }
    /// Names and values, sorted by name.
    public static func buildExpression(_ values: [String: String]) -> RequestHeaders { RequestHeaders(values) }
    /// A field.
    public static func buildExpression(_ field: HTTPField) -> RequestHeader { RequestHeader(field) }
    /// Fields that replace those of a parent.
    public static func buildExpression(_ fields: HTTPFields) -> RequestHeaders { RequestHeaders(fields) }
    /// Changes of header fields.
    public static func buildExpression(_ headers: RequestHeaders) -> RequestHeaders { headers }
    /// No field.
    public static func buildBlock() -> RequestHeaders { RequestHeaders() }
    /// The first statement.
    @inlinable public static func buildPartialBlock(first: consuming RequestHeaders) -> RequestHeaders { first }
    /// The first statement.
    @inlinable public static func buildPartialBlock(first: RequestHeader) -> RequestHeaders {
        RequestHeaders(beginningWith: first)
    }
    /// The statements so far and the next one.
    @inlinable public static func buildPartialBlock(
        accumulated: consuming RequestHeaders, next: RequestHeaders
    ) -> RequestHeaders {
        accumulated.append(next)
        return accumulated
    }
    /// The statements so far and the next one.
    @inlinable public static func buildPartialBlock(
        accumulated: consuming RequestHeaders, next: consuming RequestHeader
    ) -> RequestHeaders {
        accumulated.append(next)
        return accumulated
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
    public var customMirror: Mirror { Mirror(self, children: ["names": shownNames]) }
}
