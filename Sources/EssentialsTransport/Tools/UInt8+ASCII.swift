// The properties are inlinable because parsers in other modules read them for every byte.

/// Character classes for parsers that read bytes. No byte above 0x7f belongs to any of them.
extension UInt8 {
    /// Whether this is `0` to `9`.
    @inlinable package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    /// Whether this is `a` to `z` or `A` to `Z`.
    @inlinable package var isASCIILetter: Bool { (0x61...0x7a).contains(self | 0x20) }

    @inlinable package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }

    /// Whether this is a space or a tab (RFC 9110, 5.6.3).
    @inlinable package var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// Whether this is a control character that no field value can contain: any but the tab (RFC 9110, 5.5).
    @inlinable package var isFieldControl: Bool { self < 0x20 && self != 0x09 || self == 0x7f }

    /// Whether a token can contain this (RFC 9110, 5.6.2).
    @inlinable package var isTokenCharacter: Bool {
        if isASCIIAlphanumeric { return true }
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            return true
        default: return false
        }
    }

    /// Whether a URL contains this without percent-encoding in any place (RFC 3986, 2.3).
    @inlinable package var isURLUnreserved: Bool {
        if isASCIIAlphanumeric { return true }
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): return true
        default: return false
        }
    }

    /// The value of a hexadecimal digit in upper or lower case; `nil` for any other byte.
    @inlinable package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The upper-case hexadecimal digit for the lowest four bits.
    @inlinable package var hexDigit: UInt8 {
        let value = self & 15
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

/// Steps of parsers that remove from the front what they have read, such as those over a `Substring.UTF8View`.
extension Collection<UInt8> where SubSequence == Self {
    /// Removes the first byte if it is this character.
    @inlinable
    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard first == UInt8(ascii: character) else { return false }
        removeFirst()
        return true
    }

    /// Removes and returns the bytes before the first one that does not meet a condition.
    @inlinable
    package mutating func take(while isTaken: (UInt8) -> Bool) -> Self {
        let taken = prefix(while: isTaken)
        self = self[taken.endIndex...]
        return taken
    }

    /// Removes the bytes before the first one that does not meet a condition.
    @inlinable
    package mutating func skip(while isSkipped: (UInt8) -> Bool) { self = drop(while: isSkipped) }
}

extension [UInt8] {
    /// Appends a byte as `%` and two upper-case hexadecimal digits (RFC 3986, 2.1).
    package mutating func append(percentEncoded byte: UInt8) {
        append(UInt8(ascii: "%"))
        append((byte >> 4).hexDigit)
        append(byte.hexDigit)
    }
}
