/// Parses the extended value of a parameter (RFC 8187, 3.2.1), such as `UTF-8'de'n%c3%a4chstes%20Kapitel`.
enum ExtendedValue {
    /// The text; `nil` if the value does not have three parts, or has an invalid escape or bytes that are invalid in
    /// its charset. The charset is UTF-8, or ISO 8859-1, which the older RFC 5987 also required.
    static func text(of value: [UInt8]) -> String? {
        let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = unescaped(parts[2]) else { return nil }
        switch String(decoding: parts[0], as: UTF8.self).lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst()?.hexDigitValue, let low = rest.popFirst()?.hexDigitValue else {
                    return nil
                }
                bytes.append(high << 4 | low)
            } else {
                // Servers leave more characters unescaped than RFC 8187 allows, and their meaning is clear.
                guard byte > 0x20, byte < 0x7f else { return nil }
                bytes.append(byte)
            }
        }
        return bytes
    }
}
