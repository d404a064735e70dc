import EssentialsHTTP

/// Reads the list of challenges in a `WWW-Authenticate` field (RFC 9110, 11.6.1), in time linear in its length.
///
/// A comma may end a parameter or a challenge, so the next word decides: a word before “=” is a parameter, any other
/// word is a scheme. A malformed part invalidates only the challenge that contains it. The commas between parameters
/// may be missing, because some devices leave them out.
struct ChallengeReader {
    static let maximumBytes = 64 << 10
    static let maximumChallenges = 32
    static let maximumParameters = 64
    static let maximumValue = 8 << 10

    private struct Draft {
        let scheme: String
        var token68: [UInt8]?
        var parameters: [AuthenticationChallenge.Parameter] = []
        var isWellFormed = true
    }

    private let bytes: [UInt8]
    private var index = 0
    private var draft: Draft?
    private var found: [AuthenticationChallenge] = []

    static func challenges(in bytes: [UInt8]) -> [AuthenticationChallenge] {
        var reader = ChallengeReader(bytes: bytes, draft: nil)
        reader.read()
        return reader.found
    }

    /// The parameters of a list without a scheme.
    static func parameters(in bytes: [UInt8]) -> [AuthenticationChallenge.Parameter] {
        var reader = ChallengeReader(bytes: bytes, draft: Draft(scheme: ""))
        reader.read()
        guard let first = reader.found.first, first.scheme.isEmpty else { return [] }
        return first.parameters
    }

    private init(bytes: [UInt8], draft: Draft?) {
        self.bytes = bytes
        self.draft = draft
    }

    private mutating func read() {
        while found.count < Self.maximumChallenges {
            skip { $0.isBlank || $0 == UInt8(ascii: ",") }
            guard index < bytes.count else { break }
            guard let word = token() else {
                spoil()
                continue
            }
            let end = index
            skip(\.isBlank)
            if next == UInt8(ascii: "=") {
                index += 1
                skip(\.isBlank)
                readParameter(String(decoding: word, as: UTF8.self).lowercased())
            } else if isAtEnd || index > end {
                finish()
                draft = Draft(scheme: String(decoding: word, as: UTF8.self).lowercased())
                readToken68()
            } else {
                spoil()
            }
        }
        finish()
    }

    // MARK: Parts

    private mutating func readParameter(_ name: String) {
        let value = next == UInt8(ascii: "\"") ? quoted() : token()
        guard let value, isAtEnd || bytes[index].isBlank else { return spoil() }
        guard var taken = draft.take() else { return }
        taken.isWellFormed =
            taken.isWellFormed && taken.token68 == nil && taken.parameters.count < Self.maximumParameters
            && !taken.parameters.contains { $0.name == name }
        if taken.isWellFormed { taken.parameters.append(.init(name: name, value: value)) }
        draft = taken
    }

    /// Text is a token68 only if the challenge ends after it: `a=` can be a token68, but `a="b"` is a parameter.
    private mutating func readToken68() {
        var end = index
        while end < bytes.count, Self.isToken68(bytes[end]) { end += 1 }
        guard end > index else { return }
        while end < bytes.count, bytes[end] == UInt8(ascii: "=") { end += 1 }
        let value = bytes[index..<end]
        while end < bytes.count, bytes[end].isBlank { end += 1 }
        guard end == bytes.count || bytes[end] == UInt8(ascii: ","), value.count <= Self.maximumValue else { return }
        draft?.token68 = Array(value)
        index = end
    }

    private mutating func token() -> [UInt8]? {
        let start = index
        skip(\.isTokenCharacter)
        return (1...Self.maximumValue).contains(index - start) ? Array(bytes[start..<index]) : nil
    }

    /// Reads to the closing quotation mark, or to the end. Returns `nil` if the mark is missing, or if the value is too
    /// long or has a control character.
    private mutating func quoted() -> [UInt8]? {
        var value: [UInt8] = []
        var isValid = true
        index += 1
        while index < bytes.count {
            var byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") { return isValid ? value : nil }
            if byte == UInt8(ascii: "\\") {
                guard index < bytes.count else { return nil }
                byte = bytes[index]
                index += 1
            }
            isValid = isValid && value.count < Self.maximumValue && !byte.isFieldControl
            if isValid { value.append(byte) }
        }
        return nil
    }

    // MARK: Steps

    /// Marks the current challenge as malformed and skips to the next comma outside quotation marks.
    private mutating func spoil() {
        draft?.isWellFormed = false
        while index < bytes.count, bytes[index] != UInt8(ascii: ",") {
            if bytes[index] == UInt8(ascii: "\"") { _ = quoted() } else { index += 1 }
        }
    }

    private mutating func finish() {
        guard let done = draft.take(), done.isWellFormed else { return }
        found.append(
            AuthenticationChallenge(scheme: done.scheme, token68: done.token68, parameters: done.parameters))
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
        while index < bytes.count, isSkipped(bytes[index]) { index += 1 }
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }
    private var isAtEnd: Bool { index >= bytes.count || bytes[index] == UInt8(ascii: ",") }

    /// Whether a token68 can contain the byte (RFC 9110, 11.2) before its final “=”.
    private static func isToken68(_ byte: UInt8) -> Bool { byte.isASCIIAlphanumeric || "-._~+/".utf8.contains(byte) }
}
