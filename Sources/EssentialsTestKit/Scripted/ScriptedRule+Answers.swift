public import EssentialsHTTP
public import FoundationEssentials

/// Answers in short: each is `answer` or `thenAnswer` with the ``ScriptedAnswer`` of the same arguments.
extension ScriptedRule {
    /// Answers with a status and no body from now on.
    @discardableResult
    public func answer(
        _ status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], after delay: Duration = .zero
    ) -> ScriptedRule { answer(ScriptedAnswer(status, headerFields: headerFields, after: delay)) }

    /// Answers with a model as JSON from now on.
    @discardableResult
    public func answer(
        _ status: HTTPResponse.Status = .ok, json model: some Encodable, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { answer(ScriptedAnswer(status, json: model, headerFields: headerFields, after: delay)) }

    /// Answers with a text from now on.
    @discardableResult
    public func answer(
        _ status: HTTPResponse.Status = .ok, text: String, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { answer(ScriptedAnswer(status, text: text, headerFields: headerFields, after: delay)) }

    /// Answers with bytes from now on.
    @discardableResult
    public func answer(
        _ status: HTTPResponse.Status = .ok, data: Data, headerFields: HTTPFields = [:], after delay: Duration = .zero
    ) -> ScriptedRule { answer(ScriptedAnswer(status, data: data, headerFields: headerFields, after: delay)) }

    /// Answers with a body in pieces from now on.
    @discardableResult
    public func answer(
        _ status: HTTPResponse.Status = .ok, pieces: [ScriptedPiece], headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { answer(ScriptedAnswer(status, pieces: pieces, headerFields: headerFields, after: delay)) }

    /// Fails for a reason from now on.
    @discardableResult
    public func fail(
        _ reason: RequestFailure.Reason, message: String? = nil, phase: RequestFailure.Phase? = nil,
        after delay: Duration = .zero
    ) -> ScriptedRule { answer(.failure(reason, message: message, phase: phase, after: delay)) }

    /// Answers with a status and no body after the answers so far.
    @discardableResult
    public func thenAnswer(
        _ status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(ScriptedAnswer(status, headerFields: headerFields, after: delay)) }

    /// Answers with a model as JSON after the answers so far.
    @discardableResult
    public func thenAnswer(
        _ status: HTTPResponse.Status = .ok, json model: some Encodable, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(ScriptedAnswer(status, json: model, headerFields: headerFields, after: delay)) }

    /// Answers with a text after the answers so far.
    @discardableResult
    public func thenAnswer(
        _ status: HTTPResponse.Status = .ok, text: String, headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(ScriptedAnswer(status, text: text, headerFields: headerFields, after: delay)) }

    /// Answers with bytes after the answers so far.
    @discardableResult
    public func thenAnswer(
        _ status: HTTPResponse.Status = .ok, data: Data, headerFields: HTTPFields = [:], after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(ScriptedAnswer(status, data: data, headerFields: headerFields, after: delay)) }

    /// Answers with a body in pieces after the answers so far.
    @discardableResult
    public func thenAnswer(
        _ status: HTTPResponse.Status = .ok, pieces: [ScriptedPiece], headerFields: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(ScriptedAnswer(status, pieces: pieces, headerFields: headerFields, after: delay)) }

    /// Fails for a reason after the answers so far.
    @discardableResult
    public func thenFail(
        _ reason: RequestFailure.Reason, message: String? = nil, phase: RequestFailure.Phase? = nil,
        after delay: Duration = .zero
    ) -> ScriptedRule { thenAnswer(.failure(reason, message: message, phase: phase, after: delay)) }
}
