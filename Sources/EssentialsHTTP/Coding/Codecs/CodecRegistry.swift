#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The codecs for each media type. It is a value: changing a copy does not change the original.
///
/// ```swift
/// var codecs = CodecRegistry.standard
/// codecs.register(JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
/// let (body, contentType) = try codecs.encode(user, as: .json)
/// ```
///
/// If several patterns match a media type, the most specific one is used. A later registration for the same pattern
/// replaces the earlier one.
public struct CodecRegistry: Sendable {
    private var codecs: [MediaPattern: any BodyCodec] = [:]

    /// JSON for `application/json`, `text/json` and `*/*+json`; text for `text/*`, `application/xml` and `*/*+xml`;
    /// forms for `application/x-www-form-urlencoded`; bytes for `application/octet-stream`.
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

    /// Creates a registry without codecs. It still passes `Data` and `[UInt8]` through.
    public init() {}

    /// Registers a codec for a pattern and replaces the codec that was registered for it.
    public mutating func register(_ codec: any BodyCodec, for pattern: MediaPattern) { codecs[pattern] = codec }

    /// A copy of the registry with one more codec.
    public func registering(_ codec: any BodyCodec, for pattern: MediaPattern) -> CodecRegistry {
        var copy = self
        copy.register(codec, for: pattern)
        return copy
    }

    /// The patterns that have a codec, the most specific first.
    public var patterns: [MediaPattern] { codecs.keys.sorted(by: >) }

    /// The codec for a media type; `nil` if no pattern matches.
    public func codec(for mediaType: MediaType) -> (any BodyCodec)? {
        for pattern in MediaPattern.all(matching: mediaType) {
            if let codec = codecs[pattern] { return codec }
        }
        return nil
    }

    /// The registered patterns for a message.
    var shownPatterns: String {
        codecs.isEmpty ? "none" : patterns.map(\.description).joined(separator: ", ")
    }
}

extension CodecRegistry {
    /// Encodes a model as a body.
    ///
    /// `Data` and `[UInt8]` are sent unchanged, with exactly the given media type.
    ///
    /// - Returns: The body, and the media type to send with it.
    /// - Throws: `encoding` if the media type has no codec or the codec cannot encode the model.
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
