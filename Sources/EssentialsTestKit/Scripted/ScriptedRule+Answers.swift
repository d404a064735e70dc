public import EssentialsHTTP
public import FoundationEssentials

/// Short forms of `answer` and `thenAnswer`, with the arguments of the initializers of ``ScriptedAnswer``.
///
/// ```swift
/// transport.on(.get, "/v1/users/1").answer(json: ["id": 1, "name": "Ada", "tags": ["a", nil]])
/// ```
extension ScriptedRule {
    /// Replaces all answers with a response without a body.
    @discardableResult
    public func answer(
        _ status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], after delay: Duration = .zero
    ) -> ScriptedRule { answer(ScriptedAnswer(status, headerFields: headerFields, after: delay)) }

    /// Replaces all answers with a model as JSON.
    @discardableResult
    public func answer(
        _ status: HTTPResponse.Status = .ok, json model: some Encodable, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { answer(ScriptedAnswer(status, json: model, headerFields: headerFields, after: delay)) }

    /// Replaces all answers with JSON, which can be a literal.
    @discardableResult
    public func answer(
        _ status: HTTPResponse.Status = .ok, json value: JSONValue, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { answer(ScriptedAnswer(status, json: value, headerFields: headerFields, after: delay)) }

    /// Replaces all answers with a text.
    @discardableResult
    public func answer(
        _ status: HTTPResponse.Status = .ok, text: String, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { answer(ScriptedAnswer(status, text: text, headerFields: headerFields, after: delay)) }

    /// Replaces all answers with bytes.
    @discardableResult
    public func answer(
        _ status: HTTPResponse.Status = .ok, data: Data, headerFields: HTTPFields = [:], after delay: Duration = .zero
    ) -> ScriptedRule { answer(ScriptedAnswer(status, data: data, headerFields: headerFields, after: delay)) }

    /// Replaces all answers with a body in pieces.
    @discardableResult
    public func answer(
        _ status: HTTPResponse.Status = .ok, pieces: [ScriptedPiece], headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { answer(ScriptedAnswer(status, pieces: pieces, headerFields: headerFields, after: delay)) }

    /// Replaces all answers with a failure.
    @discardableResult
    public func fail(
        _ reason: RequestFailure.Reason, message: String? = nil, phase: RequestFailure.Phase? = nil,
        after delay: Duration = .zero
    ) -> ScriptedRule { answer(.failure(reason, message: message, phase: phase, after: delay)) }

    /// Appends a response without a body.
    @discardableResult
    public func thenAnswer(
        _ status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(ScriptedAnswer(status, headerFields: headerFields, after: delay)) }

    /// Appends a response with a model as JSON.
    @discardableResult
    public func thenAnswer(
        _ status: HTTPResponse.Status = .ok, json model: some Encodable, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(ScriptedAnswer(status, json: model, headerFields: headerFields, after: delay)) }

    /// Appends a response with JSON, which can be a literal.
    @discardableResult
    public func thenAnswer(
        _ status: HTTPResponse.Status = .ok, json value: JSONValue, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(ScriptedAnswer(status, json: value, headerFields: headerFields, after: delay)) }

    /// Appends a response with a text.
    @discardableResult
    public func thenAnswer(
        _ status: HTTPResponse.Status = .ok, text: String, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(ScriptedAnswer(status, text: text, headerFields: headerFields, after: delay)) }

    /// Appends a response with bytes.
    @discardableResult
    public func thenAnswer(
        _ status: HTTPResponse.Status = .ok, data: Data, headerFields: HTTPFields = [:], after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(ScriptedAnswer(status, data: data, headerFields: headerFields, after: delay)) }

    /// Appends a response with a body in pieces.
    @discardableResult
    public func thenAnswer(
        _ status: HTTPResponse.Status = .ok, pieces: [ScriptedPiece], headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(ScriptedAnswer(status, pieces: pieces, headerFields: headerFields, after: delay)) }

    /// Appends a failure.
    @discardableResult
    public func thenFail(
        _ reason: RequestFailure.Reason, message: String? = nil, phase: RequestFailure.Phase? = nil,
        after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(.failure(reason, message: message, phase: phase, after: delay)) }
}
