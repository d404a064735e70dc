import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage

/// Makes the names under which models are stored from the requests that fetch them.
enum FetchKeyRules {
    /// The parts of a key that depend on the request.
    struct Parts: Sendable, Hashable {
        var name: String
        /// The header fields that can select a representation or an account.
        var fields: [HTTPField] = []

        /// The header fields in a canonical form, sorted.
        ///
        /// Values of fields other than those of content negotiation can be secret, so only their hash becomes part of
        /// the key.
        func variant(key: @autoclosure () -> FingerprintKey) -> String {
            guard !fields.isEmpty else { return "" }
            let lines = fields.map { field in
                let name = field.name.canonicalName
                let isKnown = FetchKeyRules.negotiation.contains(name)
                let value = isKnown ? field.value : FetchKeyRules.hash(of: field, key: key())
                return "\(name): \(value)"
            }
            return lines.sorted().joined(separator: "\n")
        }
    }

    /// The parts of a request's key; `nil` if its response must not be stored without a key of the caller.
    ///
    /// The name of a GET request consists of its path without the leading slash and its query, sorted by name. The name
    /// of a HEAD request begins with the method. The name of a request with a base of its own contains that base.
    /// Different requests have different names.
    ///
    /// - Parameters:
    ///   - request: The request. A request that has an effect, a body, a range or credentials of its own has no key.
    ///   - nested: The part of the document that is read.
    static func parts(of request: DataRequest, below nested: NestedPath?) -> Parts? {
        guard request.method == .get || request.method == .head, request.body.isNone else { return nil }
        guard let fields = selecting(request.headerFields) else { return nil }
        var path = request.path
        // Most requests are a plain path.
        let isPlain = request.parameters.isEmpty && request.query.isEmpty && !path.utf8.contains(UInt8(ascii: "?"))
        if !isPlain {
            guard let whole = sorted(request) else { return nil }
            path = whole
        }
        if path.utf8.first == UInt8(ascii: "/") { path.removeFirst() }
        var base = ""
        if request.base.isAnyServer {
            base = "*"
        } else if !request.base.isEnvironment {
            guard let url = try? request.base.url else { return nil }
            base = "\(url)"
        }
        let method = request.method == .get ? "" : request.method.rawValue
        return Parts(name: name(method, base, path, below: nested), fields: fields)
    }

    /// One text for all parts of a name: method, base and path with spaces in between, and after a `#` the names that
    /// lead to the part of the document. If a part contains such a character, all parts are written with their length.
    private static func name(_ method: String, _ base: String, _ path: String, below nested: NestedPath?) -> String {
        guard isPlain(path), isPlain(base) else {
            var whole = "\u{1}"
            for part in [method, base, path] + (nested?.names ?? []) { whole += "\(part.utf8.count):\(part)" }
            return whole
        }
        var name = path
        if !base.isEmpty { name = "\(base) \(name)" }
        if !method.isEmpty { name = "\(method) \(name)" }
        // Names contain no points, because the path was split at them.
        if let nested { name += "#" + nested.names.joined(separator: ".") }
        return name
    }

    /// Whether a part can be joined with others.
    private static func isPlain(_ part: String) -> Bool {
        part.utf8.allSatisfy { $0 > UInt8(ascii: " ") && $0 != UInt8(ascii: "#") }
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

    /// The header fields that can select a representation or an account; `nil` if one of them is a credential or makes
    /// the response incomplete.
    private static func selecting(_ fields: HTTPFields) -> [HTTPField]? {
        guard !fields.isEmpty else { return [] }
        var selecting: [HTTPField] = []
        for field in fields {
            let name = field.name.canonicalName
            if ["authorization", "proxy-authorization", "cookie", "range"].contains(name) { return nil }
            if !withoutEffect.contains(name) { selecting.append(field) }
        }
        return selecting
    }

    private static func hash(of field: HTTPField, key: FingerprintKey) -> String {
        StableHash.hexadecimal(key.hash(of: field.withUnsafeBytesOfValue { Array($0) }))
    }

    /// The fields of content negotiation (RFC 9110, 12.5).
    private static let negotiation: Set<String> = ["accept", "accept-charset", "accept-language"]

    /// Fields that select no representation: conditions, instructions to caches, and the trace of a request.
    private static let withoutEffect: Set<String> = [
        "accept-encoding", "cache-control", "pragma", "if-none-match", "if-modified-since", "user-agent", "traceparent",
        "tracestate", "baggage", "x-request-id", "x-correlation-id", "idempotency-key", "priority",
    ]
}
