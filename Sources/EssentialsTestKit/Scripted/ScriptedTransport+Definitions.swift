public import EssentialsRequests

/// Answers for definitions, and the verification of what was sent.
///
/// ```swift
/// transport.stub(Users.getAll, with: [User(id: 1, name: "Ada")])
/// transport.stub(Users.get(id: 7), failing: .timeout)
/// transport.stub(Users.delete(id: 7))                                          // 204
/// transport.stub(Users.get(id: 1), with: ada).thenAnswer(.notFound)            // a sequence
/// // … the code under test sends requests …
/// try transport.expect(sent: [Users.getAll, Users.get(id: 1), Users.get(id: 1)])
/// ```
///
/// A definition stands for the requests with its method, its origin (scheme, host and port), its path, its query items in
/// any order, and at least its header fields. If it has a body, the request must have the same one. If the definition has no base URL of its own, a request
/// to any host matches whose path is the definition's below some base path; a base URL passed as `under` makes it exact.
extension ScriptedTransport {
    /// Adds a rule for a definition; the returned value takes its answers. A definition that cannot be built matches no
    /// request and is reported in ``problems``.
    public func on(
        _ request: some TypedRequest, under environment: RequestURL? = nil, fileID: String = #fileID,
        line: Int = #line
    ) -> ScriptedRule {
        add(ScriptedRule(RequestPattern(request.definition, under: environment), fileID: fileID, line: line))
    }

    /// Answers a definition with a model, encoded by the codecs of the definition.
    ///
    /// - Parameters:
    ///   - request: The definition.
    ///   - model: The model.
    ///   - status: The status of the response.
    ///   - headerFields: The header fields of the response.
    ///   - delay: The delay on the ``clock``.
    ///   - environment: The base URL of the environment, for a definition without a base URL of its own.
    ///   - fileID: The source file, for messages.
    ///   - line: The source line, for messages.
    @discardableResult
    public func stub<Request: TypedRequest>(
        _ request: Request, with model: Request.Response, status: HTTPResponse.Status = .ok,
        headerFields: HTTPFields = [:], after delay: Duration = .zero, under environment: RequestURL? = nil,
        fileID: String = #fileID, line: Int = #line
    ) -> ScriptedRule where Request.Response: Encodable {
        stub(
            request, status: status, error: model, headerFields: headerFields, after: delay, under: environment,
            fileID: fileID, line: line)
    }

    /// Answers a definition with several models, one for each request. The last one is repeated.
    @discardableResult
    public func stub<Request: TypedRequest>(
        _ request: Request, inOrder models: [Request.Response], under environment: RequestURL? = nil,
        fileID: String = #fileID, line: Int = #line
    ) -> ScriptedRule where Request.Response: Encodable {
        let rule = on(request, under: environment, fileID: fileID, line: line)
        let codecs = request.definition.codecs ?? .standard
        for model in models { rule.thenAnswer(ScriptedAnswer(.ok, model: model, codecs: codecs)) }
        return rule
    }

    /// Answers a definition with an error model, encoded by the codecs of the definition.
    @discardableResult
    public func stub(
        _ request: some TypedRequest, status: HTTPResponse.Status, error model: some Encodable & Sendable,
        headerFields: HTTPFields = [:], after delay: Duration = .zero, under environment: RequestURL? = nil,
        fileID: String = #fileID, line: Int = #line
    ) -> ScriptedRule {
        on(request, under: environment, fileID: fileID, line: line).answer(
            ScriptedAnswer(
                status, model: model, codecs: request.definition.codecs ?? .standard, headerFields: headerFields,
                after: delay))
    }

    /// Answers a definition without a body. The default status is 204.
    @discardableResult
    public func stub(
        _ request: some TypedRequest, status: HTTPResponse.Status = .noContent, headerFields: HTTPFields = [:],
        after delay: Duration = .zero, under environment: RequestURL? = nil, fileID: String = #fileID,
        line: Int = #line
    ) -> ScriptedRule {
        on(request, under: environment, fileID: fileID, line: line).answer(
            status, headerFields: headerFields, after: delay)
    }

    /// Fails a definition.
    @discardableResult
    public func stub(
        _ request: some TypedRequest, failing reason: RequestFailure.Reason, after delay: Duration = .zero,
        under environment: RequestURL? = nil, fileID: String = #fileID, line: Int = #line
    ) -> ScriptedRule {
        on(request, under: environment, fileID: fileID, line: line).fail(reason, after: delay)
    }

    /// Expects that exactly these definitions were sent, in this order. A definition that was sent twice is listed
    /// twice.
    ///
    /// ```swift
    /// try transport.expect(sent: [Users.getAll, Users.get(id: 7), Users.get(id: 7)])
    /// ```
    ///
    /// - Parameters:
    ///   - expected: The definitions.
    ///   - environment: The base URL of the environment, for definitions without a base URL of their own.
    /// - Throws: ``RequestMismatch`` with one line for each difference.
    public func expect(
        sent expected: [any TypedRequest], under environment: RequestURL? = nil
    ) throws(RequestMismatch) {
        let sent = requests
        var differences: [String] = []
        for (index, definition) in expected.enumerated() {
            let pattern = Self.pattern(for: definition, environment)
            guard index < sent.count else {
                differences.append("request \(index + 1): expected \(pattern), there is none")
                continue
            }
            let lines = pattern.comparison(with: sent[index]).lines
            differences += (pattern.problems.isEmpty ? lines : pattern.problems).map {
                "request \(index + 1), expected \(pattern): \($0)"
            }
        }
        for (index, request) in sent.enumerated().dropFirst(expected.count) {
            differences.append("request \(index + 1): \(request.method.rawValue) \(request.url.path) not expected")
        }
        try RequestMismatch.check(differences)
    }

    private static func pattern(for request: some TypedRequest, _ environment: RequestURL?) -> RequestPattern {
        RequestPattern(request.definition, under: environment)
    }
}
