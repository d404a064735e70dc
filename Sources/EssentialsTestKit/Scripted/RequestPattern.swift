import EssentialsRequests
import FoundationEssentials

/// The requests that a rule matches.
struct RequestPattern: Sendable, CustomStringConvertible {
    private enum Rule: Sendable {
        case parts(Parts)
        case closure(@Sendable (RecordedRequest) -> Bool)
        case unusable(description: String, problem: String)
    }

    /// The servers that a rule matches.
    private enum Server: Sendable {
        case any
        case host(HostName)
        case origin(Origin)
    }

    private struct Parts: Sendable {
        var method: HTTPRequest.Method?
        var path: PathPattern
        var query: QueryPattern
        var server: Server
        var headerFields: HTTPFields
        var body: BodyPattern
    }

    private let rule: Rule

    /// Matches the requests for which the closure returns true.
    init(_ matches: @escaping @Sendable (RecordedRequest) -> Bool) { rule = .closure(matches) }

    /// Parses a pattern. A pattern that cannot be parsed matches no request.
    init(
        method: HTTPRequest.Method?, path: String, query: QueryPattern, host: String?, headerFields: HTTPFields,
        body: BodyPattern
    ) {
        do {
            let path = try PathPattern(path)
            guard path.query == nil || query.isAny else {
                throw RequestFailure(
                    .invalidRequest, "The query stands in the path and beside it.", remedy: "Write it once.")
            }
            rule = .parts(
                Parts(
                    method: method, path: path, query: path.query.map { QueryPattern(itemsOf: $0) } ?? query,
                    server: try host.map { host in .host(try HostName(host)) } ?? .any, headerFields: headerFields,
                    body: body))
        } catch {
            rule = .unusable(
                description: "\(method?.rawValue ?? "any method") \(ShownText.quoted(path))", problem: "\(error)")
        }
    }

    /// The requests that a definition stands for. A definition that cannot be built matches no request.
    init<Response>(_ definition: APIRequest<Response>, under environment: RequestURL?) {
        do throws(RequestFailure) {
            rule = .parts(try Self.parts(of: definition, under: environment))
        } catch {
            rule = .unusable(description: definition.description, problem: error.advice)
        }
    }

    private static func parts<Response>(
        of definition: APIRequest<Response>, under environment: RequestURL?
    ) throws(RequestFailure) -> Parts {
        let snapshot = try definition.snapshot(under: environment, showsSecrets: true)
        let base = try definition.base.url ?? environment
        let target = try base == nil ? nil : RequestURL(snapshot.url)
        let relative = snapshot.url.prefix { $0 != "?" }
        guard target != nil || !relative.isEmpty else {
            throw RequestFailure(
                .invalidRequest, "The definition has neither a path nor a base URL, so every request would match.",
                remedy: "Pass the base URL of the environment as “under”.")
        }
        let query = target.map(\.query) ?? snapshot.url.firstIndex(of: "?").map { snapshot.url[$0...].dropFirst() }
        var fields = HTTPFields()
        for field in snapshot.headerFields { fields.append(try .checked(name: field.name, value: field.value)) }
        return Parts(
            method: definition.method,
            path: PathPattern(literal: target?.path ?? relative, isBelowAnyBase: target == nil),
            query: QueryPattern(itemsOf: query ?? ""), server: target.map { .origin($0.origin) } ?? .any,
            headerFields: fields, body: snapshot.body.map { body(of: $0, fields) } ?? .any)
    }

    private static func body(of text: String, _ fields: HTTPFields) -> BodyPattern {
        if text.hasPrefix("base64:"), let data = Data(base64Encoded: String(text.dropFirst(7))) { return .data(data) }
        let type = fields[.contentType].flatMap { MediaType(parsing: $0) }
        return type.map { MediaPattern(.json).matches($0) } == true ? .jsonText(text) : .text(text)
    }

    /// Why the pattern itself is invalid; empty if it is valid.
    var problems: [String] {
        switch rule {
        case .parts(let parts): parts.body.problem.map { [$0] } ?? []
        case .closure: []
        case .unusable(_, let problem): [problem]
        }
    }

    /// The pattern as shown in messages.
    var description: String {
        switch rule {
        case .closure: return "closure"
        case .unusable(let description, _): return description
        case .parts(let parts):
            var text = "\(parts.method?.rawValue ?? "any method") \(parts.path)"
            switch parts.server {
            case .any: break
            case .host(let host): text += " at \(host)"
            case .origin(let origin): text += " at \(origin)"
            }
            if !parts.query.isAny { text += ", \(parts.query)" }
            if !parts.headerFields.isEmpty {
                text += ", \(parts.headerFields.map { ShownText.field($0) }.joined(separator: ", "))"
            }
            if !parts.body.isAny { text += ", \(parts.body)" }
            return text
        }
    }

    /// Compares a request with the pattern.
    func comparison(with request: RecordedRequest) -> Comparison {
        var result = Comparison()
        switch rule {
        case .closure(let matches):
            if !matches(request) { result.add(["its closure says no"], weight: 3) }
        case .unusable(_, let problem): result.add([problem], weight: 10)
        case .parts(let parts):
            result.add(parts.path.differences(from: request.url.path), weight: 4)
            let origin = request.url.origin
            switch parts.server {
            case .host(let host) where host != origin.host:
                result.add(["host: expected \(host), was \(origin.host)"], weight: 4)
            case .origin(let expected) where expected != origin:
                result.add(["origin: expected \(expected), was \(origin)"], weight: 4)
            case .any, .host, .origin: break
            }
            if let method = parts.method, method != request.method {
                result.add(["method: expected \(method.rawValue), was \(request.method.rawValue)"], weight: 2)
            }
            result.add(parts.query.differences(from: request.url.query), weight: 1)
            result.add(FieldRules.differences(of: request.headerFields, expected: parts.headerFields), weight: 1)
            result.add(parts.body.differences(from: request), weight: 1)
        }
        return result
    }

    /// The differences between a request and a pattern, one on each line, with a weighted distance. A request
    /// without differences matches.
    struct Comparison: Sendable {
        private(set) var lines: [String] = []
        private(set) var distance = 0

        mutating func add(_ lines: [String], weight: Int) {
            self.lines += lines
            distance += weight * lines.count
        }
    }
}

/// Compares header fields.
enum FieldRules {
    /// Each expected field that is missing, as one line. Further fields are allowed.
    static func differences(of fields: HTTPFields, expected: HTTPFields) -> [String] {
        expected.compactMap { field in
            let values = fields[values: field.name]
            if values.contains(field.value) { return nil }
            let wanted = "header \(field.name.rawName): expected \(ShownText.value(field.value, of: field.name))"
            if values.isEmpty { return wanted + ", there is none" }
            return wanted + ", was " + values.map { ShownText.value($0, of: field.name) }.joined(separator: ", ")
        }
    }
}
