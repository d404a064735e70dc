public import EssentialsHTTP
public import FoundationEssentials

/// The type of a member of a definition that has a default: a value, an optional value, or something a value is made from.
///
/// So the member has an effect whether or not it is declared with the `?`, and a base URL can be a text:
///
/// ```swift
/// static let baseURL = "https://shop.example.com/v1/"     // String
/// static let codecs = CodecRegistry.standard              // CodecRegistry
/// var contentType: MediaType? { isForm ? .form : nil }    // MediaType?
/// ```
public protocol DefinitionChoice<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value, or `nil` for the default.
    var definitionValue: Value? { get }
}

extension CodecRegistry: DefinitionChoice {
    /// The registry itself.
    public var definitionValue: CodecRegistry? { self }
}

extension MediaType: DefinitionChoice {
    /// The media type itself.
    public var definitionValue: MediaType? { self }
}

extension IdempotencyKey: DefinitionChoice {
    /// The key itself.
    public var definitionValue: IdempotencyKey? { self }
}

extension RequestBase: DefinitionChoice {
    /// The base itself.
    public var definitionValue: RequestBase? { self }
}

extension RequestURL: DefinitionChoice {
    /// The URL as a base.
    public var definitionValue: RequestBase? { RequestBase(self) }
}

extension String: DefinitionChoice {
    /// The text as a base URL. An invalid one fails when a request is built.
    public var definitionValue: RequestBase? { RequestBase(self) }
}

extension URL: DefinitionChoice {
    /// The URL as a base. One that is not absolute fails when a request is built.
    public var definitionValue: RequestBase? { RequestBase(absoluteString) }
}

extension Optional: DefinitionChoice where Wrapped: DefinitionChoice {
    /// The wrapped value, if there is one.
    public var definitionValue: Wrapped.Value? { flatMap { $0.definitionValue } }
}

/// Reads the error model of a component, whose declaration can have several types. They cannot conform to a protocol, because
/// they are types of types.
enum ErrorModelDeclaration {
    private typealias Chosen = (any (Decodable & Sendable).Type)?

    /// The declared model type; `nil` for that of the parent.
    ///
    /// - Throws: `invalidRequest` if the declaration is not the type of a model.
    static func model<Declared>(
        _ declared: Declared, of component: Any.Type
    ) throws(RequestFailure) -> (any (Decodable & Sendable).Type)? {
        // `Sendable` has no representation at run time (SE-0302), so it cannot be cast to, and the types with and without
        // it have the same bytes. Whoever reads the model names a type that is checked to be `Sendable`.
        if Declared.self == Chosen.self {
            // This is the default, and much faster than the cast below.
            return unsafeBitCast(declared, to: Chosen.self)
        }
        let model = declared as? any Decodable.Type
        if model != nil { return unsafeBitCast(model, to: Chosen.self) }
        if let optional = declared as? any OptionalDeclaration, optional.isNil { return nil }
        throw RequestFailure(
            .invalidRequest, "The errorModel of \(component) is not the type of a model.",
            remedy:
                "Declare it as in “static let errorModel = Problem.self”, with a type that is Decodable and Sendable.")
    }
}

/// An optional value of an unknown type.
private protocol OptionalDeclaration {
    var isNil: Bool { get }
}

extension Optional: OptionalDeclaration {
    fileprivate var isNil: Bool { self == nil }
}
