import EssentialsHTTP

/// A pattern with wildcards, for paths below the base or for whole URLs; see ``GlobRules``.
///
/// A pattern that begins with `http://` or `https://` is compared with whole URLs, and any other one with the part of a
/// URL below the base. There its leading slash is optional, every character except the wildcards stands for itself, and
/// no pattern matches a URL elsewhere. Queries are ignored.
struct Glob: Sendable {
    private let isWhole: Bool
    /// The automaton, for the whole URL or for the part below the base.
    let rules: GlobRules

    /// Compiles a pattern.
    ///
    /// - Throws: `invalidRequest` if the pattern is malformed.
    init(_ text: String) throws(RequestFailure) {
        guard text.utf8.count <= GlobRules.maximumBytes else {
            throw Self.malformed(
                "is longer than \(GlobRules.maximumBytes) bytes", in: String(text.prefix(20)) + "…",
                "Use a predicate.")
        }
        var parser = GlobParser()
        isWhole = try Self.readAuthority(text, into: &parser)
        if !isWhole {
            try parser.read(PathText.withoutSlash(text), of: text)
        }
        rules = parser.rules
    }

    /// Whether the pattern matches a URL.
    func matches(_ url: ResourceURL, below base: ResourceBase) -> Bool {
        if isWhole { return rules.matches(url.path) }
        return base.withPart(of: url) { rules.matches($0) } ?? false
    }

    /// Reads a pattern for whole URLs; `false` if the text is one for paths.
    private static func readAuthority(
        _ text: String, into parser: inout GlobParser
    ) throws(RequestFailure) -> Bool {
        let scheme = text.utf8.prefix { $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) }
        let rest = text.utf8[scheme.endIndex...]
        guard !scheme.isEmpty, rest.starts(with: "://".utf8) else { return false }
        guard let known = Origin.Scheme(rawValue: Substring(scheme).lowercased()) else {
            throw malformed("has a scheme other than http and https", in: text, "Write http or https.")
        }
        let afterScheme = rest.dropFirst(3)
        let authority = afterScheme.prefix { $0 != UInt8(ascii: "/") }
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
        let path = afterScheme[authority.endIndex...]
        (parser.isURL, parser.isHost) = (true, true)
        try parser.read("\(known.rawValue)://\(host)".utf8, of: text)
        parser.isHost = false
        try parser.read(path.isEmpty ? "/".utf8[...] : path, of: text)
        return true
    }

    static func malformed(_ what: String, in text: String, _ remedy: String) -> RequestFailure {
        // A URL can contain credentials.
        RequestFailure(.invalidRequest, "The pattern “\(text.contains("@") ? "…" : text)” \(what).", remedy: remedy)
    }
}

/// Reads the text of a glob.
private struct GlobParser {
    private static let star = UInt8(ascii: "*")
    private static let slash = UInt8(ascii: "/")

    /// Whether the text is part of a URL, in which a `%` begins an escape.
    var isURL = false
    /// Whether the text has a host, in which brackets are not escaped.
    var isHost = false
    private var prefix: [UInt8] = []
    private var tokens: [GlobRules.Token] = []
    /// Literal bytes in the form of canonical URLs, since the last wildcard.
    private var literals: [UInt8] = []

    /// The compiled pattern.
    var rules: GlobRules {
        var copy = self
        copy.endLiterals()
        return GlobRules(prefix: copy.prefix, tokens: copy.tokens)
    }

    /// Reads a part of the pattern.
    ///
    /// - Throws: `invalidRequest` if the pattern is malformed.
    mutating func read(_ part: some Collection<UInt8>, of text: String) throws(RequestFailure) {
        var rest = Array(part)[...]
        while let byte = rest.first {
            switch byte {
            case Self.star:
                let count = rest.prefix { $0 == Self.star }.count
                guard count <= 2 else {
                    throw Glob.malformed("has more than two stars in a row", in: text, "Write “*” or “**”.")
                }
                rest = rest.dropFirst(count)
                readStars(count, &rest)
            case UInt8(ascii: "?"):
                endLiterals()
                tokens.append(.character)
                rest = rest.dropFirst()
            case 0...0x1f, 0x7f:
                throw Glob.malformed("has a control character", in: RequestFailure.shown(text), "Remove it.")
            case UInt8(ascii: "%") where isURL:
                guard let escaped = CanonicalRules.escapedByte(rest) else {
                    throw Glob.malformed("has a “%” without two hexadecimal digits", in: text, "Write “%25”.")
                }
                if escaped.isURLUnreserved {
                    literals.append(escaped)
                } else {
                    literals.append(percentEncoded: escaped)
                }
                rest = rest.dropFirst(3)
            case UInt8(ascii: "[") where isHost, UInt8(ascii: "]") where isHost:
                literals.append(byte)
                rest = rest.dropFirst()
            default:
                PathText.append([byte], to: &literals)
                rest = rest.dropFirst()
            }
        }
    }

    private mutating func readStars(_ count: Int, _ rest: inout ArraySlice<UInt8>) {
        let followsSlash = literals.last == Self.slash || (literals.isEmpty && tokens.isEmpty)
        guard count == 2, followsSlash, rest.first == Self.slash else {
            endLiterals()
            tokens.append(count == 1 ? .segment : .anything)
            return
        }
        rest = rest.dropFirst()
        // A second “**/” matches nothing that the first does not match.
        if tokens.last == .directories, literals == [Self.slash] { return }
        endLiterals()
        tokens.append(.directories)
        literals = [Self.slash]
    }

    private mutating func endLiterals() {
        if tokens.isEmpty {
            prefix += literals
        } else {
            tokens += GlobSymbol.symbols(of: literals).map { .literal($0) }
        }
        literals = []
    }
}
