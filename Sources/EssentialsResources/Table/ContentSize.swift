import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// How many bytes a content counts for the limit of unused resources.
enum ContentSize {
    /// What a content counts that cannot be encoded: the limit of 32 MiB then holds for 2,048 of them, which is the limit of
    /// their number.
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

    /// The size of a content: that of its bytes or text, or that of its JSON, and otherwise the estimate. This runs
    /// foreign code, so it is called without a lock.
    static func measured(_ content: any Sendable) -> Int {
        if let known = known(content) { return known }
        guard let model = content as? any Encodable else { return estimate }
        return (try? ModelCoding.encodeInPlace(model).count) ?? estimate
    }
}

extension ResourceCore {
    /// The size of the content: that of its entity or, without one, of its bytes or text. Zero without content, and `nil` if
    /// the content has to be encoded for it.
    var knownBytes: Int? {
        contents.withLock { contents in
            guard let entity = contents.facts.entity else { return 0 }
            if entity.byteCount > 0 { return entity.byteCount }
            guard let kept = contents.kept?.value else { return nil }
            return kept.body?.count ?? kept.value.flatMap { ContentSize.known($0) }
        }
    }

    /// The size of the content, which was set without a known one.
    var measuredBytes: Int {
        let (kept, views) = contents.withLock { ($0.kept, $0.views) }
        if let kept {
            if let value = kept.value.value { return ContentSize.measured(value) }
            if let body = kept.value.body { return body.count }
        }
        return views.compactMap(\.snapshot.anyContent).reduce(0) { $0 + ContentSize.measured($1) }
    }
}
