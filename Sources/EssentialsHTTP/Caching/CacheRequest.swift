import EssentialsTransport

/// What the rules know of a request.
package struct CacheRequest {
    package let method: HTTPRequest.Method
    package let url: RequestURL
    /// The fields that the caller and the preparation have set.
    package let fields: HTTPFields
    package let policy: CachePolicy
    /// Whether the transport removes the coding of bodies.
    package let decompresses: Bool
    /// The value with which a field that later stages add will be sent, with its lines joined, and the credentials' scope for
    /// `Authorization`. `nil` means that no stage adds it, so that ``fields`` counts. It is asked only for the names in a
    /// stored `Vary`.
    package let fieldToCome: (HTTPField.Name) -> String?

    package init(
        method: HTTPRequest.Method, url: RequestURL, fields: HTTPFields, policy: CachePolicy = .standard,
        decompresses: Bool = true, fieldToCome: @escaping (HTTPField.Name) -> String? = { _ in nil }
    ) {
        (self.method, self.url, self.fields, self.policy) = (method, url, fields, policy)
        (self.decompresses, self.fieldToCome) = (decompresses, fieldToCome)
    }

    /// The value with which the request will be sent in a field.
    func value(of name: HTTPField.Name) -> String? { fieldToCome(name) ?? fields.joined(name) }

    /// Whether a stored response can be that of the request: it was selected by the same fields, and its body is coded as
    /// the caller expects it.
    func fits(_ head: StoredHead) -> Bool {
        guard head.isUnpacked ? decompresses : !(head.hasCoding && decompresses) else { return false }
        return head.selection.members.isEmpty || head.selection.matches(value)
    }

    /// The newest of the stored responses that can be that of the request.
    package func newest(of stored: [StoredHead]) -> Int? {
        var best: Int?
        for index in stored.indices where fits(stored[index]) {
            if let known = best, Self.isNewer(stored[known], than: stored[index]) { continue }
            best = index
        }
        return best
    }

    /// All stored responses that can be that of the request, the newest first.
    func matches(in stored: [StoredHead]) -> [Int] {
        stored.indices.reversed().filter { fits(stored[$0]) }
            .sorted { Self.isNewer(stored[$0], than: stored[$1]) }
    }

    private static func isNewer(_ one: StoredHead, than other: StoredHead) -> Bool {
        one.date != other.date ? one.date > other.date : one.moment.date > other.moment.date
    }
}

/// What the fields of a request say to a cache. A request without any of them is recognised without an allocation.
struct RequestDemands {
    private(set) var directives = CacheDirectives()
    /// Whether parts of the body are wanted.
    private(set) var hasRange = false
    /// Whether the parts are wanted of one version only: `If-Range`.
    private(set) var hasIfRange = false
    /// Whether there is a condition that a cache leaves to the server: `If-Match` or `If-Unmodified-Since`.
    private(set) var hasServerCondition = false
    /// Whether there is `If-None-Match` or `If-Modified-Since`.
    private(set) var hasCondition = false

    init(_ fields: HTTPFields) {
        var hasDirectives = false
        for field in fields {
            let name = field.name.canonicalName
            switch name.utf8.first {
            case UInt8(ascii: "c"): hasDirectives = hasDirectives || name == "cache-control"
            case UInt8(ascii: "p"): hasDirectives = hasDirectives || name == "pragma"
            case UInt8(ascii: "r"): hasRange = hasRange || name == "range"
            case UInt8(ascii: "i"): addCondition(name)
            default: break
            }
        }
        if hasDirectives { directives = CacheDirectives(ofRequest: fields) }
    }

    private mutating func addCondition(_ name: String) {
        switch name {
        case "if-none-match", "if-modified-since": hasCondition = true
        case "if-match", "if-unmodified-since": hasServerCondition = true
        case "if-range": hasIfRange = true
        default: break
        }
    }
}
