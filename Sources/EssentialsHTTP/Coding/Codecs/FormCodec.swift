#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// `application/x-www-form-urlencoded`.
///
/// Writes ``FormParameters``, ``QueryItems``, and any model that ``FormParameters/init(encoding:)`` takes. Reads
/// ``QueryItems``, and any model with flat fields: each a text, number, boolean, date, data, URL, or an array of these
/// from items with the same name, with or without `[]`. A field without `=` is nil.
public struct FormCodec: BodyCodec {
    private let encoding: FormEncoding
    private let maximumItems: Int

    /// Makes a codec.
    ///
    /// - Parameters:
    ///   - encoding: The form of values; dates are read in it too.
    ///   - maximumItems: How many items are read; more are the failure `tooLarge`.
    public init(encoding: FormEncoding = .standard, maximumItems: Int = QueryItems.standardMaximum) {
        self.encoding = encoding
        self.maximumItems = maximumItems
    }

    /// Writes a form in the media type's charset, or in UTF-8.
    ///
    /// - Throws: `RequestFailure` with the reason `encoding`.
    public func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
        let charset = try Charset.toSend(mediaType)
        if let items = model as? QueryItems {
            guard charset == .utf8 else {
                throw RequestFailure(
                    .encoding, "Query items cannot be sent in the charset \(charset.name).", remedy: "Use utf-8.")
            }
            return Data(items.encodedQuery.utf8)
        }
        return Data(try encoding.query(FormParameters(encoding: model), charset: charset).utf8)
    }

    /// Reads a form.
    ///
    /// - Throws: `RequestFailure` with the reason `decoding`, which names the field, or `tooLarge`.
    public func decode<Model: Decodable>(
        _ type: Model.Type, from body: Data, as mediaType: MediaType
    ) throws -> Model {
        let items = try QueryItems(
            form: body, charset: mediaType.charset.flatMap { Charset(parsing: $0) } ?? .utf8,
            maximumItems: maximumItems)
        if type == QueryItems.self || type == QueryItems?.self { return try (items as? Model).orMismatch(type) }
        do {
            return try type.init(from: ItemsDecoder(items, encoding))
        } catch {
            throw CodingFault.decoding(error, type)
        }
    }

    /// With `charset=utf-8`, unless it has a charset.
    public func contentType(for mediaType: MediaType) -> MediaType { mediaType.withDefaultCharset }

    /// True.
    public var mergesParameters: Bool { true }
}
