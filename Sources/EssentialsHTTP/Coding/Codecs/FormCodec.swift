#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Encodes and decodes `application/x-www-form-urlencoded`.
///
/// It encodes ``FormParameters``, ``QueryItems``, and every model that ``FormParameters/init(encoding:)`` accepts. It
/// decodes ``QueryItems`` and models with flat fields. A field is a text, number, Boolean, date, data or URL, or an
/// array of these, which is read from all items with the same name, with or without `[]`. A field without `=` is `nil`.
public struct FormCodec: BodyCodec {
    private let encoding: FormEncoding
    private let maximumItems: Int

    /// Creates a codec.
    ///
    /// - Parameters:
    ///   - encoding: The format of values. Dates are also decoded in this format.
    ///   - maximumItems: The maximum number of items in a decoded form. A longer form fails with `tooLarge`.
    public init(encoding: FormEncoding = .standard, maximumItems: Int = QueryItems.standardMaximum) {
        self.encoding = encoding
        self.maximumItems = maximumItems
    }

    /// Encodes a form in the media type's charset. The default is UTF-8.
    ///
    /// - Throws: `RequestFailure` with the reason `encoding`.
    public func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
        let charset = try Charset.toSend(mediaType)
        if let items = model as? QueryItems {
            guard charset == .utf8 else {
                throw RequestFailure(
                    .encoding, "Query items cannot be encoded in the charset \(charset.name).", remedy: "Use utf-8.")
            }
            return Data(items.encodedQuery.utf8)
        }
        return Data(try encoding.query(FormParameters(encoding: model), charset: charset).utf8)
    }

    /// Decodes a form in the media type's charset. The default is UTF-8.
    ///
    /// - Throws: `RequestFailure` with the reason `decoding`, whose message names the field or the unknown charset, or
    ///   `tooLarge`.
    public func decode<Model: Decodable>(
        _ type: Model.Type, from body: Data, as mediaType: MediaType
    ) throws -> Model {
        let items = try QueryItems(form: body, charset: charset(of: mediaType), maximumItems: maximumItems)
        if type == QueryItems.self || type == QueryItems?.self { return try (items as? Model).orMismatch(type) }
        do {
            return try type.init(from: ItemsDecoder(items, encoding))
        } catch {
            throw CodingFault.decoding(error, type)
        }
    }

    /// The charset of the percent-decoded bytes.
    private func charset(of mediaType: MediaType) throws(RequestFailure) -> Charset {
        // An empty label names nothing.
        guard let label = mediaType.charset, !label.isEmpty else { return .utf8 }
        if let charset = Charset(parsing: label) { return charset }
        throw RequestFailure(
            .decoding, "The charset “\(RequestFailure.shown(label))” of \(mediaType.shown) is unknown.",
            remedy: "Correct the server's Content-Type, or request Data and decode it with QueryItems(form:charset:).",
            phase: .decoding)
    }

    /// The media type with `charset=utf-8`, unless it already has a charset.
    public func contentType(for mediaType: MediaType) -> MediaType { mediaType.withDefaultCharset }

    /// Always `true`.
    public var mergesParameters: Bool { true }
}
