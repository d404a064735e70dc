import EssentialsHTTP
import EssentialsRequests

/// A pattern with wildcards, for paths below the base or for whole URLs; see ``GlobRules``.
///
/// A pattern that begins with `http://` or `https://` is compared with whole URLs. Any other pattern is compared with
/// the part of a URL below the base. Its leading slash is optional, every character except the wildcards stands for
/// itself, and URLs outside the base do not match. Queries are ignored.
struct Glob: Sendable {
    private let isWhole: Bool
    /// The compiled pattern, for the whole URL or for the part below the base.
    let rules: GlobRules

    /// Compiles a pattern.
    ///
    /// - Throws: `invalidRequest` if the pattern is malformed.
    init(_ text: String) throws(RequestFailure) {
        guard text.utf8.count <= GlobRules.maximumBytes else {
            let start = String(text.prefix(20)) + "…"
            throw Self.malformed("is longer than \(GlobRules.maximumBytes) bytes", in: start, "Use a predicate.")
        }
        var pattern: [UInt8] = []
        isWhole = try Self.readURL(text, into: &pattern)
        if !isWhole {
            let escaped = PathText.withoutSlash(text).flatMap { $0 == UInt8(ascii: "%") ? Array("%25".utf8) : [$0] }
            try Self.read(escaped, of: text, into: &pattern)
        }
        rules = GlobRules(pattern: pattern)
    }

    /// Whether the pattern matches a URL.
    func matches(_ url: ResourceURL, below base: ResourceBase) -> Bool {
        guard isWhole else { return base.withPart(of: url) { rules.matches($0) } ?? false }
        var path = url.path
        return path.withUTF8 { rules.matches($0) }
    }

    /// Reads a pattern for whole URLs. Returns `false` if the text is a pattern for paths.
    private static func readURL(_ text: String, into pattern: inout [UInt8]) throws(RequestFailure) -> Bool {
        let scheme = text.utf8.prefix { $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) }
        let rest = text.utf8[scheme.endIndex...]
        guard !scheme.isEmpty, rest.starts(with: "://".utf8) else { return false }
        guard let known = Origin.Scheme(rawValue: Substring(scheme).lowercased()) else {
            throw malformed("has a scheme other than http and https", in: text, "Write http or https.")
        }
        let authority = rest.dropFirst(3).prefix { $0 != GlobRules.slash }
        let path = text.utf8[authority.endIndex...]
        var host = Substring(authority).lowercased()
        guard !host.isEmpty else { throw malformed("has no host", in: text, "Write https://host/path.") }
        guard !host.contains("**") else {
            throw malformed(
                "has “**” in its host, which would also match hosts of others", in: text,
                "Write “*” for parts of a name.")
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }), !host.contains("@") else {
            throw malformed("has a host that no URL has", in: text, "Write the xn-- form, and no credentials.")
        }
        let port = ":\(known.defaultPort)"
        if host.hasSuffix(port) { host.removeLast(port.count) }
        try read("\(known.rawValue)://\(host)".utf8, isHost: true, of: text, into: &pattern)
        try read(path.isEmpty ? "/".utf8[...] : path, of: text, into: &pattern)
        return true
    }

    /// Appends a part of a pattern in the form of canonical URLs. A `%` in the part begins an escape.
    private static func read(
        _ part: some Collection<UInt8>, isHost: Bool = false, of text: String, into pattern: inout [UInt8]
    ) throws(RequestFailure) {
        var rest = Array(part)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "*"):
                let others = rest.prefix { $0 == byte }.count
                guard others < 2 else {
                    throw malformed("has more than two stars in a row", in: text, "Write “*” or “**”.")
                }
                rest.removeFirst(others)
                let followsSlash = pattern.last == GlobRules.slash || pattern.last == GlobRules.directories
                if others == 1, followsSlash || pattern.isEmpty, rest.first == GlobRules.slash {
                    rest.removeFirst()
                    // A second “**/” matches nothing that the first does not match.
                    if pattern.last != GlobRules.directories { pattern.append(GlobRules.directories) }
                } else {
                    pattern.append(others == 0 ? GlobRules.segment : GlobRules.anything)
                }
            case UInt8(ascii: "?"): pattern.append(GlobRules.character)
            case 0...0x1f, 0x7f:
                throw malformed("has a control character", in: RequestFailure.shown(text), "Remove it.")
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexDigitValue, let low = rest.popFirst()?.hexDigitValue else {
                    throw malformed("has a “%” without two hexadecimal digits", in: text, "Write “%25”.")
                }
                let escaped = high << 4 | low
                if escaped.isURLUnreserved { pattern.append(escaped) } else { pattern.append(percentEncoded: escaped) }
            case UInt8(ascii: "[") where isHost, UInt8(ascii: "]") where isHost: pattern.append(byte)
            default: PathText.append([byte], to: &pattern)
            }
        }
    }

    private static func malformed(_ what: String, in text: String, _ remedy: String) -> RequestFailure {
        // A URL can contain credentials.
        RequestFailure(.invalidRequest, "The pattern “\(text.contains("@") ? "…" : text)” \(what).", remedy: remedy)
    }
}
