public import EssentialsHTTP
public import FoundationEssentials

/// What a ``ScriptedTransport`` answers: a response or a failure, at once or some time later on its clock.
///
/// ```swift
/// transport.on(.post, "/echo").answer { request in
///     ScriptedAnswer(.created, data: request.body, after: .seconds(1))
/// }
/// ```
///
/// A response arrives as it is written here. A JSON or text body names its `Content-Type` if ``headerFields`` does not;
/// no other field is added. To HEAD, and with a status that has none (204, 304), no body is delivered (RFC 9110, 6.4.1).
public struct ScriptedAnswer: Sendable {
    enum Outcome: Sendable {
        case response(HTTPResponse.Status, [ScriptedPiece])
        case reason(RequestFailure.Reason, message: String?, phase: RequestFailure.Phase?)
        case failure(RequestFailure)
        /// The answer could not be made.
        case unusable(RequestFailure)
    }

    let outcome: Outcome
    /// How long the request waits for it, on the clock, counted from when it was whole.
    public var delay: Duration
    /// The response's fields.
    public var headerFields: HTTPFields
    /// The fields after the body; delivered with a collected one.
    public var trailerFields: HTTPFields = [:]
    /// The responses before this one, such as `103 Early Hints`.
    public var informational: [HTTPResponse] = []
    /// The connection that it pretends to have come over.
    public var connection = ConnectionFacts()

    private init(_ outcome: Outcome, headerFields: HTTPFields = [:], after delay: Duration) {
        self.outcome = outcome
        self.headerFields = headerFields
        self.delay = delay
    }

    /// A response without a body.
    public init(_ status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], after delay: Duration = .zero) {
        self.init(status, pieces: [], headerFields: headerFields, after: delay)
    }

    /// A response whose body comes in pieces where it is streamed, and whole where it is collected.
    public init(
        _ status: HTTPResponse.Status = .ok, pieces: [ScriptedPiece], headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) {
        self.init(.response(status, pieces), headerFields: headerFields, after: delay)
    }

    /// A response with these bytes.
    public init(
        _ status: HTTPResponse.Status = .ok, data: Data, headerFields: HTTPFields = [:], after delay: Duration = .zero
    ) {
        self.init(status, pieces: [.bytes(data)], headerFields: headerFields, after: delay)
    }

    /// A response with a text in UTF-8.
    public init(
        _ status: HTTPResponse.Status = .ok, text: String, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) {
        self.init(status, data: Data(text.utf8), headerFields: headerFields, after: delay)
        addContentType("text/plain; charset=utf-8")
    }

    /// A response with a model as JSON, dates as ISO 8601. Where the model cannot be written, the request fails as
    /// `encoding`, and ``ScriptedTransport/problems`` says why.
    public init(
        _ status: HTTPResponse.Status = .ok, json model: some Encodable, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
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

    /// A failure by its reason.
    ///
    /// - Parameters:
    ///   - reason: What kind of failure it is.
    ///   - message: What happened; a sentence about the script when nil.
    ///   - phase: How far the request had come; where such failures mostly happen when nil.
    ///   - delay: How long the request waits for it.
    public static func failure(
        _ reason: RequestFailure.Reason, message: String? = nil, phase: RequestFailure.Phase? = nil,
        after delay: Duration = .zero
    ) -> ScriptedAnswer {
        ScriptedAnswer(.reason(reason, message: message, phase: phase), after: delay)
    }

    /// This very failure.
    public static func failure(_ failure: RequestFailure, after delay: Duration = .zero) -> ScriptedAnswer {
        ScriptedAnswer(.failure(failure), after: delay)
    }

    /// Why the answer could not be made.
    var problem: RequestFailure? {
        if case .unusable(let failure) = outcome { failure } else { nil }
    }

    /// A model as the doubles write and compare it.
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
