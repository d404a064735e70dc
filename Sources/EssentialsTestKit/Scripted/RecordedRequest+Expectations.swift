public import EssentialsHTTP
public import FoundationEssentials

/// Expectations for tests in any framework: each throws a ``RequestMismatch`` that says what did not fit.
///
/// ```swift
/// try request.expect(method: .post, path: "/v1/users/*")
/// try request.expect(query: ["role": "admin"])
/// try request.expect(headerNames: [.authorization], absent: [.cookie])
/// try request.expect(json: user)
/// ```
extension RecordedRequest {
    /// Expects a method and a path, in which `*` and `**` stand for segments as in
    /// ``ScriptedTransport/on(_:_:query:host:headerFields:body:fileID:line:)``.
    public func expect(method: HTTPRequest.Method, path: String) throws(RequestMismatch) {
        let pattern: PathPattern
        do {
            pattern = try PathPattern(path)
        } catch {
            throw RequestMismatch(["path: \(error.message) \(error.remedy)"])
        }
        var differences: [String] = []
        if method != self.method {
            differences.append("method: expected \(method.rawValue), was \(self.method.rawValue)")
        }
        try RequestMismatch.check(differences + pattern.differences(from: url.path))
    }

    /// Expects a query: `["role": "admin"]` for these items and no others, in any order; `.containing([…])` for these
    /// among others; `.text("…")` for exactly this text.
    public func expect(query: QueryPattern) throws(RequestMismatch) {
        try RequestMismatch.check(query.differences(from: url.query))
    }

    /// Expects items with these names in the query, and none with the absent ones.
    public func expect(queryNames: [String] = [], absent: [String] = []) throws(RequestMismatch) {
        let names = queryItems.map(\.name)
        let missing = queryNames.filter { !names.contains($0) }.map { "query: no item \(ShownText.quoted($0))" }
        let excess = absent.filter { names.contains($0) }.map { "query: an item \(ShownText.quoted($0)) not expected" }
        try RequestMismatch.check(missing + excess)
    }

    /// Expects each of these fields among the request's; a name may have other values too.
    public func expect(headerFields: HTTPFields) throws(RequestMismatch) {
        try RequestMismatch.check(FieldRules.differences(of: self.headerFields, expected: headerFields))
    }

    /// Expects fields with these names, and none with the absent ones.
    public func expect(headerNames: [HTTPField.Name] = [], absent: [HTTPField.Name] = []) throws(RequestMismatch) {
        let missing = headerNames.filter { !headerFields.contains($0) }.map { "header: no \($0.rawName)" }
        let excess = absent.filter { headerFields.contains($0) }.map { "header: a \($0.rawName) not expected" }
        try RequestMismatch.check(missing + excess)
    }

    /// Expects a JSON body that says the same as a model: the order of keys, white space and the spelling of numbers
    /// make no difference, at any depth. Dates are written as ISO 8601.
    public func expect(json model: some Encodable) throws(RequestMismatch) {
        try expect(.json(model))
    }

    /// Expects a JSON body that says the same as a JSON text.
    public func expect(jsonText text: String) throws(RequestMismatch) {
        try expect(.jsonText(text))
    }

    /// Expects a body that is this text in UTF-8.
    public func expect(text: String) throws(RequestMismatch) {
        try expect(.text(text))
    }

    /// Expects exactly these bytes; `Data()` for no body.
    public func expect(body: Data) throws(RequestMismatch) {
        try expect(.data(body))
    }

    private func expect(_ pattern: BodyPattern) throws(RequestMismatch) {
        try RequestMismatch.check(pattern.differences(from: self))
    }
}
