#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Conversion for charsets that use one byte for each character.
enum SingleByteCharset {
    /// Encodes text; `nil` if a character has no byte.
    static func encode(_ text: String, _ byte: (Unicode.Scalar) -> UInt8?) -> Data? {
        var bytes = Data(capacity: text.utf8.count)
        for scalar in text.unicodeScalars {
            guard let byte = byte(scalar) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// Decodes bytes; `nil` if a byte stands for no character and decoding is not lenient.
    static func decode(_ bytes: Data, _ isLenient: Bool, _ scalar: (UInt8) -> Unicode.Scalar?) -> String? {
        var text = String.UnicodeScalarView()
        for byte in bytes {
            guard let scalar = scalar(byte) ?? (isLenient ? "\u{fffd}" : nil) else { return nil }
            text.append(scalar)
        }
        return String(text)
    }
}

/// The mapping of windows-1252, which differs from ISO 8859-1 only for the bytes 0x80 to 0x9f.
enum Windows1252 {
    /// The characters for the bytes 0x80 to 0x9f. A byte without a character maps to the control character with the
    /// same number, so that decoding never fails.
    private static let upper: [UInt16] = [
        0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d,
        0x8f,
        0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e,
        0x178,
    ]

    static func scalar(_ byte: UInt8) -> Unicode.Scalar? {
        (0x80..<0xa0).contains(byte) ? Unicode.Scalar(upper[Int(byte) - 0x80]) : Unicode.Scalar(byte)
    }

    static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
        if let byte = UInt8(exactly: scalar.value), !(0x80..<0xa0).contains(byte) { return byte }
        return upper.firstIndex { UInt32($0) == scalar.value }.map { UInt8($0 + 0x80) }
    }
}
