public import EssentialsHTTP

/// One header field of a definition, or its removal.
///
/// ```swift
/// RequestHeader("X-Tenant", "acme")                    // replaces the value that a parent has set
/// RequestHeader.adding("Via", "1.1 proxy")             // one more value
/// RequestHeader.removing("Authorization")
/// RequestHeader.authorization(.bearer(token))
/// ```
public struct RequestHeader: Sendable, Hashable {
    enum Change: Sendable, Hashable {
        case set(HTTPField)
        case add(HTTPField)
        case remove(HTTPField.Name)
        case invalid(RequestFailure)
    }

    let change: Change

    init(_ change: Change) { self.change = change }

    private init(_ make: () throws(RequestFailure) -> Change) {
        do throws(RequestFailure) {
            change = try make()
        } catch {
            change = .invalid(error)
        }
    }

    /// A field that replaces those of its name. An invalid name or value fails when the request is built.
    public init(_ name: String, _ value: String) {
        self.init { () throws(RequestFailure) in .set(try .checked(name: name, value: value)) }
    }

    /// A field that replaces those of its name.
    public init(_ name: HTTPField.Name, _ value: String) {
        self.init { () throws(RequestFailure) in
            try Self.check(name)
            return .set(try .checked(name, value: value))
        }
    }

    /// A field that replaces those of its name.
    init(_ field: HTTPField) {
        self.init { () throws(RequestFailure) in
            try Self.check(field.name)
            return .set(field)
        }
    }

    /// `HTTPFields` ends the process for a name that only parsers of HTTP/2 create.
    private static func check(_ name: HTTPField.Name) throws(RequestFailure) {
        guard name.rawName.utf8.first == UInt8(ascii: ":") else { return }
        throw RequestFailure(
            .invalidRequest, "“\(RequestFailure.shown(name.rawName))” is not a header name, but a part of HTTP/2.",
            remedy: "Set the method and the URL of the definition instead.")
    }

    /// A field that is sent in addition to others of its name.
    public static func adding(_ name: String, _ value: String) -> RequestHeader {
        RequestHeader { () throws(RequestFailure) in .add(try .checked(name: name, value: value)) }
    }

    /// A field that is sent in addition to others of its name.
    public static func adding(_ name: HTTPField.Name, _ value: String) -> RequestHeader {
        RequestHeader { () throws(RequestFailure) in
            try check(name)
            return .add(try .checked(name, value: value))
        }
    }

    /// Removes the fields of a name that were set before.
    public static func removing(_ name: String) -> RequestHeader {
        RequestHeader { () throws(RequestFailure) in .remove(try HTTPField.checked(name: name, value: "").name) }
    }

    /// Removes the fields of a name that were set before.
    public static func removing(_ name: HTTPField.Name) -> RequestHeader { RequestHeader(.remove(name)) }

    // MARK: Common fields

    /// `Accept`: the media types of the response, the preferred one first (RFC 9110, 12.5.1).
    public static func accept(_ type: MediaType, _ others: MediaType...) -> RequestHeader {
        RequestHeader(.accept, others.reduce(type.description) { $0 + ", " + $1.description })
    }

    /// `Accept-Language`: language tags, the preferred one first (RFC 9110, 12.5.4).
    public static func acceptLanguage(_ tags: String...) -> RequestHeader {
        RequestHeader(.acceptLanguage, tags.joined(separator: ", "))
    }

    /// `Authorization` with the value of a scheme (RFC 9110, 11.6.2).
    ///
    /// `nil` removes the field that the definition has inherited or set before. It does not send the request without
    /// credentials: those of the service and a field of the environment are still added, as to every request without the
    /// field.
    ///
    /// The field belongs to the definition. To send credentials that the program learns later, set them on the service;
    /// see ``AuthorizationService/setAuthorization(_:)``.
    public static func authorization(_ authorization: RequestAuthorization?) -> RequestHeader {
        guard let authorization else { return .removing(.authorization) }
        return RequestHeader { () throws(RequestFailure) in
            .set(HTTPField(name: .authorization, value: try authorization.value.get()))
        }
    }

    /// `Cache-Control` with directives (RFC 9111, 5.2.1), such as `no-cache`.
    public static func cacheControl(_ directives: String...) -> RequestHeader {
        RequestHeader(.cacheControl, directives.joined(separator: ", "))
    }

    /// `Content-Type` of the body, which usually follows from the body itself.
    ///
    /// It chooses the codec of a model, and is the type of bytes and text. A type that was given to the body itself wins.
    /// Without a body the field is sent as it is.
    public static func contentType(_ type: MediaType) -> RequestHeader {
        RequestHeader(.contentType, type.description)
    }
}

extension RequestHeader: CustomStringConvertible, CustomReflectable {
    /// The change and the name, without the value.
    public var description: String {
        switch change {
        case .set(let field): field.name.rawName
        case .add(let field): "+\(field.name.rawName)"
        case .remove(let name): "-\(name.rawName)"
        case .invalid(let failure): failure.message
        }
    }
    /// Empty, so that no value is shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The value of an `Authorization` field in a definition.
///
/// ```swift
/// RequestHeader.authorization(.basic(user: "ada", password: password))     // encoded as RFC 7617 requires
/// ```
///
/// Invalid input fails as `invalidRequest` when the request is built. The description shows no secret.
public struct RequestAuthorization: Sendable, CustomStringConvertible, CustomReflectable {
    let value: Result<String, RequestFailure>

    private init(_ make: () throws(RequestFailure) -> Credentials) {
        value = Result { () throws(RequestFailure) in
            guard case .field(let value) = try make().content else { return "" }
            return value
        }
    }

    /// A user name and a password for Basic authentication (RFC 7617), which are encoded as UTF-8 and Base64.
    public static func basic(user: String, password: String) -> RequestAuthorization {
        RequestAuthorization { () throws(RequestFailure) in try .basic(user: user, password: password) }
    }

    /// A bearer token (RFC 6750).
    public static func bearer(_ token: String) -> RequestAuthorization {
        RequestAuthorization { () throws(RequestFailure) in try .bearer(token) }
    }

    /// A scheme and its complete value, such as `Digest` with a response that the program has computed.
    public static func scheme(_ scheme: String, _ value: String) -> RequestAuthorization {
        RequestAuthorization { () throws(RequestFailure) in try .header("\(scheme) \(value)") }
    }

    /// The scheme, without the secret part.
    public var description: String {
        (try? value.get()).map { "\($0.prefix { $0 != " " }.prefix(16)) …" } ?? "invalid"
    }
    /// Empty, so that no secret is shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
