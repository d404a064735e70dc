#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A character encoding: how text is represented as bytes.
///
/// UTF-8, UTF-16, UTF-32, ASCII, ISO 8859-1 and windows-1252 are built in. With Glibc, every charset that the system's
/// iconv supports is available too.
///
/// ```swift
/// let charset = try Charset("Shift_JIS")
/// let text = try charset.decode(body)
/// ```
///
/// Bytes labelled ISO 8859-1, or one of its aliases, are decoded as windows-1252, as browsers do, because many senders
/// label windows-1252 text as `latin1`. Encoding uses ISO 8859-1 itself. The labels of a few East Asian charsets stand
/// for their supersets, also as in browsers (WHATWG Encoding Standard, 4.2).
public struct Charset: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case utf8, ascii, latin1, windows1252
        /// Encodes little-endian with a byte order mark; decodes by the mark, or as big-endian without one (RFC 2781,
        /// 4.3).
        case utf16, utf32
        case utf16In(UnicodeUnits.Order)
        case utf32In(UnicodeUnits.Order)
        /// A charset of iconv, by its name there.
        case system(String)
    }

    let kind: Kind
    /// The label that requests send, in lower case, such as `utf-8`.
    public let name: String

    init(kind: Kind, name: String) {
        self.kind = kind
        self.name = name
    }

    /// UTF-8 (RFC 3629).
    public static let utf8 = Charset(kind: .utf8, name: "utf-8")
    /// UTF-16. Encodes little-endian with a byte order mark; decodes by the mark, or as big-endian without one.
    public static let utf16 = Charset(kind: .utf16, name: "utf-16")
    /// UTF-16, big-endian, encoded without a byte order mark.
    public static let utf16BigEndian = Charset(kind: .utf16In(.big), name: "utf-16be")
    /// UTF-16, little-endian, encoded without a byte order mark.
    public static let utf16LittleEndian = Charset(kind: .utf16In(.little), name: "utf-16le")
    /// UTF-32. Encodes little-endian with a byte order mark; decodes by the mark, or as big-endian without one.
    public static let utf32 = Charset(kind: .utf32, name: "utf-32")
    /// UTF-32, big-endian, encoded without a byte order mark.
    public static let utf32BigEndian = Charset(kind: .utf32In(.big), name: "utf-32be")
    /// UTF-32, little-endian, encoded without a byte order mark.
    public static let utf32LittleEndian = Charset(kind: .utf32In(.little), name: "utf-32le")
    /// US-ASCII.
    public static let ascii = Charset(kind: .ascii, name: "us-ascii")
    /// ISO 8859-1. Bytes are decoded as windows-1252.
    public static let latin1 = Charset(kind: .latin1, name: "iso-8859-1")
    /// The charset windows-1252.
    public static let windows1252 = Charset(kind: .windows1252, name: "windows-1252")

    /// Finds the charset for a label. Case, surrounding spaces and quotation marks are ignored.
    ///
    /// - Throws: `invalidRequest` if the label is not supported.
    public init(_ label: String) throws(RequestFailure) {
        guard let charset = CharsetLabels.charset(for: label) else {
            throw RequestFailure(
                .invalidRequest, "The charset “\(RequestFailure.shown(label))” is not supported.",
                remedy: "Use utf-8, or a charset that the system's iconv supports.")
        }
        self = charset
    }

    /// Finds the charset for a label that a peer sent; `nil` if it is not supported.
    public init?(parsing label: some StringProtocol) {
        guard let charset = CharsetLabels.charset(for: label) else { return nil }
        self = charset
    }

    /// The Unicode charset whose byte order mark the bytes begin with; `nil` without a byte order mark.
    public init?(byteOrderMarkOf bytes: Data) {
        let head = Array(bytes.prefix(4))
        if head.starts(with: [0xef, 0xbb, 0xbf]) {
            self = .utf8
        } else if head == [0xff, 0xfe, 0, 0] {
            self = .utf32LittleEndian
        } else if head == [0, 0, 0xfe, 0xff] {
            self = .utf32BigEndian
        } else if head.starts(with: [0xff, 0xfe]) {
            self = .utf16LittleEndian
        } else if head.starts(with: [0xfe, 0xff]) {
            self = .utf16BigEndian
        } else {
            return nil
        }
    }

    /// The label that requests send.
    public var description: String { name }

    /// Whether every byte below 0x80 stands for its ASCII character, as forms require.
    var containsASCII: Bool {
        switch kind {
        case .utf8, .ascii, .latin1, .windows1252: true
        case .utf16, .utf32, .utf16In, .utf32In: false
        case .system: (try? encode("a=1&b%[]")) == Data("a=1&b%[]".utf8)
        }
    }
}

// MARK: - Writing and reading

extension Charset {
    /// Encodes text.
    ///
    /// - Throws: `encoding` if the charset cannot represent a character.
    public func encode(_ text: String) throws(RequestFailure) -> Data {
        let bytes: Data? =
            switch kind {
            case .utf8: Data(text.utf8)
            case .ascii: SingleByteCharset.encode(text) { $0.value < 0x80 ? UInt8($0.value) : nil }
            case .latin1: SingleByteCharset.encode(text) { UInt8(exactly: $0.value) }
            case .windows1252: SingleByteCharset.encode(text, Windows1252.byte)
            case .utf16: UnicodeUnits.utf16("\u{feff}" + text, .little)
            case .utf16In(let order): UnicodeUnits.utf16(text, order)
            case .utf32: UnicodeUnits.utf32("\u{feff}" + text, .little)
            case .utf32In(let order): UnicodeUnits.utf32(text, order)
            case .system(let name): SystemCharset.encode(text, name)
            }
        guard let bytes else {
            throw RequestFailure(
                .encoding, "The text contains a character that the charset \(name) cannot represent.",
                remedy: "Use utf-8, which can represent every character.")
        }
        return bytes
    }

    /// Decodes bytes. A leading byte order mark is removed.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - isLenient: Whether invalid bytes become U+FFFD instead of an error.
    /// - Throws: `decoding` if the bytes are invalid in this charset or end in the middle of a character.
    public func decode(_ bytes: Data, isLenient: Bool = false) throws(RequestFailure) -> String {
        let text: String? =
            switch kind {
            case .utf8: UnicodeUnits.utf8Text(bytes, isLenient)
            case .ascii: SingleByteCharset.decode(bytes, isLenient) { $0 < 0x80 ? Unicode.Scalar($0) : nil }
            case .latin1, .windows1252: SingleByteCharset.decode(bytes, isLenient, Windows1252.scalar)
            case .utf16: UnicodeUnits.utf16Text(bytes, nil, isLenient)
            case .utf16In(let order): UnicodeUnits.utf16Text(bytes, order, isLenient)
            case .utf32: UnicodeUnits.utf32Text(bytes, nil, isLenient)
            case .utf32In(let order): UnicodeUnits.utf32Text(bytes, order, isLenient)
            case .system(let name): SystemCharset.decode(bytes, name, isLenient)
            }
        guard let text else {
            throw RequestFailure(
                .decoding, "The bytes are not valid text in the charset \(name).",
                remedy: "Correct the server's Content-Type, or decode leniently.", phase: .decoding)
        }
        return text
    }
}
