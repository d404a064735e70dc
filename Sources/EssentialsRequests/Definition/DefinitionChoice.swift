public import EssentialsHTTP
import EssentialsTools
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
    private typealias Checked = any (Decodable & Sendable).Type
    private typealias Chosen = Checked?

    /// The declared model type; `nil` for that of the parent.
    ///
    /// - Throws: `invalidRequest` if the declaration is not the type of a model, or if it is a class that the compiler has
    ///   not checked.
    static func model<Declared>(
        _ declared: Declared, of component: Any.Type
    ) throws(RequestFailure) -> (any (Decodable & Sendable).Type)? {
        // This is the default. The comparison spares other types the cast to an optional type, which is the slow one.
        if Declared.self == Chosen.self, let chosen = cast(declared, to: Chosen.self) { return chosen }
        if let model = cast(declared, to: Checked.self) {
            // The object would be shared by all copies of a failure, in every task.
            // A declaration without `Sendable`, as `any Decodable.Type`, is the same type at run time as one with it.
            guard Declared.self == Checked.self || !(model is AnyClass) else { throw unchecked(model, of: component) }
            return model
        }
        if let optional = declared as? any AnyOptional, optional.isNothing { return nil }
        throw RequestFailure(
            .invalidRequest, "The errorModel of \(component) is not the type of a model.",
            remedy:
                "Declare it as in “static let errorModel = Problem.self”, with a type that is Decodable and Sendable.")
    }

    /// Casts to a type with `Sendable`, which `as?` accepts only as a type parameter: `Sendable` has no representation at run
    /// time (SE-0302), so the cast does not check it. The code that reads the model names a type that the compiler has
    /// checked to be `Sendable`.
    private static func cast<Model>(_ declared: some Any, to type: Model.Type) -> Model? { declared as? Model }

    private static func unchecked(_ model: Any.Type, of component: Any.Type) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "The errorModel of \(component) is the class \(model), which may not be Sendable.",
            remedy:
                "Use a struct, or let the compiler check the class: “static var errorModel: (any (Decodable & "
                + "Sendable).Type)? { \(model).self }”.")
    }
}
