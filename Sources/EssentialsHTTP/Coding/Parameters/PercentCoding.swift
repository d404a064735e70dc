#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Percent-encoding of bytes (RFC 3986, 2.1).
package enum PercentCoding {
    /// Percent-encodes all bytes except the unreserved characters (RFC 3986, 2.3).
    static func encoded(_ bytes: Data) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if byte.isURLUnreserved { text.append(byte) } else { text.append(percentEncoded: byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes percent-encoded bytes. A `%` that begins no escape is kept.
    package static func decoded(_ text: some Sequence<UInt8>, plusIsSpace: Bool) -> Data {
        let text = Array(text)
        var bytes = Data(capacity: text.count)
        var index = 0
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "%"), index + 2 < text.count, let high = text[index + 1].hexDigitValue,
                let low = text[index + 2].hexDigitValue
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return bytes
    }
}
