#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Which codec writes and reads which media types. A value: a copy can be changed without the original.
///
/// ```swift
/// var codecs = CodecRegistry.standard
/// codecs.register(JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
/// let (body, contentType) = try codecs.encode(user, as: .json)
/// ```
///
/// Of several patterns that match a type the most specific one counts; of one pattern, what was registered last.
public struct CodecRegistry: Sendable {
    private var codecs: [MediaPattern: any BodyCodec] = [:]

    /// JSON for `application/json`, `text/json` and every `+json`; text for `text/*`, `application/xml` and every
    /// `+xml`; forms for `application/x-www-form-urlencoded`; bytes for `application/octet-stream`.
    public static let standard: CodecRegistry = {
        let json = JSONCodec()
        let text = TextCodec()
        return CodecRegistry()
            .registering(json, for: MediaPattern(.json))
            .registering(json, for: MediaPattern(type: "text", subtype: "json", suffix: nil))
            .registering(json, for: MediaPattern(type: nil, subtype: nil, suffix: "json"))
            .registering(text, for: MediaPattern(type: "text", subtype: nil, suffix: nil))
            .registering(text, for: MediaPattern(type: "application", subtype: "xml", suffix: nil))
            .registering(text, for: MediaPattern(type: nil, subtype: nil, suffix: "xml"))
            .registering(FormCodec(), for: MediaPattern(.form))
            .registering(BytesCodec(), for: MediaPattern(.octetStream))
    }()

    /// Makes a registry without codecs. Bytes go through it all the same.
    public init() {}

    /// Sets the codec for a pattern, in place of the one it had.
    public mutating func register(_ codec: any BodyCodec, for pattern: MediaPattern) { codecs[pattern] = codec }

    /// The same registry with one codec more.
    public func registering(_ codec: any BodyCodec, for pattern: MediaPattern) -> CodecRegistry {
        var copy = self
        copy.register(codec, for: pattern)
        return copy
    }

    /// The patterns that have a codec, the most specific ones first.
    public var patterns: [MediaPattern] { codecs.keys.sorted(by: >) }

    /// The codec for a type; nil where there is none.
    public func codec(for mediaType: MediaType) -> (any BodyCodec)? {
        for pattern in MediaPattern.all(matching: mediaType) {
            if let codec = codecs[pattern] { return codec }
        }
        return nil
    }

    /// The registered patterns, for a message.
    var shownPatterns: String {
        codecs.isEmpty ? "none" : patterns.map(\.description).joined(separator: ", ")
    }
}

extension CodecRegistry {
    /// Writes a model as a body.
    ///
    /// `Data` and `[UInt8]` are bodies already: they are sent as they are, with the type exactly as given.
    ///
    /// - Returns: The body, and the type to send with it.
    /// - Throws: `encoding` when the type has no codec or the model cannot be written as it.
    public func encode(
        _ model: some Encodable, as mediaType: MediaType
    ) throws(RequestFailure) -> (body: Data, contentType: MediaType) {
        if let bytes = BytesCodec.bytes(of: model) { return (bytes, mediaType) }
        guard let codec = codec(for: mediaType) else {
            throw RequestFailure(
                .encoding, "There is no codec for \(mediaType.shown); there are codecs for: \(shownPatterns).",
                remedy: "Register one, or send Data.")
        }
        let contentType = codec.contentType(for: mediaType)
        do {
            return (try codec.encode(model, as: contentType), contentType)
        } catch {
            throw CodingFault.encoding(error, type(of: model), as: mediaType.shown)
        }
    }
}
