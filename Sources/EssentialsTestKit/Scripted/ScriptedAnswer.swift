public import EssentialsHTTP
public import FoundationEssentials

/// An answer of a ``ScriptedTransport``: a response or a failure, given at once or after a delay on its clock.
///
/// ```swift
/// transport.on(.post, "/echo").answer { request in
///     ScriptedAnswer(.created, data: request.body, after: .seconds(1))
/// }
/// ```
///
/// A response is delivered as written here. A JSON or text body adds a `Content-Type` unless
/// ``headerFields`` has one; no other field is added. Responses to HEAD and responses with status 204 or 304
/// have no body (RFC 9110, section 6.4.1).
public struct ScriptedAnswer: Sendable {
    enum Outcome: Sendable {
        case response(HTTPResponse.Status, [ScriptedPiece])
        case reason(RequestFailure.Reason, message: String?, phase: RequestFailure.Phase?)
        case failure(RequestFailure)
        /// The answer could not be created.
        case unusable(RequestFailure)
    }

    let outcome: Outcome
    /// The delay on the clock, measured from when the request is complete.
    public var delay: Duration
    /// The response's header fields.
    public var headerFields: HTTPFields
    /// The trailer fields, delivered together with a collected body.
    public var trailerFields: HTTPFields = [:]
    /// The interim responses before this one, such as `103 Early Hints`.
    public var informational: [HTTPResponse] = []
    /// The connection facts that the response reports.
    public var connection = ConnectionFacts()

    private init(_ outcome: Outcome, headerFields: HTTPFields = [:], after delay: Duration) {
        self.outcome = outcome
        self.headerFields = headerFields
        self.delay = delay
    }

    /// Creates a response without a body.
    public init(_ status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], after delay: Duration = .zero) {
        self.init(status, pieces: [], headerFields: headerFields, after: delay)
    }

    /// Creates a response from pieces. They arrive one by one with streamed delivery and together
    /// with collected delivery.
    public init(
        _ status: HTTPResponse.Status = .ok, pieces: [ScriptedPiece], headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) {
        self.init(.response(status, pieces), headerFields: headerFields, after: delay)
    }

    /// Creates a response with these bytes as its body.
    public init(
        _ status: HTTPResponse.Status = .ok, data: Data, headerFields: HTTPFields = [:], after delay: Duration = .zero
    ) {
        self.init(status, pieces: [.bytes(data)], headerFields: headerFields, after: delay)
    }

    /// Creates a response with a text in UTF-8 as its body.
    public init(
        _ status: HTTPResponse.Status = .ok, text: String, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) {
        self.init(status, data: Data(text.utf8), headerFields: headerFields, after: delay)
        addContentType("text/plain; charset=utf-8")
    }

    /// Creates a response with a model encoded as JSON; dates are encoded as ISO 8601. If the model cannot be encoded,
    /// the request fails with `encoding`, and ``ScriptedTransport/problems`` says why.
    public init(
        _ status: HTTPResponse.Status = .ok, json model: some Encodable, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) {
        self.init(status, encoding: model, headerFields: headerFields, after: delay)
    }

    /// Creates a response with JSON, which can be a literal: `["id": 1, "tags": ["a", nil]]`. The members of objects are
    /// sorted by name. A number that is not finite fails like a model that cannot be encoded.
    public init(
        _ status: HTTPResponse.Status = .ok, json value: JSONValue, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) {
        self.init(status, encoding: value, headerFields: headerFields, after: delay)
    }

    /// Creates a response with a model encoded by codecs as JSON. Text and bytes have their own types.
    init(
        _ status: HTTPResponse.Status, model: some Encodable, codecs: CodecRegistry, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) {
        // `is [UInt8]` would be true for every empty array.
        let isBytes = model is Data || type(of: model) == [UInt8].self
        let standard: MediaType = model is String ? .text : isBytes ? .octetStream : .json
        do throws(RequestFailure) {
            let type = headerFields[.contentType].flatMap { MediaType(parsing: $0) } ?? standard
            let (body, contentType) = try codecs.encode(model, as: type)
            self.init(status, data: body, headerFields: headerFields, after: delay)
            addContentType(contentType.description)
        } catch {
            self.init(.unusable(error), after: delay)
        }
    }

    private init(
        _ status: HTTPResponse.Status, encoding model: some Encodable, headerFields: HTTPFields, after delay: Duration
    ) {
        do {
            self.init(status, data: try Self.encoded(model), headerFields: headerFields, after: delay)
            addContentType("application/json")
        } catch {
            let failure = RequestFailure(
                .encoding, "The scripted answer's \(type(of: model)) cannot be written as JSON.",
                remedy: "Answer with data or text instead.", underlying: error)
            self.init(.unusable(failure), after: delay)
        }
    }

    /// Creates a failure with a reason.
    ///
    /// - Parameters:
    ///   - reason: The reason of the failure.
    ///   - message: What happened. The default is a sentence about the script.
    ///   - phase: The phase in which the request failed. The default is the usual phase for the reason.
    ///   - delay: The delay on the clock before the request fails.
    public static func failure(
        _ reason: RequestFailure.Reason, message: String? = nil, phase: RequestFailure.Phase? = nil,
        after delay: Duration = .zero
    ) -> ScriptedAnswer {
        ScriptedAnswer(.reason(reason, message: message, phase: phase), after: delay)
    }

    /// Creates an answer that throws exactly this failure.
    public static func failure(_ failure: RequestFailure, after delay: Duration = .zero) -> ScriptedAnswer {
        ScriptedAnswer(.failure(failure), after: delay)
    }

    /// Why the answer could not be created; `nil` if it could.
    var problem: RequestFailure? {
        if case .unusable(let failure) = outcome { failure } else { nil }
    }

    /// Encodes a model the way that the test kit sends and compares it.
    static func encoded(_ model: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(model)
    }

    private mutating func addContentType(_ type: String) {
        if headerFields[.contentType] == nil { headerFields[.contentType] = type }
    }
}

/// A part of a scripted body, in the order of delivery.
///
/// ```swift
/// transport.on(.get, "/events").answer(pieces: [
///     "data: 1\n\n", .pause(.seconds(5)), .failure(.interrupted),
/// ])
/// ```
public enum ScriptedPiece: Sendable, ExpressibleByStringLiteral {
    /// One chunk of a streamed body. Empty chunks are left out.
    case bytes(Data)
    /// A pause on the clock between the previous and the next piece, whether or not the body is being read.
    ///
    /// It becomes a sleeper of the clock only when a reader waits for the next piece. Begin to read before a call of
    /// ``ManualClock/waitForSleepers(count:)``, which otherwise waits forever.
    case pause(Duration)
    /// A failure that ends the body.
    case failure(RequestFailure.Reason)

    /// One chunk with a text in UTF-8.
    public static func text(_ text: String) -> ScriptedPiece { .bytes(Data(text.utf8)) }

    /// One chunk with a text in UTF-8.
    public init(stringLiteral text: String) { self = .text(text) }
}
