#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The text that separates the parts of a body (RFC 2046, 5.1.1).
struct MultipartBoundary: Sendable, Hashable {
    /// The allowed characters besides letters and digits.
    private static let punctuation = Set("'()+_,-./:=? ".utf8)

    let text: String
    /// Whether the text is random, so that no peer can predict it.
    let isRandom: Bool

    /// Validates a boundary.
    ///
    /// - Throws: `invalidRequest` if the text is not a valid boundary.
    init(_ text: String) throws(RequestFailure) {
        let isAllowed = text.utf8.allSatisfy { $0.isASCIIAlphanumeric || Self.punctuation.contains($0) }
        guard isAllowed, (1...70).contains(text.utf8.count), text.utf8.last != 0x20 else {
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(text))” is not a valid boundary of a multipart body.",
                remedy: "Use 1 to 70 letters, digits or '()+_,-./:=? (no space at the end), or omit the boundary.")
        }
        self.text = text
        isRandom = false
    }

    private init(random text: String) {
        self.text = text
        isRandom = true
    }

    /// Creates a boundary of 32 random letters and digits, about 190 bits.
    static func random() -> MultipartBoundary {
        MultipartBoundary(random: .randomAlphanumeric(32))
    }

    /// The value of the `boundary` parameter, quoted if necessary.
    var parameter: String {
        text.utf8.allSatisfy(\.isTokenCharacter) ? text : MultipartHeadRules.quoted(text)
    }

    /// Whether a line begins like a delimiter. A single CR or LF also ends a line, because some parsers treat it so.
    func beginsLine(of data: Data) -> Bool {
        let delimiter = Array("--\(text)".utf8)
        return data.withUnsafeBytes { bytes in
            var start = 0
            while bytes.count - start >= delimiter.count {
                if bytes[start..<start + delimiter.count].elementsEqual(delimiter) { return true }
                guard let end = bytes[start...].firstIndex(where: { $0 == 0x0d || $0 == 0x0a }) else { return false }
                start = end + 1
            }
            return false
        }
    }
}
