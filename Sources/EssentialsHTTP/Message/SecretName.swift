/// Decides by its name whether a header field or query item is likely to contain a secret. Logs, recorded requests and
/// redirects share this list.
///
/// A name is split into words at every ASCII byte that is neither a letter nor a digit, and letters are compared
/// without case. So `X-Api-Key`, `x_api_key` and `API.key` have the same words. Names without separators, such as
/// `accesstoken`, are recognized by parts that no harmless word contains.
package enum SecretName {
    /// Words that indicate a secret if they are a whole word, but not inside other words, as in “shipping”.
    private static let words: Set<String> = [
        "auth", "csrf", "dpop", "hmac", "jws", "jwt", "key", "keys", "mfa", "otp", "pass", "pin", "pins", "psk", "pwd",
        "saml", "sid", "sig", "totp", "xsrf",
    ]
    /// Parts of words that indicate a secret in any position.
    private static let parts = [
        "accesskey", "apikey", "authcode", "authentic", "authkey", "authoris", "authoriz", "bearer", "cookie",
        "credential", "oauth", "passcode", "passphrase", "passwd", "password", "privatekey", "secret", "session",
        "signature", "signingkey", "token",
    ].map { Array($0.utf8) }
    /// Words before `key` that make it an identifier instead of a secret.
    private static let harmlessKeys: Set<String> = [
        "cache", "dedup", "idempotency", "partition", "surrogate", "websocket",
    ]
    /// The maximum length of a name in bytes. A longer name counts as secret.
    private static let maximumLength = 1024

    /// Whether a name indicates a secret.
    package static func isSecret(_ name: String) -> Bool {
        let bytes = Array(name.utf8.prefix(maximumLength + 1))
        guard bytes.count <= maximumLength else { return true }
        var previous = ""
        for word in bytes.split(whereSeparator: { !isWordByte($0) }) {
            let lower = word.map(lowercased)
            if parts.contains(where: { isPart($0, of: lower) }) { return true }
            let text = String(decoding: lower, as: UTF8.self)
            if words.contains(text), text != "key" || !harmlessKeys.contains(previous) { return true }
            previous = text
        }
        return false
    }

    /// Whether the name of a query item, percent-encoded as it is written, indicates a secret. A name that cannot be
    /// decoded could be secret.
    package static func isSecret(encoded name: some StringProtocol) -> Bool {
        let bytes = Array(name.utf8)
        let areEscapes = bytes.indices.allSatisfy { index in
            guard bytes[index] == UInt8(ascii: "%") else { return true }
            let digits = bytes[(index + 1)...].prefix(2)
            return digits.count == 2 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        }
        guard areEscapes, let decoded = (try? QueryItems(parsing: name))?.items.first?.name else { return true }
        // A percent sign is left of a double escape, and a replacement character of invalid UTF-8.
        return decoded.unicodeScalars.contains { $0 == "%" || $0 == "\u{FFFD}" } || isSecret(decoded)
    }

    private static func isPart(_ part: [UInt8], of word: [UInt8]) -> Bool {
        guard word.count >= part.count else { return false }
        return (0...word.count - part.count).contains { word[$0...].starts(with: part) }
    }

    /// Non-ASCII bytes are part of words, so that they never split a word.
    private static func isWordByte(_ byte: UInt8) -> Bool { byte.isASCIIAlphanumeric || byte >= 0x80 }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte.isASCIILetter ? byte | 0x20 : byte
    }
}
