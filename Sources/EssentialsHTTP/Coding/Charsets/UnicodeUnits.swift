#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Conversion of text to and from UTF-8, UTF-16 and UTF-32 (RFC 3629, RFC 2781).
enum UnicodeUnits {
    /// The byte order of a code unit.
    enum Order: Sendable, Hashable {
        case big, little
    }

    static func utf8Text(_ bytes: Data, _ isLenient: Bool) -> String? {
        bytes.withUnsafeBytes { buffer in
            let text = buffer.starts(with: [0xef, 0xbb, 0xbf]) ? buffer.dropFirst(3) : buffer[...]
            let rebased = UnsafeRawBufferPointer(rebasing: text)
            return isLenient
                ? String(decoding: rebased, as: UTF8.self) : String(validating: rebased, as: UTF8.self)
        }
    }

    static func utf16(_ text: String, _ order: Order) -> Data {
        var bytes = Data(capacity: text.utf16.count * 2)
        for unit in text.utf16 {
            let (high, low) = (UInt8(truncatingIfNeeded: unit >> 8), UInt8(truncatingIfNeeded: unit))
            bytes.append(order == .big ? high : low)
            bytes.append(order == .big ? low : high)
        }
        return bytes
    }

    static func utf32(_ text: String, _ order: Order) -> Data {
        var bytes = Data(capacity: text.unicodeScalars.count * 4)
        for scalar in text.unicodeScalars {
            for index in 0..<4 {
                let shift = UInt32(order == .big ? 24 - 8 * index : 8 * index)
                bytes.append(UInt8(truncatingIfNeeded: scalar.value >> shift))
            }
        }
        return bytes
    }

    /// Decodes UTF-16. The byte order is that of the mark, otherwise the given one, otherwise big-endian.
    static func utf16Text(_ bytes: Data, _ order: Order?, _ isLenient: Bool) -> String? {
        guard bytes.count.isMultiple(of: 2) || isLenient else { return nil }
        let (start, order) = beginning(bytes, order, mark: [0xfe, 0xff])
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        bytes.withUnsafeBytes { buffer in
            for index in stride(from: start, to: buffer.count - 1, by: 2) {
                let (first, second) = (UInt16(buffer[index]), UInt16(buffer[index + 1]))
                units.append(order == .big ? first << 8 | second : second << 8 | first)
            }
        }
        // An incomplete code unit at the end.
        if !bytes.count.isMultiple(of: 2) { units.append(0xfffd) }
        return isLenient ? String(decoding: units, as: UTF16.self) : String(validating: units, as: UTF16.self)
    }

    /// Decodes UTF-32. The byte order is that of the mark, otherwise the given one, otherwise big-endian.
    static func utf32Text(_ bytes: Data, _ order: Order?, _ isLenient: Bool) -> String? {
        guard bytes.count.isMultiple(of: 4) || isLenient else { return nil }
        let (start, order) = beginning(bytes, order, mark: [0, 0, 0xfe, 0xff])
        var text = String.UnicodeScalarView()
        var isWhole = true
        bytes.withUnsafeBytes { buffer in
            for index in stride(from: start, to: buffer.count - 3, by: 4) {
                let unit = (0..<4).reduce(UInt32(0)) { unit, offset in
                    unit << 8 | UInt32(buffer[order == .big ? index + offset : index + 3 - offset])
                }
                if let scalar = Unicode.Scalar(unit) {
                    text.append(scalar)
                } else {
                    text.append("\u{fffd}")
                    isWhole = false
                }
            }
        }
        if !bytes.count.isMultiple(of: 4) { text.append("\u{fffd}") }
        return isWhole || isLenient ? String(text) : nil
    }

    /// The offset of the text after a byte order mark, and the byte order.
    private static func beginning(_ bytes: Data, _ order: Order?, mark: [UInt8]) -> (start: Int, order: Order) {
        if bytes.starts(with: mark) { return (mark.count, .big) }
        if bytes.starts(with: mark.reversed()) { return (mark.count, .little) }
        return (0, order ?? .big)
    }
}
