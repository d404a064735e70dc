#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Text: takes and gives `String` only.
///
/// A request's text is written in the media type's charset, or in UTF-8, which the type then names. A response's text
/// is read in its type's charset; if that is missing or not known here, in that of its byte order mark; else as UTF-8.
public struct TextCodec: BodyCodec {
    private let isLenient: Bool

    /// Makes a codec.
    ///
    /// - Parameter isLenient: Read bytes that are no text in the charset as U+FFFD, instead of failing.
    public init(isLenient: Bool = false) { self.isLenient = isLenient }

    /// Writes a `String`.
    ///
    /// - Throws: `RequestFailure` with the reason `encoding` for anything else, for a charset that is not known, and
    ///   for a character that the charset lacks.
    public func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
        guard let text = model as? String else {
            throw RequestFailure(
                .encoding, "\(mediaType.shown) is made from a String, not from \(type(of: model)).",
                remedy: "Send it as application/json, or make the text yourself.")
        }
        return try Charset.toSend(mediaType).encode(text)
    }

    /// Reads a `String`.
    ///
    /// - Throws: `RequestFailure` with the reason `decoding` where another type is asked for, and for bytes that are
    ///   no text in the charset, unless the codec is lenient.
    public func decode<Model: Decodable>(
        _ type: Model.Type, from body: Data, as mediaType: MediaType
    ) throws -> Model {
        guard Model.self == String.self || Model.self == String?.self else {
            throw RequestFailure(
                .decoding, "\(mediaType.shown) is read as String, not as \(type).",
                remedy: "Ask for String, or register a codec for \(mediaType.shown).", phase: .decoding)
        }
        let text = try Charset.received(mediaType, body).decode(body, isLenient: isLenient)
        return try (text as? Model).orMismatch(type)
    }

    /// With `charset=utf-8` for a text type without a charset.
    public func contentType(for mediaType: MediaType) -> MediaType {
        mediaType.type == "text" ? mediaType.withDefaultCharset : mediaType
    }
}

extension Charset {
    /// The charset for a body of a request.
    static func toSend(_ mediaType: MediaType) throws(RequestFailure) -> Charset {
        guard let label = mediaType.charset else { return .utf8 }
        guard let charset = Charset(parsing: label) else {
            throw RequestFailure(
                .encoding, "The charset “\(RequestFailure.shown(label))” of \(mediaType.shown) is not known here.",
                remedy: "Use utf-8, or a charset that the system's iconv lists.")
        }
        return charset
    }

    /// The charset of a response's body.
    static func received(_ mediaType: MediaType, _ body: Data) -> Charset {
        mediaType.charset.flatMap { Charset(parsing: $0) } ?? Charset(byteOrderMarkOf: body) ?? .utf8
    }
}

extension Optional {
    /// The value; a failure where a type turned out to be another one than it was taken for.
    func orMismatch(_ type: Any.Type) throws(RequestFailure) -> Wrapped {
        guard let self else {
            throw RequestFailure(.decoding, "The body could not be read as \(type).", phase: .decoding)
        }
        return self
    }
}
