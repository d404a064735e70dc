import EssentialsRequests
import FoundationEssentials

/// The size in bytes with which content counts against the limit of unused resources.
enum ContentSize {
    /// The size of content that cannot be encoded. With it, 2,048 contents reach the limit of 32 MiB, and 2,048 is also
    /// the limit of their number.
    static let estimate = 16 << 10

    /// The size of bytes and texts; `nil` for other contents.
    static func known(_ content: any Sendable) -> Int? {
        switch content {
        case let data as Data: data.count
        case let bytes as [UInt8]: bytes.count
        case let text as String: text.utf8.count
        case let text as Substring: text.utf8.count
        default: nil
        }
    }

    /// The size of content: that of its bytes or text, otherwise that of its JSON, otherwise the estimate. This runs
    /// foreign code, so it is called without a lock.
    static func measured(_ content: any Sendable) -> Int {
        if let known = known(content) { return known }
        guard let model = content as? any Encodable else { return estimate }
        return (try? ModelCoding.encodeInPlace(model).count) ?? estimate
    }
}
