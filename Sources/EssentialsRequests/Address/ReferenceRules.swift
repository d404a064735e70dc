import EssentialsHTTP

/// Resolves references against the URL of a resource (RFC 3986, 5.2.2, in its strict form).
enum ReferenceRules {
    private static let slash = UInt8(ascii: "/")

    /// The URL that a reference means. The fragment is dropped, and dot segments are removed (5.2.4).
    ///
    /// - Throws: `invalidRequest` if the result is no `http` or `https` URL, contains credentials, or has a scheme
    ///   without a host (`http:x`).
    package static func resolve(_ reference: String, against base: RequestURL) throws(RequestFailure) -> RequestURL {
        let whole = reference.utf8.prefix { $0 != UInt8(ascii: "#") }
        if hasScheme(reference) { return try RequestURL(String(Substring(whole))) }
        if whole.starts(with: [slash, slash]) {
            return try RequestURL("\(base.origin.scheme.rawValue):\(Substring(whole))")
        }
        switch whole.first {
        case nil: return base
        case slash: return try RequestURL(origin: base.origin, path: String(Substring(whole)))
        case UInt8(ascii: "?"): return try RequestURL(origin: base.origin, path: "\(base.path)\(Substring(whole))")
        default:
            // The base's path begins with a slash.
            let directory = base.path[...(base.path.lastIndex(of: "/") ?? base.path.startIndex)]
            return try RequestURL(origin: base.origin, path: "\(directory)\(Substring(whole))")
        }
    }

    /// Whether a reference is a URL of its own: a colon precedes every slash, question mark and number sign.
    package static func hasScheme(_ reference: String) -> Bool {
        let name = reference.utf8.prefix { !":/?#".utf8.contains($0) }
        return name.endIndex < reference.utf8.endIndex && reference.utf8[name.endIndex] == UInt8(ascii: ":")
    }
}
