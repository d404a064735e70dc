public import EssentialsHTTP
import FoundationEssentials

/// The body of a definition.
///
/// ```swift
/// RequestContent { NewUser(name: "Ada") }             // a model, as JSON
/// RequestContent(form: ["name": "Ada"])
/// RequestContent(json: ["name": "Ada", "tags": ["a", nil]])
/// RequestContent(try .file("/srv/films/1.mp4"))       // an error is thrown when the request is built
/// ```
///
/// A body brings its own `Content-Type`; see ``DataRequest/Body``. A definition has one body: with two, the request
/// fails as `invalidRequest` when it is built. Bodies are equal if they send the same bytes with the same type; a stream
/// is equal only to its copies.
public struct RequestContent: Sendable {
    /// A body, or the failure to throw. It is an object, because most definitions have no body and are copied often.
    private final class Storage: Sendable {
        let body: DataRequest.Body
        let failure: RequestFailure?

        init(_ body: DataRequest.Body, failure: RequestFailure?) {
            self.body = body
            self.failure = failure
        }
    }

    /// `nil` for no body.
    private let storage: Storage?

    private init(_ body: DataRequest.Body, failure: RequestFailure?) {
        storage = body.isNone && failure == nil ? nil : Storage(body, failure: failure)
    }

    /// No body.
    public init() { storage = nil }

    /// The body; ``DataRequest/Body/none`` if there is none.
    public var body: DataRequest.Body { storage?.body ?? .none }
    /// Why the content is invalid; `nil` if it is valid. It is thrown when the request is built.
    var failure: RequestFailure? { storage?.failure }

    /// A body of any kind. If it cannot be created, building the request throws the error.
    public init(_ body: @autoclosure () throws(RequestFailure) -> DataRequest.Body) {
        do throws(RequestFailure) {
            self.init(try body(), failure: nil)
        } catch {
            self.init(.none, failure: error)
        }
    }

    /// A model, encoded by the codecs of the definition or the service; see ``DataRequest/Body/model(_:as:)``.
    public init(_ model: some Encodable & Sendable, as type: MediaType? = nil) {
        self.init(.model(model, as: type), failure: nil)
    }

    /// Named values as a form (`application/x-www-form-urlencoded`).
    public init(form parameters: FormParameters) { self.init(.parameters(parameters, as: .form), failure: nil) }

    /// A JSON value, which can be a literal.
    public init(json value: JSONValue) { self.init(.json(value), failure: nil) }

    /// A body from statements; see ``RequestContentBuilder``.
    public init(@RequestContentBuilder _ content: () -> RequestContent) { self = content() }

    /// Whether there is no body.
    public var isEmpty: Bool { storage == nil }

    /// This body and another one, which is an error unless one of them is empty.
    func joined(with other: RequestContent) -> RequestContent {
        if other.isEmpty || failure != nil { return self }
        if isEmpty || other.failure != nil { return other }
        return RequestContent(
            .none,
            failure: RequestFailure(
                .invalidRequest, "The definition has two bodies.",
                remedy: "A request has only one body. Keep one of the two, or send a multipart body.",
                underlying: SettingConflict("body", "body")))
    }
}

/// Content that can be compared: the bytes and the type that would be sent.
enum ContentKey: Hashable {
    case none
    case bytes(Data, String?)
    /// A body that is read while it is sent, or that cannot be encoded.
    case stream(ObjectIdentifier)
    case invalid(RequestFailure)
}

extension RequestContent {
    /// The content for comparisons. Models are encoded.
    func key(_ codecs: CodecRegistry, _ fieldType: String?) -> ContentKey {
        do throws(RequestFailure) {
            return try checkedKey(codecs, fieldType)
        } catch {
            // Only a copy is known to be equal to a body that these codecs cannot encode.
            return failure == nil ? storage.map { .stream(ObjectIdentifier($0)) } ?? .none : .invalid(error)
        }
    }

    /// The content with its bytes and their type.
    ///
    /// - Parameters:
    ///   - codecs: Encode the body.
    ///   - fieldType: The type in the header fields; `nil` if there is none.
    func checkedKey(_ codecs: CodecRegistry, _ fieldType: String?) throws(RequestFailure) -> ContentKey {
        guard let storage else { return .none }
        if let failure = storage.failure { throw failure }
        switch storage.body.content {
        case .none: return .none
        case .raw(let raw, let standard):
            if case .bytes(let data) = raw.content { return .bytes(data, body.type ?? fieldType ?? standard) }
            return raw.isEmpty ? .none : .stream(ObjectIdentifier(storage))
        case .parameters(let parameters):
            let encoded = try codecs.encode(parameters, as: try mediaType(fieldType))
            return .bytes(encoded.body, encoded.contentType.description)
        case .encoded(let encode):
            let (data, type) = try encode(codecs, try mediaType(fieldType))
            return .bytes(data, type.description)
        }
    }

    private func mediaType(_ fieldType: String?) throws(RequestFailure) -> MediaType {
        if let text = body.type ?? fieldType { return try MediaType(text) }
        return body.standardType ?? .json
    }
}

extension RequestContent: CustomStringConvertible, CustomReflectable {
    /// The kind of body and its size or names, without its content.
    public var description: String { failure?.message ?? body.description }
    /// Empty, so that the content is not shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Builds a ``RequestContent`` from a model, text, bytes or parameters.
///
/// ```swift
/// RequestContent {
///     if let draft { draft } else { Draft.empty }
/// }
/// ```
@resultBuilder
public enum RequestContentBuilder {
    /// A model; `nil` is no body. Text is sent as text, and bytes are sent unchanged.
    public static func buildExpression(_ model: (some Encodable & Sendable)?) -> RequestContent {
        model.map { RequestContent($0) } ?? RequestContent()
    }
    /// A JSON value, which can be a literal.
    public static func buildExpression(_ value: JSONValue) -> RequestContent { RequestContent(json: value) }
    /// A body of any kind.
    public static func buildExpression(_ body: DataRequest.Body) -> RequestContent { RequestContent(body) }
    /// A body.
    public static func buildExpression(_ content: RequestContent) -> RequestContent { content }
    /// No body.
    public static func buildBlock() -> RequestContent { RequestContent() }
    /// The first statement.
    public static func buildPartialBlock(first: RequestContent) -> RequestContent { first }
    /// The statements so far and the next one, of which only one may be a body.
    public static func buildPartialBlock(accumulated: RequestContent, next: RequestContent) -> RequestContent {
        accumulated.joined(with: next)
    }
    /// An `if` without `else`.
    public static func buildOptional(_ content: RequestContent?) -> RequestContent { content ?? RequestContent() }
    /// The first branch.
    public static func buildEither(first content: RequestContent) -> RequestContent { content }
    /// The second branch.
    public static func buildEither(second content: RequestContent) -> RequestContent { content }
    /// A loop, in which only one iteration may have a body.
    public static func buildArray(_ contents: [RequestContent]) -> RequestContent {
        contents.reduce(RequestContent()) { $0.joined(with: $1) }
    }
    /// An `if #available`.
    public static func buildLimitedAvailability(_ content: RequestContent) -> RequestContent { content }
}
