public import EssentialsHTTP
public import FoundationEssentials

/// Expectations for tests in any framework. Each throws a ``RequestMismatch`` that describes the differences.
///
/// ```swift
/// try request.expect(method: .post, path: "/v1/users/*")
/// try request.expect(query: ["role": "admin"])
/// try request.expect(headerNames: [.authorization], absent: [.cookie])
/// try request.expect(json: user)
/// try request.expect(json: ["id": 1, "name": "Ada"])
/// ```
extension RecordedRequest {
    /// Expects a method and a path. `*` and `**` stand for segments, as in
    /// ``ScriptedTransport/on(_:_:query:host:headerFields:body:fileID:line:)``.
    public func expect(method: HTTPRequest.Method, path: String) throws(RequestMismatch) {
        let pattern: PathPattern
        do {
            pattern = try PathPattern(path)
        } catch {
            throw RequestMismatch(["path: \(error.advice)"])
        }
        var differences: [String] = []
        if method != self.method {
            differences.append("method: expected \(method.rawValue), was \(self.method.rawValue)")
        }
        try RequestMismatch.check(differences + pattern.differences(from: url.path))
    }

    /// Expects a query: `["role": "admin"]` for exactly these items in any order, `.containing([…])` for at least these
    /// items, `.text("…")` for exactly this text.
    public func expect(query: QueryPattern) throws(RequestMismatch) {
        try RequestMismatch.check(query.differences(from: url.query))
    }

    /// Expects query items with these names, and none with the absent names.
    public func expect(queryNames: [String] = [], absent: [String] = []) throws(RequestMismatch) {
        let names = queryItems.map(\.name)
        let missing = queryNames.filter { !names.contains($0) }.map { "query: no item \(ShownText.quoted($0))" }
        let excess = absent.filter { names.contains($0) }.map { "query: an item \(ShownText.quoted($0)) not expected" }
        try RequestMismatch.check(missing + excess)
    }

    /// Expects each of these header fields; a name may have further values.
    public func expect(headerFields: HTTPFields) throws(RequestMismatch) {
        try RequestMismatch.check(FieldRules.differences(of: self.headerFields, expected: headerFields))
    }

    /// Expects header fields with these names, and none with the absent names.
    public func expect(headerNames: [HTTPField.Name] = [], absent: [HTTPField.Name] = []) throws(RequestMismatch) {
        let missing = headerNames.filter { !headerFields.contains($0) }.map { "header: no \($0.rawName)" }
        let excess = absent.filter { headerFields.contains($0) }.map { "header: a \($0.rawName) not expected" }
        try RequestMismatch.check(missing + excess)
    }

    /// Expects a JSON body that is equal to an encoded model. The order of keys, white space and the spelling of
    /// numbers make no difference. Dates are encoded as ISO 8601.
    public func expect(json model: some Encodable) throws(RequestMismatch) {
        try expect(.json(model))
    }

    /// Expects a JSON body that is equal to a value, which can be a literal.
    public func expect(json value: JSONValue) throws(RequestMismatch) {
        try expect(.json(value))
    }

    /// Expects a JSON body that is equal to a JSON text.
    public func expect(jsonText text: String) throws(RequestMismatch) {
        try expect(.jsonText(text))
    }

    /// Expects a body that is exactly this text in UTF-8.
    public func expect(text: String) throws(RequestMismatch) {
        try expect(.text(text))
    }

    /// Expects exactly these bytes; `Data()` for a request without a body.
    public func expect(body: Data) throws(RequestMismatch) {
        try expect(.data(body))
    }

    private func expect(_ pattern: BodyPattern) throws(RequestMismatch) {
        try RequestMismatch.check(pattern.differences(from: self))
    }
}

/// The differences between the requests that a test expected and those that were sent.
///
/// ```swift
/// do { try request.expect(json: user) } catch { print(error) }      // body: $.name: expected "Ann", was "Bob"
/// ```
///
/// The differences may contain queries and bodies. They are meant for a test's output, not for a log.
public struct RequestMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line for each difference; never empty.
    public let differences: [String]

    init(_ differences: [String]) { self.differences = differences }

    /// The differences, one on each line.
    public var description: String { differences.joined(separator: "\n") }

    /// Throws the differences if there are any.
    static func check(_ differences: [String]) throws(RequestMismatch) {
        if !differences.isEmpty { throw RequestMismatch(differences) }
    }
}
