import EssentialsHTTP
import EssentialsRequests

/// Makes the names under which models are stored from the requests that fetch them.
enum FetchKeyRules {
    /// The parts of a key that depend on the request.
    struct Parts: Sendable, Hashable {
        var name: String
        var variant: String
    }

    /// The parts of a request's key; `nil` if its response must not be stored without a key of the caller.
    ///
    /// The name of a GET request consists of its path without the leading slash and its query, sorted by name. The method
    /// precedes the name of a HEAD request, and a base of its own that of every request.
    ///
    /// - Parameters:
    ///   - request: The request. One that has an effect, a body, a range or credentials of its own has no key.
    ///   - nested: The part of the document that is read.
    static func parts(of request: DataRequest, below nested: NestedPath?) -> Parts? {
        guard request.method == .get || request.method == .head, request.body.isNone else { return nil }
        guard let variant = variant(of: request.headerFields) else { return nil }
        var name = request.path
        // Most requests are a plain path.
        let isPlain = request.parameters.isEmpty && request.query.isEmpty && !name.utf8.contains(UInt8(ascii: "?"))
        if !isPlain {
            guard let whole = sorted(request) else { return nil }
            name = whole
        }
        if name.utf8.first == UInt8(ascii: "/") { name.removeFirst() }
        if !request.base.isEnvironment {
            guard let url = try? request.base.url else { return nil }
            name = "\(url) \(name)"
        }
        if request.method != .get { name = "\(request.method.rawValue) \(name)" }
        if let nested { name += "#" + nested.names.joined(separator: ".") }
        return Parts(name: name, variant: variant)
    }

    /// The path with its query, the query items and the parameters in a canonical order.
    private static func sorted(_ request: DataRequest) -> String? {
        // Bytes are compared, because a delimiter followed by a combining mark is a different `Character`.
        let end = request.path.utf8.firstIndex(of: UInt8(ascii: "?"))
        let path = request.path[..<(end ?? request.path.endIndex)]
        var query = [end.map { String(request.path[request.path.utf8.index(after: $0)...]) } ?? ""]
        query.append(request.query.encodedQuery)
        do throws(RequestFailure) {
            query.append(try FormEncoding.standard.query(request.parameters))
        } catch {
            return nil
        }
        let joined = query.filter { !$0.isEmpty }.joined(separator: "&")
        guard let sorted = ParameterRules.query(joined[...], setting: QueryItems()) else { return String(path) }
        return "\(path)?\(sorted)"
    }

    /// The header fields that can select a representation or a person, sorted; `nil` if one of them is a credential or makes
    /// the response incomplete.
    ///
    /// Values of fields other than those of content negotiation can be secret, so only their hash becomes a part of the key.
    private static func variant(of fields: HTTPFields) -> String? {
        guard !fields.isEmpty else { return "" }
        var lines: [String] = []
        for field in fields {
            let name = field.name.canonicalName
            if ["authorization", "proxy-authorization", "cookie", "range"].contains(name) { return nil }
            if Self.withoutEffect.contains(name) { continue }
            let value = negotiation.contains(name) ? field.value : hash(of: field.value)
            lines.append("\(name): \(value)")
        }
        return lines.sorted().joined(separator: "\n")
    }

    private static func hash(of value: String) -> String {
        StableHash.hexadecimal(StableHash.name(of: value.utf8))
    }

    /// The fields of content negotiation (RFC 9110, 12.5).
    private static let negotiation: Set<String> = ["accept", "accept-charset", "accept-language"]

    /// Fields that select no representation: conditions, instructions to caches, and the trace of a request.
    private static let withoutEffect: Set<String> = [
        "accept-encoding", "cache-control", "pragma", "if-none-match", "if-modified-since", "user-agent", "traceparent",
        "tracestate", "baggage", "x-request-id", "x-correlation-id", "idempotency-key", "priority",
    ]
}
