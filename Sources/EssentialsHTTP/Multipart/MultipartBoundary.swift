#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The text that separates the parts of a body (RFC 2046, 5.1.1).
struct MultipartBoundary: Sendable, Hashable {
    /// The allowed characters besides letters and digits.
    private static let punctuation = Set("'()+_,-./:=? ".utf8)
    /// The subset that a parameter's value may contain without quotes (RFC 9110, 5.6.2).
    private static let tokenPunctuation = Set("'+_-.".utf8)

    let text: String
    /// Whether the text is random, so that no peer can predict it.
    let isRandom: Bool

    /// Validates a boundary.
    ///
    /// - Throws: `invalidRequest` if the text is not a valid boundary.
    init(_ text: String) throws(RequestFailure) {
        let isAllowed = text.utf8.allSatisfy { Self.isAlphanumeric($0) || Self.punctuation.contains($0) }
        guard isAllowed, (1...70).contains(text.utf8.count), text.utf8.last != 0x20 else {
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(text))” is no boundary of a multipart body.",
                remedy: "Give 1 to 70 letters, digits or some of '()+_,-./:=? (no space at the end), or none.")
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
        let isToken = text.utf8.allSatisfy { Self.isAlphanumeric($0) || Self.tokenPunctuation.contains($0) }
        return isToken ? text : MultipartHeadRules.quoted(text)
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

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: false
        }
    }
}
