import EssentialsTools

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The document that a ``JSONCodec`` is decoding. It tells a ``JSONValue`` which kind of value comes next.
///
/// The outline only avoids failing attempts. Each value is still read from the decoder, so an outline that does not
/// match can make decoding fail, but never changes a value.
final class JSONOutline: Sendable {
    /// The outline of the document that the current task decodes.
    @TaskLocal static var current: JSONOutline?

    /// The key that marks decoders of the current outline's document.
    static let marker = CodingUserInfoKey(rawValue: "ServiceEssentials.JSONOutline")

    private enum Root {
        case unread
        case read(JSONValue?)
    }

    private let body: Data
    private let root = Mutex(Root.unread)

    init(_ body: Data) { self.body = body }

    /// The outline of the document that a decoder reads; `nil` for other decoders.
    static func of(_ decoder: any Decoder) -> JSONOutline? {
        guard let outline = current, let marker, decoder.userInfo[marker] != nil else { return nil }
        return outline
    }

    /// The value at a path; `nil` if there is none. The first call parses the document.
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
