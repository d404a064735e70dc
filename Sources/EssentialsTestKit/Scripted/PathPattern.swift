import EssentialsHTTP

/// A pattern for paths: literal segments, `*` for one segment, and `**` at the end for any number of segments.
struct PathPattern: Sendable, Hashable, CustomStringConvertible {
    private enum Segment: Sendable, Hashable {
        case text(String)
        case any
    }

    private let segments: [Segment]
    private let isOpenEnded: Bool
    /// Whether any segments may precede those of the pattern.
    private let isBelowAnyBase: Bool
    /// The query given after the path.
    let query: Substring?
    /// The pattern in normalized form.
    let description: String

    /// Parses a pattern.
    ///
    /// - Throws: `invalidRequest` if the text is not a valid path or does not begin with `/`.
    init(_ text: String) throws(RequestFailure) {
        guard text.utf8.first == UInt8(ascii: "/") else {
            throw RequestFailure(
                .invalidRequest, "The path \(ShownText.quoted(text)) does not begin with “/”.",
                remedy: "Write the path of the whole URL, such as /v1/users.")
        }
        let url = try RequestURL(origin: Origin(scheme: .https, host: HostName("pattern.invalid")), path: text)
        var texts = Self.split(url.path)
        isOpenEnded = texts.last == "**"
        if isOpenEnded { texts.removeLast() }
        guard !texts.contains("**") else {
            throw RequestFailure(
                .invalidRequest, "The path \(ShownText.quoted(text)) has “**” before its end.",
                remedy: "Write “*” for each segment, or “**” as the last.")
        }
        segments = texts.map { $0 == "*" ? .any : .text(QueryPattern.decoded($0)) }
        query = url.query
        description = String(url.path)
        isBelowAnyBase = false
    }

    /// The pattern for an encoded path, in which no segment has a special meaning.
    ///
    /// - Parameters:
    ///   - path: The path, with or without a slash at its beginning.
    ///   - isBelowAnyBase: Whether any segments may precede it.
    init(literal path: Substring, isBelowAnyBase: Bool) {
        let relative = path.utf8.first == UInt8(ascii: "/") ? path.dropFirst() : path
        segments = relative.split(separator: "/", omittingEmptySubsequences: false).map {
            .text(QueryPattern.decoded($0))
        }
        isOpenEnded = false
        self.isBelowAnyBase = isBelowAnyBase
        query = nil
        description = isBelowAnyBase ? "…/\(relative)" : "/\(relative)"
    }

    /// Each difference as one line; empty if the path matches.
    func differences(from path: Substring) -> [String] {
        matches(Self.split(path)) ? [] : ["path: expected \(description), was \(path)"]
    }

    private func matches(_ path: [Substring]) -> Bool {
        let path = isBelowAnyBase ? path.suffix(segments.count) : path[...]
        guard isOpenEnded ? path.count >= segments.count : path.count == segments.count else { return false }
        return zip(segments, path).allSatisfy { segment, text in
            switch segment {
            case .any: !text.isEmpty
            case .text(let expected): QueryPattern.decoded(text) == expected
            }
        }
    }

    private static func split(_ path: Substring) -> [Substring] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }
}
