public import EssentialsHTTP
public import FoundationEssentials

/// The body that a request must have.
///
/// ```swift
/// transport.on(.post, "/v1/users", body: .json(user)).answer(.created)
/// transport.on(.post, "/v1/users", body: .json(["id": 1, "name": "Ada"])).answer(.created)
/// ```
public struct BodyPattern: Sendable, CustomStringConvertible {
    private enum Rule: Sendable {
        case any
        case data(Data)
        case text(String)
        case json(JSONValue)
        case unusable(String)
    }

    private let rule: Rule

    /// Any body or no body.
    public static let any = BodyPattern(rule: .any)

    /// Exactly these bytes; `Data()` matches a request without a body.
    public static func data(_ data: Data) -> BodyPattern { BodyPattern(rule: .data(data)) }

    /// Exactly this text in UTF-8.
    public static func text(_ text: String) -> BodyPattern { BodyPattern(rule: .text(text)) }

    /// JSON that is equal to an encoded model; the order of keys is ignored at every depth. Dates are encoded as ISO
    /// 8601. If the model cannot be encoded, the pattern matches no body, and ``ScriptedTransport/problems`` says why.
    public static func json(_ model: some Encodable) -> BodyPattern { encoded(model) }

    private static func encoded(_ model: some Encodable) -> BodyPattern {
        do {
            return BodyPattern(rule: .json(try JSONParser.value(in: ScriptedAnswer.encoded(model))))
        } catch {
            return BodyPattern(rule: .unusable("the expected \(type(of: model)) cannot be written as JSON: \(error)"))
        }
    }

    /// JSON that is equal to a value, which can be a literal. Numbers that are not finite match no body.
    public static func json(_ value: JSONValue) -> BodyPattern { encoded(value) }

    /// JSON that is equal to a JSON text. If the text is not JSON, the pattern matches no body, and
    /// ``ScriptedTransport/problems`` says why.
    public static func jsonText(_ text: String) -> BodyPattern {
        do {
            return BodyPattern(rule: .json(try JSONParser.value(in: Data(text.utf8))))
        } catch {
            return BodyPattern(rule: .unusable("the expected text is no JSON: \(ShownText.quoted(text))"))
        }
    }

    /// Whether the pattern matches every body.
    var isAny: Bool {
        if case .any = rule { true } else { false }
    }

    /// Why the pattern itself is invalid; `nil` if it is valid.
    var problem: String? {
        if case .unusable(let problem) = rule { problem } else { nil }
    }

    /// The pattern as shown in messages.
    public var description: String {
        switch rule {
        case .any: "any body"
        case .data(let data): "body of \(ShownText.body(data, count: data.count))"
        case .text(let text): "body \(ShownText.quoted(text))"
        case .json(let value): "body \(value.shown)"
        case .unusable(let problem): "no body: \(problem)"
        }
    }

    /// Each difference as one line; empty if the request matches.
    func differences(from request: RecordedRequest) -> [String] {
        switch rule {
        case .any: return []
        case .unusable(let problem): return ["body: \(problem)"]
        case .data(let data):
            return fits(data, request)
                ? [] : ["body: expected \(ShownText.body(data, count: data.count)), was \(request.shownBody)"]
        case .text(let text):
            return fits(Data(text.utf8), request)
                ? [] : ["body: expected \(ShownText.quoted(text)), was \(request.shownBody)"]
        case .json(let expected):
            guard request.isBodyComplete else {
                return ["body: only \(request.body.count) of its \(request.bodyByteCount) bytes were kept"]
            }
            guard let value = try? JSONParser.value(in: request.body) else {
                return ["body: expected JSON, was \(request.shownBody)"]
            }
            return value.differences(from: expected).map { "body: \($0)" }
        }
    }

    private func fits(_ data: Data, _ request: RecordedRequest) -> Bool {
        request.isBodyComplete && request.body == data
    }
}
