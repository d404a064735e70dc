#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Base64 with the standard alphabet and padding (RFC 4648, section 4).
enum Base64 {
    static func encoded(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    static func decoded(_ text: some StringProtocol) -> [UInt8]? { Data(base64Encoded: String(text)).map(Array.init) }
}
