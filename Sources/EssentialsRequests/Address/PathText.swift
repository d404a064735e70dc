import EssentialsHTTP

/// Turns path text into the path of a URL (RFC 3986, 3.3).
///
/// In path text every character stands for itself, so `?`, `#` and `%` are escaped. Only `/` has a meaning: it
/// separates segments.
package enum PathText {
    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

    /// Calls a closure with the bytes of a path text that can follow a base URL without any change, without one leading
    /// slash. Returns `nil` for other texts, which ``ResourceBase/url(path:)`` handles.
    ///
    /// A plain text consists of characters that need no escape, and has no segment that is `.` or `..` and no empty
    /// segment except the last. One pass over the bytes decides this, without an allocation for a native string.
    package static func withPlain<Result>(_ path: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        var path = path
        return path.withUTF8 { bytes -> Result? in
            let rest = UnsafeBufferPointer(rebasing: bytes.first == slash ? bytes.dropFirst() : bytes[...])
            return isPlain(rest) ? body(rest) : nil
        }
    }

    /// Whether a path text is plain; see ``withPlain(_:_:)``.
    package static func isPlain(_ path: String) -> Bool { withPlain(path) { _ in true } ?? false }

    private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // The number of dots that the present segment consists of. 3 means that it is not a dot segment.
        var dots = 0
        var previous = slash
        for byte in bytes {
            switch byte {
            case slash:
                if previous == slash || dots == 1 || dots == 2 { return false }
                dots = 0
            case dot:
                if previous == slash { dots = 1 } else if dots == 1 { dots = 2 } else { dots = 3 }
            // All characters of a path segment: letters, digits and the punctuation of RFC 3986, 3.3.
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "@")...UInt8(ascii: "Z"),
                UInt8(ascii: "&")...UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "~"),
                UInt8(ascii: "!"), UInt8(ascii: "$"):
                dots = 3
            default: return false
            }
            previous = byte
        }
        return dots == 0 || dots == 3
    }

    /// Appends a path text. Every byte that a segment cannot contain is percent-encoded.
    package static func append(_ text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        for byte in text {
            if byte == slash || isSegmentByte(byte) { bytes.append(byte) } else { bytes.append(percentEncoded: byte) }
        }
    }

    /// Appends a text as one segment, with slashes percent-encoded.
    package static func append(segment: String, to bytes: inout [UInt8]) {
        for byte in segment.utf8 {
            if isSegmentByte(byte) { bytes.append(byte) } else { bytes.append(percentEncoded: byte) }
        }
    }

    /// The bytes of a path text without one leading slash.
    package static func withoutSlash(_ text: String) -> Substring.UTF8View {
        text.utf8.first == slash ? text.utf8.dropFirst() : text.utf8[...]
    }

    /// Whether one of the segments of an escaped path is `.` or `..` (RFC 3986, 5.2.4).
    static func hasDotSegment(_ path: some Collection<UInt8>) -> Bool {
        path.split(separator: slash).contains { (1...2).contains($0.count) && $0.allSatisfy { $0 == dot } }
    }

    /// Whether a segment can contain a byte without an escape (RFC 3986, 3.3).
    private static func isSegmentByte(_ byte: UInt8) -> Bool {
        byte.isURLUnreserved || "!$&'()*+,;=:@".utf8.contains(byte)
    }
}
