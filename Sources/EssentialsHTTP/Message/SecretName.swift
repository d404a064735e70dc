/// Decides by its name whether a header field or query item is likely to contain a secret. Logs, recorded requests,
/// redirects and caches share this table.
///
/// A name is split into words at every ASCII byte that is neither a letter nor a digit, and letters are compared
/// without case. So `X-Api-Key`, `x_api_key` and `API.key` have the same words. Names without separators, such as
/// `accesstoken`, are recognized by parts that no harmless word contains.
package enum SecretName {
    /// The columns of the table: places where the value under a secret name must not appear.
    package struct Places: OptionSet, Sendable, Hashable {
        /// Logs, command lines, snapshots, and the output of tests and of the tool.
        package static let shown = Places(rawValue: 1)
        /// Requests to other origins than the one for which the value was meant.
        package static let sent = Places(rawValue: 2)
        /// Caches on a disk that all accounts share.
        package static let stored = Places(rawValue: 4)

        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// Whether a name indicates a secret that must not appear in one of the places.
    package static func isSecret(_ name: String, _ places: Places) -> Bool {
        let bytes = Array(name.utf8.prefix(maximumLength + 1))
        guard bytes.count <= maximumLength else { return true }
        let words = bytes.split { !isWordByte($0) }.map { $0.map(lowercased) }
        var last: [String] = []
        for word in words {
            let text = String(decoding: word, as: UTF8.self)
            if parts.contains(where: { !$0.places.isDisjoint(with: places) && isPart($0.bytes, of: word) }) {
                return true
            }
            if isListed(text, in: Self.words, places), text != "key" || !harmlessKeys.contains(last.last ?? "") {
                return true
            }
            // A compound has two or three words, or is written as one.
            last.append(text)
            if last.count > 3 { last.removeFirst() }
            if last.indices.contains(where: { isListed(last[$0...].joined(), in: compounds, places) }) { return true }
        }
        return words.count <= 2 && isListed(last.joined(separator: " "), in: names, places)
    }

    /// Whether the name of a member of JSON, or of an item of a query or form, indicates a secret that must not be shown. A capital
    /// letter begins a word too, as in `userPin`.
    package static func isSecret(member name: String) -> Bool {
        if isSecret(name, .shown) { return true }
        let isCapital = { (byte: UInt8) in (0x41...0x5a).contains(byte) }
        let bytes = Array(name.utf8.prefix(maximumLength))
        var words: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let last = index > 0 ? bytes[index - 1] : 0
            let isSmallNext = index + 1 < bytes.count && (0x61...0x7a).contains(bytes[index + 1])
            // As in `userPin`, and as in `DBPass`.
            if isCapital(byte), last.isASCIIAlphanumeric, !isCapital(last) || isSmallNext {
                words.append(UInt8(ascii: "_"))
            }
            words.append(byte)
        }
        return words.count > name.utf8.count && isSecret(String(decoding: words, as: UTF8.self), .shown)
    }

    /// Whether the name of a query item, percent-encoded as it is written, indicates a secret that must not appear in
    /// one of the places. A name that cannot be decoded could be secret.
    package static func isSecret(encoded name: some StringProtocol, _ places: Places) -> Bool {
        let bytes = Array(name.utf8)
        let areEscapes = bytes.indices.allSatisfy { index in
            guard bytes[index] == UInt8(ascii: "%") else { return true }
            let digits = bytes[(index + 1)...].prefix(2)
            return digits.count == 2 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        }
        guard areEscapes, let decoded = (try? QueryItems(parsing: name))?.items.first?.name else { return true }
        // A percent sign is left of a double escape, and a replacement character of invalid UTF-8.
        return decoded.unicodeScalars.contains { $0 == "%" || $0 == "\u{FFFD}" } || isSecret(decoded, places)
    }

    private static func isListed(_ text: String, in list: [String: Places], _ places: Places) -> Bool {
        list[text].map { !$0.isDisjoint(with: places) } ?? false
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

// MARK: - The table

extension SecretName {
    /// What a text of the table is compared with.
    private enum Form {
        /// A whole word, but not a part of one, as in “shipping”.
        case word
        /// A part of a word in any position.
        case part
        /// Consecutive words, written with or without separators.
        case compound
        /// The whole name.
        case name
    }

    private struct Row {
        let form: Form
        let places: Places
        let texts: [String]

        init(_ form: Form, _ places: Places, _ texts: String...) {
            (self.form, self.places, self.texts) = (form, places, texts)
        }
    }

    private static let everywhere: Places = [.shown, .sent, .stored]

    private static let table = [
        Row(
            .word, everywhere, "2fa", "auth", "csrf", "dpop", "hmac", "jsessid", "jws", "jwt", "key", "keys", "mfa",
            "otp",
            "pass", "phpsessid", "pin", "pins", "psk", "pwd", "saml", "samlart", "samlrequest", "samlresponse",
            "sessid",
            "sid", "sig", "totp", "xsrf"),
        Row(
            .part, everywhere, "accesskey", "apikey", "authcode", "authentic", "authkey", "authoris", "authoriz",
            "bearer", "cookie", "credential", "oauth", "passcode", "passkey", "passphrase", "passwd", "password",
            "privatekey", "secret", "session", "signature", "signingkey", "token"),
        // “Code” alone is the code of a country, a currency or a failure.
        Row(
            .compound, everywhere, "access code", "activation code", "backup code", "confirmation code", "device code",
            "invitation code", "invite code", "login code", "one time code", "pairing code", "recovery code",
            "reset code", "security code", "sms code", "unlock code", "verification code"),
        Row(
            .compound, everywhere, "auth ticket", "client assertion", "code verifier", "kerberos ticket",
            "login ticket", "service ticket"),
        Row(.name, everywhere, "x assertion", "x ticket"),
        // What accompanies a trace is meant for the own servers.
        Row(.name, [.shown, .sent], "baggage"),
        // The short names of OAuth and CAS are those of harmless values too, so they decide only what is shown.
        Row(.name, .shown, "assertion", "code", "ticket", "user code"),
    ]

    /// Words before `key` that make it an identifier instead of a secret.
    private static let harmlessKeys: Set<String> = [
        "cache", "dedup", "idempotency", "partition", "surrogate", "websocket",
    ]
    /// The maximum length of a name in bytes. A longer name counts as secret.
    private static let maximumLength = 1024

    private static let words = rows(.word)
    private static let names = rows(.name)
    private static let compounds = [String: Places](
        uniqueKeysWithValues: rows(.compound).map { ($0.key.filter { $0 != " " }, $0.value) })
    private static let parts = rows(.part).map { (bytes: Array($0.key.utf8), places: $0.value) }

    private static func rows(_ form: Form) -> [String: Places] {
        var texts: [String: Places] = [:]
        for row in table where row.form == form {
            for text in row.texts { texts[text, default: []].formUnion(row.places) }
        }
        return texts
    }
}
