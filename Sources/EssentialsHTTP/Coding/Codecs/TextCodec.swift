#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Encodes and decodes text. It accepts only `String`.
///
/// A request's text is encoded in the media type's charset. The default is UTF-8, and the media type then names it.
///
/// A response's text is decoded in the charset that its media type names. Without one, its byte order mark decides, and
/// without that it is UTF-8. If the media type names a charset that is unknown, the byte order mark decides too. Without
/// a mark the text is not decoded, because the wrong charset yields wrong characters silently.
public struct TextCodec: BodyCodec {
    private let isLenient: Bool

    /// Creates a codec.
    ///
    /// - Parameter isLenient: Whether invalid bytes become U+FFFD, and an unknown charset of a response is read as UTF-8,
    ///   instead of an error.
    public init(isLenient: Bool = false) { self.isLenient = isLenient }

    /// Encodes a `String`.
    ///
    /// - Throws: `RequestFailure` with the reason `encoding` if the model is not a `String`, the charset is not
    ///   supported, or the charset cannot represent a character.
    public func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
        guard let text = model as? String else {
            throw RequestFailure(
                .encoding, "\(mediaType.shown) can be encoded from a String, not from \(type(of: model)).",
                remedy: "Send the model as application/json, or encode it to a String first.")
        }
        return try Charset.toSend(mediaType).encode(text)
    }

    /// Decodes a `String`.
    ///
    /// - Throws: `RequestFailure` with the reason `decoding` if another type is requested. Unless the codec is lenient,
    ///   also if the charset is unknown, or if bytes are invalid in the charset.
    public func decode<Model: Decodable>(
        _ type: Model.Type, from body: Data, as mediaType: MediaType
    ) throws -> Model {
        guard Model.self == String.self || Model.self == String?.self else {
            throw RequestFailure(
                .decoding, "\(mediaType.shown) can be decoded as String, not as \(type).",
                remedy: "Request String, or register a codec for \(mediaType.shown).", phase: .decoding)
        }
        let charset: Charset =
            if isLenient { Charset.ofText(mediaType, body) ?? .utf8 } else { try Charset.received(mediaType, body) }
        let text = try charset.decode(body, isLenient: isLenient)
        return try (text as? Model).orMismatch(type)
    }

    /// The media type, with `charset=utf-8` if it is a text type without a charset.
    public func contentType(for mediaType: MediaType) -> MediaType {
        mediaType.type == "text" ? mediaType.withDefaultCharset : mediaType
    }
}

extension Charset {
    /// The charset for a request body of a media type.
    static func toSend(_ mediaType: MediaType) throws(RequestFailure) -> Charset {
        guard let label = mediaType.charset else { return .utf8 }
        guard let charset = Charset(parsing: label) else {
            throw RequestFailure(
                .encoding, "The charset “\(RequestFailure.shown(label))” of \(mediaType.shown) is not supported.",
                remedy: "Use utf-8, or a charset that the system's iconv supports.")
        }
        return charset
    }

    /// The charset of a response body.
    ///
    /// - Throws: `decoding` if it is unknown.
    static func received(_ mediaType: MediaType, _ body: Data) throws(RequestFailure) -> Charset {
        if let charset = ofText(mediaType, body) { return charset }
        let label = RequestFailure.shown(mediaType.charset ?? "")
        throw RequestFailure(
            .decoding, "The charset “\(label)” of \(mediaType.shown) is unknown, so the text cannot be decoded.",
            remedy: "Correct the server's Content-Type, request Data, or register TextCodec(isLenient: true), which "
                + "reads an unknown charset as UTF-8.", phase: .decoding)
    }

    /// The charset that the media type names, else that of the byte order mark, else UTF-8; `nil` if the media type
    /// names an unknown one and there is no mark.
    static func ofText(_ mediaType: MediaType, _ body: Data) -> Charset? {
        // An empty label names nothing.
        guard let label = mediaType.charset, !label.isEmpty else { return Charset(byteOrderMarkOf: body) ?? .utf8 }
        return Charset(parsing: label) ?? Charset(byteOrderMarkOf: body)
    }
}

extension Optional {
    /// The value; throws if a cast to the requested type failed.
    func orMismatch(_ type: Any.Type) throws(RequestFailure) -> Wrapped {
        guard let self else {
            throw RequestFailure(.decoding, "The body could not be decoded as \(type).", phase: .decoding)
        }
        return self
    }
}
