import EssentialsHTTP
import FoundationEssentials

/// Reads members of a ``ServiceRequest`` whose declarations can have several types.
///
/// The requirements accept every type, because a member of another type would be ignored without a word: the default would
/// take its place. A type from which no value can be made fails when the request is built.
enum DeclaredMember {
    /// The declared idempotency key; `nil` for the default.
    ///
    /// - Throws: `invalidRequest` if no key can be made from the declared value.
    static func idempotencyKey(
        _ declared: some Any, of request: Any.Type
    ) throws(RequestFailure) -> IdempotencyKey? {
        // This also matches `nil` of each optional type.
        if let key = declared as? IdempotencyKey? { return key }
        if let text = declared as? String { return .text(text) }
        if let id = declared as? UUID { return .text(id.uuidString) }
        if let key = chosen(declared) as? IdempotencyKey { return key }
        throw failure(declared, "idempotencyKey", of: request, "an IdempotencyKey or a String")
    }

    /// The declared media type; `nil` for the default.
    ///
    /// - Throws: `invalidRequest` if no media type can be made from the declared value.
    static func contentType(_ declared: some Any, of request: Any.Type) throws(RequestFailure) -> MediaType? {
        if let type = declared as? MediaType? { return type }
        if let text = declared as? String { return try MediaType(text) }
        if let type = chosen(declared) as? MediaType { return type }
        throw failure(declared, "contentType", of: request, "a MediaType or a String")
    }

    /// The declared header fields.
    ///
    /// - Throws: `invalidRequest` if no fields can be made from the declared value.
    static func headers(_ declared: some Any, of request: Any.Type) throws(RequestFailure) -> RequestHeaders {
        if let headers = declared as? RequestHeaders? { return headers ?? RequestHeaders() }
        if let fields = declared as? HTTPFields { return RequestHeaders(fields) }
        if let values = declared as? [String: String] { return RequestHeaders(values) }
        if let header = declared as? RequestHeader { return RequestHeaders(header) }
        throw failure(declared, "headers", of: request, "RequestHeaders, HTTPFields or [String: String]")
    }

    /// The failure of a request with a member that throws an error of the program.
    static func failure(_ error: any Error, of request: Any.Type) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "A property of \(request) threw an error.",
            remedy: "Read the underlying error.", underlying: error)
    }

    /// The value that a type of the program stands for.
    private static func chosen(_ declared: some Any) -> (any Sendable)? {
        guard let choice = declared as? any DefinitionChoice else { return nil }
        return choice.definitionValue
    }

    private static func failure<Declared>(
        _ declared: Declared, _ member: String, of request: Any.Type, _ types: String
    ) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "The \(member) of \(request) has the type \(Declared.self), which it cannot have.",
            remedy: "Declare it as \(types).")
    }
}
