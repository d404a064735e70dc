import EssentialsHTTP

/// Finds dot segments that RFC 3986 does not define but some servers interpret: `..%2f`, `..%5c`, `..\`, `%252e%252e`
/// and `..;x`.
///
/// The dot segments of RFC 3986, 5.2.4 are `..` and `.`, even if their dots are escaped once. They are removed when the
/// URL is created. A server finds more of them if it unescapes the path before it splits it, splits at backslashes
/// (WHATWG URL, 4.4), unescapes twice behind a proxy, or ignores the part after a semicolon (RFC 3986, 3.3). The
/// request would then leave the base URL's path.
enum HiddenDotSegments {
    private static let slash = UInt8(ascii: "/")
    private static let backslash = UInt8(ascii: "\\")
    private static let dot = UInt8(ascii: ".")

    /// Throws if a path contains such a segment.
    ///
    /// - Throws: `invalidRequest` if the path contains a segment as it is, or after one or two rounds of unescaping.
    static func refuse(in path: String, _ base: RequestURL) throws(RequestFailure) {
        let whole = path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        // Without these bytes every dot segment is one of RFC 3986. Most paths have none of them.
        guard whole.contains(where: { "%\\;".utf8.contains($0) }) else { return }
        guard whole.split(separator: slash).contains(where: { isHidden(Array($0)) }) else { return }
        throw RequestFailure(
            .invalidRequest,
            "The path hides a “.” or “..” segment behind an escape, a backslash or a semicolon, and could leave "
                + "\(base.path).",
            remedy: "Remove the dots, and check where they come from: a name that users choose must not be “..”.",
            host: base.origin.host.text)
    }

    private static func isHidden(_ segment: [UInt8]) -> Bool {
        // A `%` that begins no escape is kept.
        let once = Array(PercentCoding.decoded(segment, plusIsSpace: false))
        let twice = Array(PercentCoding.decoded(once, plusIsSpace: false))
        // These are removed when the URL is created.
        if isDots(once[...]) { return false }
        return [segment, once, twice].contains { text in
            text.split(whereSeparator: { $0 == slash || $0 == backslash }).contains { part in
                isDots(part.prefix { $0 != UInt8(ascii: ";") })
            }
        }
    }

    private static func isDots(_ text: ArraySlice<UInt8>) -> Bool {
        (1...2).contains(text.count) && text.allSatisfy { $0 == dot }
    }
}
