import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The document that ``JSONCodec`` is decoding, from which values learn which kind comes next.
///
/// It only saves failing attempts: each value is still taken from the decoder, so an outline that does not fit the
/// decoder can make reading fail, and never changes a value.
final class JSONOutline: Sendable {
    /// The outline of the document that this task decodes.
    @TaskLocal static var current: JSONOutline?

    /// Marks the decoders that decode the current outline's document.
    static let marker = CodingUserInfoKey(rawValue: "ServiceEssentials.JSONOutline")

    private enum Root {
        case unread
        case read(JSONValue?)
    }

    private let body: Data
    private let root = Mutex(Root.unread)

    init(_ body: Data) { self.body = body }

    /// The outline of the document that a decoder reads; `nil` for decoders of anything else.
    static func of(_ decoder: any Decoder) -> JSONOutline? {
        guard let outline = current, let marker, decoder.userInfo[marker] != nil else { return nil }
        return outline
    }

    /// The value at a path; `nil` if there is none. The document is read at the first call.
    func value(at path: [any CodingKey]) -> JSONValue? {
        var value = document
        for key in path {
            guard let parent = value else { return nil }
            value = key.intValue.flatMap { parent[$0] } ?? parent[key.stringValue]
        }
        return value
    }

    private var document: JSONValue? {
        root.withLock { root in
            if case .read(let value) = root { return value }
            let value = try? JSONParser.value(in: body)
            root = .read(value)
            return value
        }
    }
}
